//! What the mold does before it forks.

pub mod warm_up;

use std::path::PathBuf;

use wire::control::PoolNumber;

use crate::config::syntax::tree::At;

/// What the mold does before it forks, with the place that asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartUp {
    /// The directive's place.
    pub at: At,
    /// By whose mold.
    pub pool: PoolNumber,
    /// What is done.
    pub step: StartUpStep,
}

/// One start-up step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartUpStep {
    /// `PerlModule Name`
    Module(String),
    /// `PerlRequire file`, relative to ServerRoot.
    Require(PathBuf),
    /// `PerlLoadModule Name`: the lines behind it may use its directives.
    LoadModule(String),
    /// `PerlConfigRequire file`: likewise.
    ConfigRequire(PathBuf),
    /// `PerlPostConfigRequire file`: after all others.
    PostConfigRequire(PathBuf),
    /// `PerlEval code` (`cameleer run -e` for a handler)
    Eval(String),
    /// `<Perl>`: its code. What it says as configuration stands behind it in the tree.
    Section {
        /// As written; without a line end when it is that of a `Perl` line.
        code: String,
        /// Index into `Config::hosts`.
        host: u16,
    },
    /// A directive that a Perl module of the site defines.
    Own {
        /// As written.
        name: String,
        /// The rest of its line.
        args: String,
        /// Of a section: its lines.
        inside: Option<String>,
        /// Index into `Config::sections`.
        section: u16,
        /// Index into `Config::hosts`.
        host: u16,
    },
    /// `PerlSetEnv name value`, `PerlPassEnv name` of mod_perl 2 outside any container: what runs from here on sees it.
    SetEnv {
        /// Of the variable.
        name: String,
        /// Of the variable.
        value: String,
    },
    /// `PerlLib dir`: a folder in front of `@INC`.
    Lib(PathBuf),
    /// `PsgiApp file`, `PsgiEval code`: load it, share it.
    Psgi(PsgiApp),
    /// `RegistryPreload uri file`: compile the script.
    Registry {
        /// The script.
        file: PathBuf,
        /// The URI that the script is compiled for.
        uri: String,
    },
}

impl StartUpStep {
    /// Whether it runs code that may define directives.
    pub fn may_define(&self) -> bool {
        matches!(self, StartUpStep::Module(_) | StartUpStep::Require(_) | StartUpStep::Eval(_)) || self.starts_perl()
    }

    /// Whether mod_perl 2 does it where it stands, and has to start perl for that if nothing has yet.
    pub fn starts_perl(&self) -> bool {
        use StartUpStep::{ConfigRequire, LoadModule, Own, Section};
        matches!(self, LoadModule(_) | ConfigRequire(_) | Section { .. } | Own { .. })
    }

    /// Whether it runs code, or compiles a script, that may want the Apache API.
    pub fn is_code(&self) -> bool {
        !matches!(self, StartUpStep::SetEnv { .. } | StartUpStep::Lib(_) | StartUpStep::Psgi(_))
    }

    /// What mod_perl 2 does first, of all that stands before perl is started.
    fn turn(&self) -> u8 {
        match self {
            StartUpStep::SetEnv { .. } => 0,
            StartUpStep::Lib(_) | StartUpStep::Eval(_) => 1,
            StartUpStep::Require(_) => 2,
            _ => 3,
        }
    }
}

/// mod_perl 2's order. What stands before the first step that starts perl waits for it: variables, switches, then files, then modules.
pub fn in_order_of_mod_perl_2(steps: &mut [StartUp]) {
    let first = steps.iter().position(|it| it.step.starts_perl()).unwrap_or(steps.len());
    steps[..first].sort_by_key(|it| it.step.turn());
}

/// A PSGI application.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PsgiApp {
    /// A `.psgi` file.
    File(PathBuf),
    /// Perl code whose value is the application.
    Code(String),
}
