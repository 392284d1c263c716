//! `SetHandler`: the handler of a request.

use crate::model::proxy::{BackendScheme, BackendUrl};

/// `SetHandler`
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Handler {
    /// A file that the front sends: `default-handler` or `None`.
    #[default]
    Default,
    /// `perl-script`: the PerlHandler list.
    PerlScript,
    /// `modperl`: mod_perl 2's handler, the same list without `%ENV`.
    ModPerl,
    /// `cgi-script`: a CGI program, run according to `CgiMode`.
    CgiScript,
    /// mod_fcgid's `fcgid-script`: a FastCGI program that this server starts. Where Perl code has a part in the
    /// request, and with another `CgiMode` than `program`, it runs as `cgi-script`.
    FcgidScript,
    /// `psgi`: the PsgiApp.
    Psgi,
    /// `server-status`: status page.
    Status,
    /// `server-info`: configuration page.
    Info,
    /// `server-metrics`: metrics for Prometheus.
    Metrics,
    /// `server-healthz`: whether the server lives.
    Health,
    /// `server-readyz`: whether workers are ready.
    Readiness,
    /// `send-as-is`: a file that contains its own headers.
    AsIs,
    /// `server-parsed`: a file with server-side includes.
    ServerParsed,
    /// `proxy:fcgi://host:port`, `proxy:unix:/socket|fcgi://host`: a FastCGI application.
    Backend(Box<BackendHandler>),
    /// `type-map`: a file that lists the variants of a page.
    TypeMap,
    /// `imap-file`: a file that says which part of an image leads where.
    ImageMap,
    /// Any other name, defined by an `Action`.
    Named(String),
}

/// A handler that is a FastCGI application.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BackendHandler {
    /// The handler's name, as written.
    pub name: String,
    /// The application. Its path comes before that of the file.
    pub url: BackendUrl,
}

impl BackendHandler {
    /// The application of a name that begins with `proxy:`. `None` for other names and other backends.
    pub fn parse(name: &str) -> Option<BackendHandler> {
        let url = name.get(..6).filter(|word| word.eq_ignore_ascii_case("proxy:")).and_then(|_| name.get(6..))?;
        let url = BackendUrl::parse(url).ok().filter(|url| url.scheme == BackendScheme::Fcgi)?;
        Some(BackendHandler { name: name.to_owned(), url })
    }
}

/// Source of a place's handler, in httpd's order: a later one takes precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum NamedBy {
    /// No directive: files are sent.
    #[default]
    Default,
    /// `ScriptAlias`
    ScriptAlias,
    /// `AddHandler`, by an extension of the file's name.
    Extension,
    /// `SetHandler`
    SetHandler,
}

impl Handler {
    /// Parses the argument of `SetHandler`. Unknown names are handlers of an `Action`.
    pub fn named(name: &str) -> Handler {
        match name.to_ascii_lowercase().as_str() {
            "default-handler" | "none" => Handler::Default,
            "perl-script" => Handler::PerlScript,
            "modperl" => Handler::ModPerl,
            "cgi-script" => Handler::CgiScript,
            "fcgid-script" | "fastcgi-script" => Handler::FcgidScript,
            "psgi" => Handler::Psgi,
            "server-status" => Handler::Status,
            "server-info" => Handler::Info,
            "server-metrics" => Handler::Metrics,
            "server-healthz" => Handler::Health,
            "server-readyz" => Handler::Readiness,
            "send-as-is" | "httpd/send-as-is" => Handler::AsIs,
            "type-map" | "application/x-type-map" => Handler::TypeMap,
            "server-parsed" => Handler::ServerParsed,
            "imap-file" | "application/x-httpd-imap" => Handler::ImageMap,
            _ => match BackendHandler::parse(name) {
                Some(backend) => Handler::Backend(Box::new(backend)),
                None => Handler::Named(name.to_owned()),
            },
        }
    }

    /// The handler's name; `None` for files.
    pub fn name(&self) -> Option<&str> {
        Some(match self {
            Handler::Default => return None,
            Handler::PerlScript => "perl-script",
            Handler::ModPerl => "modperl",
            Handler::CgiScript => "cgi-script",
            Handler::FcgidScript => "fcgid-script",
            Handler::Psgi => "psgi",
            Handler::Status => "server-status",
            Handler::Info => "server-info",
            Handler::Metrics => "server-metrics",
            Handler::Health => "server-healthz",
            Handler::Readiness => "server-readyz",
            Handler::AsIs => "send-as-is",
            Handler::ServerParsed => "server-parsed",
            Handler::Backend(backend) => &backend.name,
            Handler::TypeMap => "type-map",
            Handler::ImageMap => "imap-file",
            Handler::Named(name) => name,
        })
    }

    /// Whether a program answers by CGI or FastCGI.
    pub fn is_cgi(&self) -> bool {
        matches!(self, Handler::CgiScript | Handler::FcgidScript)
    }

    /// Whether the PerlHandler list handles the request.
    pub fn is_perl(&self) -> bool {
        matches!(self, Handler::PerlScript | Handler::ModPerl)
    }

    /// Whether the front answers with a page about the server.
    pub fn is_page(&self) -> bool {
        matches!(self, Handler::Status | Handler::Info | Handler::Metrics | Handler::Health | Handler::Readiness)
    }

    /// Whether the front looks for a file.
    pub fn is_about_a_file(&self) -> bool {
        matches!(
            self,
            Handler::Default
                | Handler::AsIs
                | Handler::ImageMap
                | Handler::ServerParsed
                | Handler::TypeMap
                | Handler::Named(_)
        )
    }
}
