//! `cameleer mem --advise`: code that workers loaded after the fork, its cost, and a start-up file that loads it in
//! the mold.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::MetadataExt;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use wire::control::{Inspection, LateCode};

use base::printable;
use master::loaded::{CodeKind, LateCounts, LoadedCode, code, late};
use master::sockets::control_socket::{Command, SelfReport};
use toolkit::client::Server;
use toolkit::units::size;

/// Cost of a piece of code, as reported by the mold's child.
#[derive(Debug, Deserialize)]
struct Weighed {
    kind: CodeKind,
    name: String,
    file: String,
    bytes: String,
    error: String,
    brings: String,
}

/// Code that the mold should load.
#[derive(Debug, Serialize)]
pub struct PreloadAdvice {
    /// Number of workers that answered; only workers without a request do.
    asked: usize,
    late: Vec<Late>,
    /// Scripts compiled under several names.
    twice: Vec<Twice>,
}

#[derive(Debug, Serialize)]
struct Late {
    kind: CodeKind,
    /// Name in `%INC`, or the script's name.
    name: String,
    file: String,
    /// Number of workers that have loaded the code.
    workers: usize,
    /// Bytes per worker.
    bytes: u64,
    /// Number of other modules that the code loads.
    brings: usize,
    /// Error of the mold, if it could not load the code.
    #[serde(skip_serializing_if = "String::is_empty")]
    error: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Twice {
    names: Vec<String>,
    file: String,
}

impl PreloadAdvice {
    pub fn of(server: &mut Server) -> anyhow::Result<PreloadAdvice> {
        let reports = server.inspect(Inspection::Loaded)?;
        let Some(mold) = reports.iter().find(|one| one.worker.is_none()).and_then(SelfReport::read::<LoadedCode>)
        else {
            bail!("the mold does not answer: it is busy, or the server is about to stop");
        };
        let workers: Vec<LoadedCode> =
            reports.iter().filter(|one| one.worker.is_some()).filter_map(SelfReport::read::<LoadedCode>).collect();
        let counts = late(&mold, &workers);
        let code = code(&counts, &workers, 1);
        let weighed = match code == LateCode::default() {
            true => Vec::new(),
            false => weigh(server, code)?,
        };
        let late = weighed.into_iter().map(|one| Late::of(one, &counts));
        let mut late: Vec<Late> = late.collect();
        late.sort_by_key(|one| std::cmp::Reverse(one.total()));
        Ok(PreloadAdvice { asked: workers.len(), late, twice: twice(&mold, &workers) })
    }
}

fn weigh(server: &mut Server, code: LateCode) -> anyhow::Result<Vec<Weighed>> {
    let reports = server.request(Command::Weigh { code })?.reports.unwrap_or_default();
    let text = reports.into_iter().next().map(|one| one.text).unwrap_or_default();
    if text.is_empty() {
        bail!("the mold could not load the workers' code within a minute, or its child was killed; see the error log");
    }
    serde_json::from_str(&text).context("the mold's child sent an invalid answer")
}

impl Late {
    fn of(weighed: Weighed, counts: &LateCounts) -> Late {
        let Weighed { kind, name, file, bytes, error, brings } = weighed;
        let number = |text: &str| text.parse().unwrap_or(0);
        Late {
            workers: counts.get(&(kind, name.clone())).copied().unwrap_or(0),
            bytes: number(&bytes),
            brings: brings.parse().unwrap_or(0),
            kind,
            name,
            file,
            error,
        }
    }

    fn total(&self) -> u64 {
        self.bytes.saturating_mul(self.workers as u64)
    }

