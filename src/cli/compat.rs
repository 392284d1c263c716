//! `cameleer check --compat`: what of a site written for mod_perl 1.x runs here, line by line.

use std::io::{IsTerminal, Write};

use super::{Unfit, cgi_programs};
use base::printable;
use compat::programs::{self, Programs};
use compat::{Finding, Light, survey};
use master::configuration::{ConfigOrigin, Survey};

/// Lists what the site uses; an error when something of it is red.
pub fn report(origin: &ConfigOrigin) -> anyhow::Result<()> {
    let Survey { tree, server_root, mistakes, warnings, config } = Survey::of(origin);
    let mut findings = survey(&tree, &server_root, &mistakes, &warnings);
    let programs = Programs::of(&config);
    findings.extend(programs::findings(&programs));
    let color = std::io::stdout().is_terminal();
    let mut out = std::io::stdout().lock();
    for finding in &findings {
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
        _ => Err(Unfit(format!("{red} of {} will not run as they are", findings.len())).into()),
    }
}

/// `httpd.conf:12: red    RewriteRule: use …`
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
