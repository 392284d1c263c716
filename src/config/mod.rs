//! The configuration: what will be done. Apache's language, read whole before any port is bound.
//!
//! [`parse`] turns text into [`Directive`]s (what was said), [`directives`] is the one table of what may be said,
//! `build` turns the first by the second into a [`Config`]. Nothing here opens a socket, starts a process or reads
//! the environment; `build` is a pure function, so every process of a generation gets the same answer from one tree.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub mod parse;

mod include;
mod lines;
mod modules;
mod variables;
mod wildcard;
mod words;

pub mod directives;

mod foreign;
mod unknown;

pub mod access;
mod address;
mod logs;
mod options;
mod overrides;
pub mod phases;
mod site;
mod value;

pub mod rules;

mod build;
mod bundle;
mod host;
mod htaccess;
mod merge;
mod translate;

pub mod reference;

#[cfg(test)]
mod dump;
#[cfg(test)]
mod golden;

pub use build::{Expanded, Facts, server_root};
pub use bundle::Bundle;
pub use htaccess::{Applied, Htaccess, depth};
pub use modules::EMBODIED as MODULES;
pub use overrides::{Overrides, PerlHtaccess};
pub use phases::{Phase, Phases};
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
    /// The file, or `command line`.
    pub file: Arc<str>,
    /// Counted from 1.
    pub line: u32,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
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
    /// How many connections the kernel keeps for us before accept.
    pub listen_backlog: u32,
    /// The pool of workers.
    pub pool: Pool,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// How large requests may be.
    pub limits: Limits,
    /// `KeepAlive`
    pub keep_alive: bool,
    /// `MaxKeepAliveRequests`; 0 is unlimited.
    pub max_keep_alive_requests: u32,
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
    /// `PerlHtaccess`
    pub perl_htaccess: PerlHtaccess,
    /// A Perl handler has a say in who comes in, somewhere: it may know words of `AuthType` and `Require` that we do not.
    pub perl_access: bool,
    /// What it was made with; `.htaccess` files are read with the same.
    pub facts: Facts,
}

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Listen {
    /// `host` is an address; `*` is written `0.0.0.0` or `[::]`.
    Tcp(std::net::SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

/// The pool's directives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// `StartServers`
    pub start: u32,
    /// `MinSpareServers`
    pub min_spare: u32,
    /// `MaxSpareServers`
    pub max_spare: u32,
    /// `MaxClients`
    pub max_clients: u32,
    /// `MaxRequestsPerChild`: each worker draws its own limit from the range; `0..=0` is unlimited.
    pub max_requests: RangeInclusive<u64>,
    /// `QueueLength`: requests that may wait for a worker; more are answered 503 at once.
    pub queue_length: usize,
}

/// `Timeout`, `KeepAliveTimeout` and ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// `Timeout`: waiting for the client: a request's head, the next piece of a body, the next byte accepted.
    pub client: Duration,
    /// `KeepAliveTimeout`
    pub keep_alive: Duration,
    /// `GracefulShutdownTimeout`
    pub graceful: Duration,
    /// `StartTimeout`: a mold that has not loaded by then has failed.
    pub start: Duration,
}

/// `PerlTaintCheck`, `PerlWarn`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerlSwitches {
    /// `-T`
    pub taint_check: bool,
    /// `-w`
    pub warn: bool,
}

/// `LimitRequestLine`, `LimitRequestFields`, `LimitRequestFieldSize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the request line.
    pub request_line: usize,
    /// Header fields.
    pub fields: usize,
    /// Bytes of one header field.
    pub field_size: usize,
}

/// What the mold does before it forks, with the place that asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartUp {
    /// The directive's place.
    pub at: At,
    /// What.
    pub step: Step,
}

/// One start-up step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `PerlModule Name`
    Module(String),
    /// `PerlRequire file`, relative to ServerRoot.
    Require(PathBuf),
    /// `PerlEval code` (`cameleer run -e` for a handler)
    Eval(String),
    /// `<Perl>`: its code. What it says as configuration stands behind it in the tree.
    Section(String),
    /// A directive that a Perl module of the site defines.
    Own {
        /// As written.
        name: String,
        /// The rest of its line.
        args: String,
        /// Of a section: its lines.
        inside: Option<String>,
        /// Index into [`Config::sections`].
        section: u16,
        /// Index into [`Config::hosts`].
        host: u16,
    },
    /// `PerlLib dir`: a folder in front of `@INC`.
    Lib(PathBuf),
    /// `PsgiApp file`, `PsgiEval code`: load it, share it.
    Psgi(PsgiApp),
    /// `RegistryPreload uri file`: compile the script.
    Registry {
        /// The script.
        file: PathBuf,
        /// Its URI.
        uri: String,
    },
}

