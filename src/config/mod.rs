//! The configuration: what will be done. Apache's language, read whole before any port is bound.
//!
//! [`parse`] turns text into [`Directive`]s (what was said), [`directives`] is the one table of what may be said,
//! `build` turns the first by the second into a [`Config`]. Nothing here opens a socket, starts a process or reads
//! the environment; `build` is a pure function, so every process of a generation gets the same answer from one tree.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub mod parse;

mod include;
mod lines;
mod listed;
mod modules;
mod page;
pub mod program;
mod variables;
mod wildcard;
mod words;

pub mod directives;

mod foreign;
mod unknown;

pub mod access;
mod address;
pub mod admission;
mod identity;
mod logs;
pub mod meter;
mod options;
mod overrides;
pub mod pattern;
pub mod phases;
pub mod protocols;
pub mod regular;
mod site;
pub mod strictness;
pub mod tls;
pub mod tls_suites;
mod value;

pub mod remote_ip;
pub mod rules;

mod build;
mod bundle;
mod clients;
mod context;
mod draft;
mod host;
mod htaccess;
mod merge;
mod server;
mod settings;
mod start_up;
mod translate;

pub mod reference;

#[cfg(test)]
mod dump;
#[cfg(test)]
mod golden;

pub use build::{Expanded, Facts, server_root};
pub use bundle::{Bundle, is_skipped};
pub use clients::{Clients, KeepAlive, Pace, ReadTimeouts, Spooling};
pub use host::{AccessLog, Alias, AliasFrom, Host, HostAddress};
pub use htaccess::{Applied, Htaccess, LONGEST_HTACCESS, TOO_HEAVY, depth};
pub use identity::{CanonicalName, Named, Signature, Tokens};
pub use modules::EMBODIED as MODULES;
pub use options::{Options, SaidOptions};
pub use overrides::{Overrides, PerlHtaccess};
pub use phases::{Phase, Phases};
pub use server::{Limits, Listen, LogLevel, LogTarget, PerlSwitches, Pool, Timeouts};
pub use settings::{Handler, Said, Scope, Section, Settings};
pub use start_up::{PsgiApp, StartUp, Step};
pub use translate::Mapping;
pub use words::split as split_words;

/// One directive or section as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// As written: `PerlModule`, or `Location` for a section.
    pub name: String,
    /// Unquoted, variables replaced.
    pub args: Vec<String>,
    /// Where it stands.
    pub at: At,
    /// What a section encloses; `None` for a plain directive.
    pub section: Option<Vec<Directive>>,
}

/// A place in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct At {
    /// The file, or the option of the command line.
    pub file: Arc<str>,
    /// Counted from 1; 0 for what has no lines.
    pub line: u32,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A file's name may have any byte in it; a line that says where something is stays one line.
        for c in self.file.chars() {
            match c {
                c if c.is_control() => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        if self.line > 0 { write!(f, ":{}", self.line) } else { Ok(()) }
    }
}

/// What is wrong with a configuration, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigError {
    /// `None` when a whole file is missing.
    pub at: Option<At>,
    /// `MaxClients: expected a number from 1 to 20000, got "many"`
    pub message: String,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A whole configuration, checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// Relative paths start here.
    pub server_root: PathBuf,
    /// Who the front and the Perl side run as, when started by root.
    pub user: Option<String>,
    /// See `user`.
    pub group: Option<String>,
    /// Holds the master's process id while it runs.
    pub pid_file: Option<PathBuf>,
    /// Where to listen; at least one.
    pub listen: Vec<Listen>,
    /// `Listen … https`, and where it says so.
    pub https: Vec<(Listen, At)>,
    /// The limits of HTTP/2.
    pub http2: protocols::Http2,
    /// How many connections the kernel keeps for us before accept.
    pub listen_backlog: u32,
    /// The pool of workers.
    pub pool: Pool,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// How large requests may be.
    pub limits: Limits,
    /// See there.
    pub clients: Clients,
    /// See there.
    pub spooling: Spooling,
    /// What perl is started with.
    pub perl: PerlSwitches,
    /// What the mold loads, in file order.
    pub start_up: Vec<StartUp>,
    /// Every Perl handler as it is named, and where.
    pub handlers: Vec<(At, String)>,
    /// `ErrorLog` of the main server.
    pub error_log: LogTarget,
    /// `LogLevel`
    pub log_level: LogLevel,
    /// `ErrorLog` of virtual hosts, each once; [`Host::error_log`] is an index into it.
    pub error_logs: Vec<LogTarget>,
    /// Every access log once, in order of first mention; [`AccessLog::log`] is an index into it.
    pub logs: Vec<LogTarget>,
    /// The main server is the first; it answers what no virtual host claims.
    pub hosts: Vec<Host>,
    /// Everything that can be merged; [`Config::settings`] takes indices into it. The first holds the table's
    /// defaults, is under every merge, and belongs to no host.
    pub sections: Vec<Section>,
    /// `TypesConfig`: extension (without dot, lower case) to MIME type.
    pub types: BTreeMap<String, String>,
    /// `ControlSocket`; `None`: the master chooses.
    pub control_socket: Option<PathBuf>,
    /// What was adjusted or ignored, as httpd does; to be logged once.
    pub warnings: Vec<ConfigError>,
    /// `ServerTokens`
    pub tokens: Tokens,
    /// `RegisterHttpMethod`
    pub methods: Vec<String>,
    /// `PerlHtaccess`
    pub perl_htaccess: PerlHtaccess,
    /// A Perl handler has a say in who comes in, somewhere: it may know words of `AuthType` and `Require` that we do not.
    pub perl_access: bool,
    /// What it was made with; `.htaccess` files are read with the same.
    pub facts: Facts,
}
