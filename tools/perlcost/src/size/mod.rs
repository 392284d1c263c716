//! `cameleer size`: how many bytes the subs of a module or of a Registry script take.

mod table;

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::embedded::PerlChild;
use base::printable;
use toolkit::{Misuse, print};

const HINT: &str = "\
Sizes include perl's structures of a sub: its operators, variables and constants. An imported sub
counts only as a name. docs/operating/profiling.md has details";

/// Show the memory use of the subs of a module or script
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Size {
    /// Modules and script files; scripts are compiled as by Apache::Registry
    #[arg(required = true, value_name = "MODULE|SCRIPT")]
    names: Vec<String>,
    /// Search this folder for modules first; repeatable
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A module or script to measure.
#[derive(Debug, PartialEq, Eq)]
enum Subject {
    Module(String),
    Script(PathBuf),
}

/// The subs of one package.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    #[serde(default)]
    name: String,
    package: String,
    /// Sums in bytes and ops. `names`: bytes of sub names whose code belongs to another package.
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    ops: u64,
    #[serde(default)]
    names: u64,
    subs: Vec<Sub>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Sub {
    name: String,
    bytes: u64,
    ops: u64,
    /// Owner of the code, if the package has only the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
}

impl Size {
    /// Measures the modules and scripts, and prints the sizes of their subs.
    pub fn run(self) -> anyhow::Result<()> {
        let subjects = self.names.iter().map(|name| Subject::of(name)).collect::<anyhow::Result<Vec<_>>>()?;
        let pairs = self.names.iter().zip(subjects);
        let measured =
            pairs.map(|(name, subject)| self.measure(name, &subject)).collect::<anyhow::Result<Vec<Measured>>>()?;
        print(&match self.json {
            true => printable::json(&(serde_json::to_string_pretty(&measured)? + "\n")),
            false => printable::lines(&table::of(&measured)),
        })
    }

    /// Measures in a separate process, so that modules loaded for one subject do not affect the next.
    fn measure(&self, name: &str, subject: &Subject) -> anyhow::Result<Measured> {
        let answer = PerlChild::start(&self.include, |perl| {
            perl.require_module("Cameleer::Size")?;
            Ok(perl.call_for_text(c"Cameleer::Size::of", &subject.for_perl())?)
        });
        let answer = answer.and_then(PerlChild::answer).with_context(|| name.to_owned())?;
        let mut measured: Measured = serde_json::from_str(&answer)?;
        measured.name = name.to_owned();
        measured.subs.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        measured.bytes = measured.subs.iter().map(|sub| sub.bytes).sum();
        measured.ops = measured.subs.iter().map(|sub| sub.ops).sum();
        measured.names = measured.subs.iter().filter(|sub| sub.of.is_some()).map(|sub| sub.bytes).sum();
        Ok(measured)
    }
}

impl Subject {
    fn of(name: &str) -> anyhow::Result<Subject> {
        if is_module(name) {
            return Ok(Subject::Module(name.to_owned()));
        }
        let file = std::path::absolute(name)?;
        if file.extension().is_some_and(|extension| extension == "pm") {
            return Err(Misuse(format!("{name}: give a module by its name, and its folder with -I DIR")).into());
        }
        if !file.is_file() {
            return Err(Misuse(format!("{name}: no such file; give Some::Module or the file of a script")).into());
        }
        Ok(Subject::Script(file))
    }

    fn for_perl(&self) -> String {
        match self {
            Subject::Module(name) => format!("module {name}"),
            Subject::Script(file) => format!("script {}", file.display()),
        }
    }
}

/// Whether the name is a module's, such as `My::Module`.
fn is_module(name: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    name.split("::").all(is_word)
}

#[cfg(test)]
mod tests {
    use super::is_module;

    #[test]
    fn a_name_is_a_modules_or_a_files() {
        for module in ["CGI", "My::Module", "_x::Y2"] {
            assert!(is_module(module), "{module}");
        }
        for file in ["news.pl", "./news", "/srv/x", "My::", "::x", "My::2", "", "a b", "x;y"] {
            assert!(!is_module(file), "{file}");
        }
    }
}
