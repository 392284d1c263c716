//! `cameleer check --compat`: lists features of a mod_perl 1.x site and whether they are supported.

use std::io::{IsTerminal, Write};

use super::{Unfit, cgi_programs};
use base::printable;
use compat::programs::{self, Programs};
use compat::{Finding, Light, survey};
use master::configuration::{ConfigOrigin, Survey};

/// Prints the findings, or only the red ones. Returns an error if any is red.
pub fn report(origin: &ConfigOrigin, only_red: bool) -> anyhow::Result<()> {
    let Survey { tree, server_root, mistakes, warnings, config } = Survey::of(origin);
    let mut findings = survey(&tree, &server_root, &mistakes, &warnings);
    let programs = Programs::of(&config);
    findings.extend(programs::findings(&programs));
    let color = std::io::stdout().is_terminal();
    let mut out = std::io::stdout().lock();
    for finding in findings.iter().filter(|finding| !only_red || finding.light == Light::Red) {
        let _ = writeln!(out, "{}", line(finding, color));
    }
    let count = |light| findings.iter().filter(|finding| finding.light == light).count();
    let (green, amber, red) = (count(Light::Green), count(Light::Amber), count(Light::Red));
    if programs.is_cut {
        let _ = writeln!(out, "{}", cgi_programs::CUT);
    }
    let _ = writeln!(out, "{green} green, {amber} amber, {red} red");
    match red {
        0 => Ok(()),
        _ => Err(Unfit(format!("{red} of {} will not run unchanged", findings.len())).into()),
    }
}

/// Formats a finding: `httpd.conf:12: red    RewriteRule: use …`.
fn line(finding: &Finding, color: bool) -> String {
    let (word, code) = match finding.light {
        Light::Green => ("green", "32"),
        Light::Amber => ("amber", "33"),
        Light::Red => ("red", "31"),
    };
    let light = if color { format!("\x1b[{code}m{word:<5}\x1b[0m") } else { format!("{word:<5}") };
    let note = if finding.note.is_empty() { String::new() } else { format!(": {}", finding.note) };
    let [at, what, note] = [&finding.at, &finding.what, &note].map(|text| printable::line(text));
    format!("{at}: {light} {what}{note}")
}
