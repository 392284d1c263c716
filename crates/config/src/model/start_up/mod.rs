//! Start-up steps of the mold, before it forks workers.

pub mod warm_up;

use std::path::PathBuf;

use wire::control::PoolNumber;

use crate::syntax::tree::At;

/// A start-up step and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartUp {
    /// Position of the directive.
    pub at: At,
    /// The pool whose mold executes the step.
    pub pool: PoolNumber,
    /// The code or setting that the mold executes.
    pub step: StartUpStep,
}

/// A Perl handler that a directive names, for `check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedHandler {
    /// Position of the directive.
    pub at: At,
    /// The pool whose workers call the handler.
    pub pool: PoolNumber,
    /// Name of the directive, for messages.
    pub directive: String,
    /// Name as written.
    pub name: String,
}

/// Code that a mold runs, or a variable that it sets, before it forks workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartUpStep {
    /// `PerlModule Name`
    Module(String),
    /// The module of a handler `+Name`.
    HandlerModule {
        /// Name without `+` and method.
        module: String,
        /// Name of the directive, for messages.
        directive: String,
    },
    /// `PerlRequire file`, relative to ServerRoot.
    Require(PathBuf),
    /// `PerlLoadModule Name`: the following lines may use its directives.
    LoadModule(String),
    /// `PerlConfigRequire file`: the following lines may use the directives that the file defines.
    ConfigRequire(PathBuf),
    /// `PerlPostConfigRequire file`: after all others.
    PostConfigRequire(PathBuf),
    /// `PerlEval code`, also from `cameleer run -e`.
    Eval(String),
    /// `<Perl>`. Directives that its code defines follow it in the tree.
    Section {
        /// The code as written; without a newline for a `Perl` line.
        code: String,
        /// Index into `Config::hosts`.
        host: u16,
    },
    /// A directive that a Perl module of the site defines.
    Own {
        /// Name as written.
        name: String,
        /// Text after the name, unparsed.
        args: String,
        /// Lines between `<Name …>` and `</Name>`; `None` for a directive of one line.
        inside: Option<String>,
        /// Index into `Config::sections`.
        section: u16,
        /// Index into `Config::hosts`.
        host: u16,
    },
    /// `PerlSetEnv name value`, `PerlPassEnv name` of mod_perl 2 outside of containers: applies to all following steps.
    SetEnv {
        /// Name as written; perl has it in %ENV.
        name: String,
        /// The value; for `PerlPassEnv` that of the master's environment.
        value: String,
    },
    /// `PerlLib dir`: a folder prepended to `@INC`.
    Lib(PathBuf),
    /// `PsgiApp file`, `PsgiEval code`: loads an application.
    Psgi(PsgiApp),
    /// `RegistryPreload uri file`: compiles a script.
    Registry {
        /// Path of the script.
        file: PathBuf,
        /// The URI that the script is compiled for.
        uri: String,
    },
}

impl StartUpStep {
    /// Whether the step runs code that may define directives.
    pub fn may_define(&self) -> bool {
        use StartUpStep::{Eval, HandlerModule, Module, Require};
        matches!(self, Module(_) | HandlerModule { .. } | Require(_) | Eval(_)) || self.starts_perl()
    }

    /// Whether mod_perl 2 executes the step immediately, and starts perl for it.
    pub fn starts_perl(&self) -> bool {
        use StartUpStep::{ConfigRequire, LoadModule, Own, Section};
        matches!(self, LoadModule(_) | ConfigRequire(_) | Section { .. } | Own { .. })
    }

    /// Whether the step runs code, or compiles a script, that may need the Apache API.
    pub fn is_code(&self) -> bool {
        !matches!(self, StartUpStep::SetEnv { .. } | StartUpStep::Lib(_) | StartUpStep::Psgi(_))
    }

    /// Order among the steps before perl is started, as in mod_perl 2.
    fn turn(&self) -> u8 {
        match self {
            StartUpStep::SetEnv { .. } => 0,
            StartUpStep::Lib(_) | StartUpStep::Eval(_) => 1,
            StartUpStep::Require(_) => 2,
            _ => 3,
        }
    }
}

/// Sorts steps as mod_perl 2 does: steps before the first one that starts perl are run as variables, switches, files,
/// modules.
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
