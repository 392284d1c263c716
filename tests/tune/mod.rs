//! `cameleer tune`: measures a second server of the site, and suggests values of directives.

/// Beside a running server of the same site.
mod beside;
/// The requests that a measurement sends, and their hosts.
mod load;
/// Failures that a measurement must survive without leaving files or processes behind.
mod refusals;
/// From a measurement to directives in a file, and back.
mod written;

use serde_json::Value;

use crate::support::{Finished, Site};

/// Options for six visitors, enough for tests that are not about the number of workers.
const FEW: &str = "--visitors 6 -t 5";

/// `cameleer tune -f site.conf OPTIONS`
#[track_caller]
fn tune(site: &Site, options: &str) -> Finished {
    let mut command = site.command(["tune", "-f", "site.conf"]);
    Finished::of(command.args(options.split_whitespace()))
}

/// The JSON report of a measurement.
#[track_caller]
fn report(site: &Site, options: &str) -> Value {
    let output = tune(site, &format!("{options} --json")).succeeded();
    serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The suggested value of a directive; `None` without a suggestion.
fn change<'r>(report: &'r Value, directive: &str) -> Option<&'r str> {
    let changes = report["changes"].as_array().expect("a list");
    changes.iter().find(|change| change["directive"] == directive)?["to"].as_str()
}

/// A site with this application at its root.
fn site_of(app: &str) -> Site {
    let site = Site::new().file("app.psgi", app);
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>\n");
    site
}

/// The number of processes of the measured server, recognized by the path of their temporary files in their arguments.
fn shadows(site: &Site) -> usize {
    let here = site.filled("@DIR@/tmp/cameleer-tune-");
    let arguments = |pid: &str| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let names = std::fs::read_dir("/proc").expect("procfs").flatten();
    names
        .filter(|name| String::from_utf8_lossy(&arguments(&name.file_name().to_string_lossy())).contains(&here))
        .count()
}
