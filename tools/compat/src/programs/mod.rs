//! The CGI programs of a site: why a file cannot be executed, which modules a Perl script loads for each request, and
//! which of its code could break in another `CgiMode`. Files are read but not run.

mod faults;
mod judged;
mod places;
mod required;
mod risks;

pub use judged::findings;
pub use required::MissedFile;
pub use risks::{CgiModes, Risk};

use std::path::{Path, PathBuf};

use super::sources;
use base::shebang;
use config::Config;
use config::program::CgiMode;
use places::FoundProgram;

/// The CGI programs that a search has found.
#[derive(Debug, Default)]
pub struct Programs {
    /// The programs, in the order of their folders.
    pub all: Vec<CgiProgram>,
    /// Whether the search has reached a limit, so that there may be more.
    pub is_cut: bool,
}

/// A file that a place of `cgi-script` leads to.
#[derive(Debug)]
pub struct CgiProgram {
    /// As its location maps the URL.
    pub file: PathBuf,
    /// `CgiMode` of the program's location.
    pub mode: CgiMode,
    /// Whether the mode counts: a program that is not Perl is executed in each.
    pub is_perl: bool,
    /// Why the program cannot run, and the remedy.
    pub fault: Option<String>,
    /// The modules that the program loads, without pragmas.
    pub modules: Vec<String>,
    /// Code that could break in other modes than `program`.
    pub risks: Vec<Risk>,
    /// Files beside the program that its `require` does not find.
    pub missed: Vec<MissedFile>,
}

impl Programs {
    /// Searches the folders of a configuration; `.htaccess` files are not considered.
    pub fn of(config: &Config) -> Programs {
        let (found, is_cut) = places::search(config);
        Programs { all: found.into_iter().filter_map(CgiProgram::of).collect(), is_cut }
    }

    /// Perl scripts that load modules in a process of their own, which CgiMode would save.
    pub fn that_would_gain(&self) -> impl Iterator<Item = &CgiProgram> {
        self.all.iter().filter(|program| program.would_gain())
    }
}

impl CgiProgram {
    fn of(FoundProgram { file, mode, finds_current_folder }: FoundProgram) -> Option<CgiProgram> {
        let head = shebang::head(&file).ok()?;
        let is_perl = !shebang::is_foreign(&head);
        let fault = faults::of(&file, &head, mode == CgiMode::Program || !is_perl);
        let is_program = fault.is_some() || faults::may_be_executed(&file);
        if !is_program || !is_perl {
            return is_program.then_some(CgiProgram {
                file,
                mode,
                is_perl,
                fault,
                modules: Vec::new(),
                risks: Vec::new(),
                missed: Vec::new(),
            });
        }
        let text = sources::text(&file).unwrap_or_default();
        let (modules, risks) = (sources::modules(&text), risks::of(&text));
        let missed = if finds_current_folder { Vec::new() } else { required::missed(&file, &text) };
        Some(CgiProgram { modules, risks, missed, file, mode, is_perl, fault })
    }

    fn would_gain(&self) -> bool {
        self.is_perl && self.mode == CgiMode::Program && self.fault.is_none() && !self.modules.is_empty()
    }

    /// Code that could break in this mode.
    pub fn risks_of(&self, mode: CgiMode) -> impl Iterator<Item = &Risk> {
        self.risks.iter().filter(move |risk| match mode {
            CgiMode::Program => false,
            CgiMode::Fork => risk.holds != CgiModes::Persistent,
            CgiMode::Persistent => risk.holds != CgiModes::Fork,
        })
    }

    /// The modules in short, such as `CGI, DBI and 3 more`
    pub fn modules_in_short(&self) -> String {
        const SHOWN: usize = 4;
        let shown = self.modules.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        match self.modules.len().saturating_sub(SHOWN) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }
}

fn is_named_as_script(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension.to_ascii_lowercase().as_str(), "cgi" | "pl" | "fcgi" | "py" | "rb" | "sh")
}
