//! `cameleer tune`: a second server of the site is measured, and what it should say is written down.

/// What is asked, and of whom.
mod load;
/// What it must survive, and leave nothing behind of.
mod refusals;
/// From a measurement to a directive, and back.
mod written;

use serde_json::Value;

use crate::support::{Finished, Site};

/// Half a dozen visitors are enough where it is not about how many workers there are.
const FEW: &str = "--visitors 6 -t 5";

/// `cameleer tune -f site.conf OPTIONS`
#[track_caller]
fn tune(site: &Site, options: &str) -> Finished {
    let mut command = site.command(["tune", "-f", "site.conf"]);
    Finished::of(command.args(options.split_whitespace()))
}

/// What it found.
#[track_caller]
fn report(site: &Site, options: &str) -> Value {
    let said = tune(site, &format!("{options} --json")).succeeded();
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// What it would have a directive say.
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

/// Processes of its second server: they have the site's own folder for temporary files in their arguments.
fn shadows(site: &Site) -> usize {
    let here = site.filled("@DIR@/tmp/cameleer-tune-");
    let arguments = |pid: &str| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let names = std::fs::read_dir("/proc").expect("procfs").flatten();
    names
        .filter(|name| String::from_utf8_lossy(&arguments(&name.file_name().to_string_lossy())).contains(&here))
        .count()
}