/// A PSGI application.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PsgiApp {
    /// A `.psgi` file.
    File(PathBuf),
    /// Perl code whose value is the application.
    Code(String),
}

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LogTarget {
    /// Standard error of the master (for an access log: standard output).
    Standard,
    /// A file, absolute.
    File(PathBuf),
    /// `|command`: its standard input.
    Pipe(String),
}

/// `LogLevel`, Apache's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are syslog's")]
pub enum LogLevel {
    Emerg,
    Alert,
    Crit,
    Error,
    Warn,
    Notice,
    Info,
    Debug,
}

/// A virtual host, or the main server.
#[derive(Debug, Clone)]
pub struct Host {
    /// The addresses of `<VirtualHost …>`; empty for the main server.
    pub addresses: Vec<HostAddress>,
    /// `ServerName`, without port.
    pub server_name: Option<String>,
    /// The port in `ServerName`.
    pub server_port: Option<u16>,
    /// `ServerAlias`, `*` and `?` allowed.
    pub server_aliases: Vec<String>,
    /// `ServerAdmin`
    pub server_admin: Option<String>,
    /// `DocumentRoot`
    pub document_root: PathBuf,
    /// `Alias` and `ScriptAlias`, in the order they are tried.
    pub aliases: Vec<Alias>,
    /// `AccessFileName`; empty: as the main server.
    pub access_file_names: Vec<String>,
    /// `Redirect` outside of containers, in the order they are tried.
    pub redirects: Vec<rules::Redirect>,
    /// `ErrorLog`: index into [`Config::error_logs`]; `None`: the main server's.
    pub error_log: Option<usize>,
    /// `LogLevel`; `None`: the main server's.
    pub log_level: Option<LogLevel>,
    /// `CustomLog` and `TransferLog`.
    pub access_logs: Vec<AccessLog>,
    /// Its section of settings that stand outside any container; the first of every merge after the main server's.
    pub base: u16,
    /// Containers that can apply to it, in merge order: Directory, Files, Location; the main server's first in each.
    pub containers: Vec<u16>,
}

impl Host {
    /// Whether its errors are logged otherwise than the main server's.
    pub fn logs_errors_itself(&self) -> bool {
        self.error_log.is_some() || self.log_level.is_some()
    }
}

/// An address in `<VirtualHost>`; `None` is `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address that the client connected to.
    pub ip: Option<std::net::IpAddr>,
    /// The port that the client connected to.
    pub port: Option<u16>,
}

/// `Alias /from /to`
#[derive(Debug, Clone)]
pub struct Alias {
    /// Which paths.
    pub from: AliasFrom,
    /// What replaces it.
    pub to: PathBuf,
    /// `ScriptAlias`: what lies there is a CGI script whatever else says.
    pub script: bool,
}

/// What an alias is for.
#[derive(Debug, Clone)]
pub enum AliasFrom {
    /// A prefix of the path that ends at a segment, or `/`.
    Prefix(String),
    /// `AliasMatch`: the file's path is made from what the expression found.
    Match(regex::Regex),
}

/// `CustomLog target format [env=…]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    /// Index into [`Config::logs`].
    pub log: usize,
    /// The format string, nicknames resolved.
    pub format: String,
    /// Which requests; `None`: all.
    pub condition: Option<rules::setenv::Condition>,
}

/// Settings that apply to a part of the site.
#[derive(Debug, Clone)]
pub struct Section {
    /// Which part.
    pub scope: Scope,
    /// `<Files>` in a `<Directory>`: that section, which must apply as well.
    pub inside: Option<u16>,
    /// What was said in it; merged over what came before.
    pub said: Said,
    /// Its place in the merge.
    rank: build::Rank,
}

/// Which requests a section is for.
#[derive(Debug, Clone)]
pub enum Scope {
    /// All of a host.
    Host,
    /// `<Directory path>`: files in and below.
    Directory(PathBuf),
    /// `<DirectoryMatch re>` or `<Directory ~ re>`
    DirectoryMatch(regex::Regex),
    /// `<Files name>`, with `*` and `?`.
    Files(regex::Regex),
    /// `<Location /path>`: the path and below; wildcards become a `LocationMatch`.
    Location(String),
    /// `<LocationMatch re>` or `<Location ~ re>`
    LocationMatch(regex::Regex),
}