    /// Module name for display, such as `LWP::UserAgent`; for scripts, the name and file.
    fn shown(&self) -> String {
        match self.kind {
            CodeKind::Module => self.name.trim_end_matches(".pm").replace('/', "::"),
            CodeKind::Script => format!("{} ({})", self.name, self.file),
        }
    }
}

/// Scripts with different names whose files are the same inode.
fn twice(mold: &LoadedCode, workers: &[LoadedCode]) -> Vec<Twice> {
    let scripts: BTreeMap<&String, &String> = workers.iter().chain([mold]).flat_map(|one| &one.scripts).collect();
    let mut files: BTreeMap<(u64, u64), Vec<(&String, &String)>> = BTreeMap::new();
    for (name, file) in scripts {
        if let Ok(it) = std::fs::metadata(file) {
            files.entry((it.dev(), it.ino())).or_default().push((name, file));
        }
    }
    let several = files.into_values().filter(|names| names.len() > 1);
    let twice = several.map(|names| Twice {
        file: names.iter().map(|(_, file)| *file).min_by_key(|file| file.len()).cloned().unwrap_or_default(),
        names: names.into_iter().map(|(name, _)| name.clone()).collect(),
    });
    twice.collect()
}

pub fn table(advice: &PreloadAdvice) -> String {
    let mut text = String::new();
    if advice.late.is_empty() {
        let _ = writeln!(text, "none of {} workers has loaded code since the fork", advice.asked);
    } else {
        let _ = writeln!(text, "{:<9} {:>8} {:>8}  loaded since the fork", "workers", "each", "in all");
    }
    for late in &advice.late {
        let workers = format!("{} of {}", late.workers, advice.asked);
        let with = match late.brings {
            0 => String::new(),
            count => format!(", with {count} more"),
        };
        let name = printable::line(&late.shown());
        let _ = writeln!(text, "{workers:<9} {:>8} {:>8}  {name}{with}", size(late.bytes), size(late.total()));
        if !late.error.is_empty() {
            let _ = writeln!(text, "{:<29}loading in the mold fails: {}", "", printable::line(late.error.trim_end()));
        }
    }
    for twice in &advice.twice {
        let names = printable::line(&twice.names.join(", "));
        let _ = writeln!(text, "{} is compiled {} times: {names}", printable::line(&twice.file), twice.names.len());
    }
    if !advice.late.is_empty() {
        let total = advice.late.iter().map(Late::total).sum();
        let _ = writeln!(
            text,
            "{:<9} {:>8} {:>8}  would be shared if the mold loaded it: mem --advise --write FILE, PerlRequire FILE, reload",
            "",
            "",
            size(total)
        );
    }
    text
}

/// Formats a file for PerlRequire.
pub fn start_up_file(advice: &PreloadAdvice) -> String {
    let mut text = String::from(HEAD);
    for late in advice.late.iter().filter(|late| late.error.is_empty()) {
        let call = match late.kind {
            CodeKind::Module => format!("preload({});", quoted(&late.name)),
            CodeKind::Script => format!("script({}, {});", quoted(&late.name), quoted(&late.file)),
        };
        let _ = writeln!(text, "{call:<48}# {} of {} workers, {} each", late.workers, advice.asked, size(late.bytes));
    }
    text.push_str("\n1;\n");
    text
}

const HEAD: &str = "\
# Modules and scripts that workers have loaded since the fork, by cameleer mem --advise. For PerlRequire, behind PerlLib.
package Cameleer::Preloaded;

use strict;
use warnings;

# A file that is missing later is a line in the error log; the server starts.
sub preload {
    my ($file) = @_;
    eval { require $file; 1 } or warn \"preload: $@\";
    return;
}

sub script {
    my ( $uri, $file ) = @_;
    if ( $uri =~ /\\A(ModPerl::\\w+) (.*)/s ) {
        require ModPerl::RegistryLoader;
        return ModPerl::RegistryLoader->new( package => $1 )->handler( $2, $file );
    }
    require Apache::RegistryLoader;
    Apache::RegistryLoader->new->handler( $uri, $file );
    return;
}

";

/// Quotes a text as a Perl string.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_quotation_marks_or_its_line() {
        let late = |kind, name: &str| Late {
            kind,
            name: name.to_owned(),
            file: "/srv/it's\\".to_owned(),
            workers: 1,
            bytes: 2048,
            brings: 0,
            error: String::new(),
        };
        let advice = PreloadAdvice {
            asked: 2,
            late: vec![late(CodeKind::Module, "A.pm"), late(CodeKind::Script, "/a\n1;")],
            twice: Vec::new(),
        };
        let file = start_up_file(&advice);
        assert!(file.contains("script('/a\n1;', '/srv/it\\'s\\\\');"), "{file}");
        assert!(table(&advice).lines().all(|line| !line.starts_with("1;")), "{}", table(&advice));
    }
}
