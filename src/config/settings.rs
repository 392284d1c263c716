//! What the parts of a site say, and what a request gets of it.

use std::path::PathBuf;
use std::time::Duration;

use super::context::Rank;
use super::pattern::Pattern;
use super::{Options, Overrides, Phases, PsgiApp, SaidOptions, access, admission, program, rules};

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
    pub(super) rank: Rank,
}

/// Which requests a section is for.
#[derive(Debug, Clone)]
pub enum Scope {
    /// All of a host.
    Host,
    /// `<Directory path>`: files in and below.
    Directory(PathBuf),
    /// `<DirectoryMatch re>` or `<Directory ~ re>`
    DirectoryMatch(Pattern),
    /// `<Files name>`, with `*` and `?`.
    Files(Pattern),
    /// `<Location /path>`: the path and below; wildcards become a `LocationMatch`.
    Location(String),
    /// `<LocationMatch re>` or `<Location ~ re>`
    LocationMatch(Pattern),
}

impl Scope {
    /// The name of its section.
    pub fn name(&self) -> &'static str {
        match self {
            Scope::Host => "VirtualHost",
            Scope::Directory(_) => "Directory",
            Scope::DirectoryMatch(_) => "DirectoryMatch",
            Scope::Files(_) => "Files",
            Scope::Location(_) => "Location",
            Scope::LocationMatch(_) => "LocationMatch",
        }
    }

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
    /// `RequestTimeoutGrace`
    pub request_timeout_grace: Option<Duration>,
    /// `QueueTimeout`
    pub queue_timeout: Option<Duration>,
    /// See there.
    pub rules: rules::Rules,
    /// Who may come in.
    pub access: access::Said,
    /// Who gets a worker.
    pub admission: admission::Said,
    /// How programs of a CGI folder run.
    pub program: program::Said,
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
    /// `server-status`: how busy the server is.
    Status,
    /// `server-info`: what is configured.
    Info,
    /// `send-as-is`: a file with headers of its own.
    AsIs,
    /// Any other name: what answers, an `Action` says.
    Named(String),
}

impl Handler {
    /// By its name.
    pub fn named(name: &str) -> Handler {
        match name.to_ascii_lowercase().as_str() {
            "default-handler" | "none" => Handler::Default,
            "perl-script" => Handler::PerlScript,
            "cgi-script" => Handler::CgiScript,
            "psgi" => Handler::Psgi,
            "server-status" => Handler::Status,
            "server-info" => Handler::Info,
            "send-as-is" | "httpd/send-as-is" => Handler::AsIs,
            _ => Handler::Named(name.to_owned()),
        }
    }

    /// Its name; files have none.
    pub fn name(&self) -> Option<&str> {
        Some(match self {
            Handler::Default => return None,
            Handler::PerlScript => "perl-script",
            Handler::CgiScript => "cgi-script",
            Handler::Psgi => "psgi",
            Handler::Status => "server-status",
            Handler::Info => "server-info",
            Handler::AsIs => "send-as-is",
            Handler::Named(name) => name,
        })
    }

    /// Whether what answers is a file, or has to do with one that the front looks for.
    pub fn is_about_a_file(&self) -> bool {
        matches!(self, Handler::Default | Handler::AsIs | Handler::Named(_))
    }
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
    /// Default 5 s.
    pub request_timeout_grace: Duration,
    /// Default 30 s.
    pub queue_timeout: Duration,
    /// `SetHandler` was written, so that `AddHandler` does not count.
    pub handler_is_set: bool,
    /// See there.
    pub rules: rules::Rules,
    /// Who may come in.
    pub access: access::Rules,
    /// Who gets a worker.
    pub admission: admission::Rules,
    /// How programs of a CGI folder run.
    pub program: program::Limits,
}