impl Scope {
    /// As it was written, or the regular expression that it became.
    pub fn argument(&self) -> String {
        match self {
            Scope::Host => String::new(),
            Scope::Directory(path) => path.to_string_lossy().into_owned(),
            Scope::Location(path) => path.clone(),
            Scope::DirectoryMatch(regex) | Scope::Files(regex) | Scope::LocationMatch(regex) => {
                regex.as_str().to_owned()
            }
        }
    }
}

/// What a section says. `None` and empty mean: nothing, keep what was.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// `SetHandler`
    pub handler: Option<Handler>,
    /// `PerlHandler`: replaces an outer list.
    pub perl_handlers: Option<Vec<String>>,
    /// `PerlCleanupHandler`
    pub cleanup_handlers: Option<Vec<String>>,
    /// The other phases.
    pub phases: Phases,
    /// `PsgiApp`
    pub psgi_app: Option<PsgiApp>,
    /// `PerlSetVar` and `PerlAddVar`: name, value, whether it is added to earlier values.
    pub set_vars: Vec<(String, String, bool)>,
    /// `PerlSetEnv`, and `PerlPassEnv` with the master's value.
    pub set_env: Vec<(String, String)>,
    /// `PerlSendHeader`
    pub send_header: Option<bool>,
    /// `PerlSetupEnv`
    pub setup_env: Option<bool>,
    /// `Options`
    pub options: Option<SaidOptions>,
    /// `AllowOverride`
    pub allow_override: Option<Overrides>,
    /// `DirectoryIndex`
    pub directory_index: Option<Vec<String>>,
    /// `DefaultType`
    pub default_type: Option<String>,
    /// `LimitRequestBody` in bytes.
    pub limit_request_body: Option<u64>,
    /// `RequestTimeout`
    pub request_timeout: Option<Duration>,
    /// `QueueTimeout`
    pub queue_timeout: Option<Duration>,
    /// See there.
    pub rules: rules::Rules,
    /// Who may come in.
    pub access: access::Said,
}

/// `Options`: either a new set or changes to the outer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaidOptions {
    /// `Options ExecCGI Indexes`
    Set(Options),
    /// `Options +ExecCGI -Indexes`
    Change {
        /// With `+`.
        add: Options,
        /// With `-`.
        remove: Options,
    },
}

/// The options that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Scripts may run.
    pub exec_cgi: bool,
    /// Symbolic links are followed.
    pub follow_sym_links: bool,
    /// Symbolic links are followed when link and target have one owner.
    pub sym_links_if_owner_match: bool,
    /// Folders without an index are listed.
    pub indexes: bool,
}

/// `SetHandler`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Handler {
    /// `default-handler` or `None`: a file, sent by the front.
    Default,
    /// `perl-script`: the PerlHandler list.
    PerlScript,
    /// `cgi-script`: a CGI script, kept compiled by Apache::Registry.
    CgiScript,
    /// `psgi`: the PsgiApp.
    Psgi,
}

/// Merged settings of one request: what the sections said, in order, over the defaults.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who answers.
    pub handler: Handler,
    /// See [`Said::perl_handlers`].
    pub perl_handlers: Vec<String>,
    /// See [`Said::cleanup_handlers`].
    pub cleanup_handlers: Vec<String>,
    /// See [`Said::phases`].
    pub phases: Phases,
    /// See [`Said::psgi_app`].
    pub psgi_app: Option<PsgiApp>,
    /// The `<Location>` prefix that set the handler: `SCRIPT_NAME` of a PSGI application, without trailing slash.
    pub mount: String,
    /// Names may repeat (`PerlAddVar`).
    pub set_vars: Vec<(String, String)>,
    /// Names do not repeat.
    pub set_env: Vec<(String, String)>,
    /// Default off.
    pub send_header: bool,
    /// Default on.
    pub setup_env: bool,
    /// Default FollowSymLinks only.
    pub options: Options,
    /// Default `index.html`.
    pub directory_index: Vec<String>,
    /// Default none: no Content-Type for unknown extensions.
    pub default_type: Option<String>,
    /// Default 1 GiB.
    pub limit_request_body: u64,
    /// Default 300 s; zero is unlimited.
    pub request_timeout: Duration,
    /// Default 30 s.
    pub queue_timeout: Duration,
    /// `SetHandler` was written, so that `AddHandler` does not count.
    pub handler_is_set: bool,
    /// See there.
    pub rules: rules::Rules,
    /// Who may come in.
    pub access: access::Rules,
}
