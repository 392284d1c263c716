//! `SetHandler`: the handler of a request.

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
    /// `cgi-script`, and mod_fcgid's `fcgid-script`: a CGI program, run according to `CgiMode`.
    CgiScript,
    /// `psgi`: the PsgiApp.
    Psgi,
    /// `server-status`: status page.
    Status,
    /// `server-info`: configuration page.
    Info,
    /// `server-metrics`: metrics for Prometheus.
    Metrics,
    /// `send-as-is`: a file that contains its own headers.
    AsIs,
    /// `type-map`: a file that lists the variants of a page.
    TypeMap,
    /// Any other name, defined by an `Action`.
    Named(String),
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
    /// The handler with this name.
    pub fn named(name: &str) -> Handler {
        match name.to_ascii_lowercase().as_str() {
            "default-handler" | "none" => Handler::Default,
            "perl-script" => Handler::PerlScript,
            "modperl" => Handler::ModPerl,
            // A FastCGI program without a listening socket answers one request as a CGI program.
            "cgi-script" | "fcgid-script" | "fastcgi-script" => Handler::CgiScript,
            "psgi" => Handler::Psgi,
            "server-status" => Handler::Status,
            "server-info" => Handler::Info,
            "server-metrics" => Handler::Metrics,
            "send-as-is" | "httpd/send-as-is" => Handler::AsIs,
            "type-map" | "application/x-type-map" => Handler::TypeMap,
            _ => Handler::Named(name.to_owned()),
        }
    }

    /// The handler's name; `None` for files.
    pub fn name(&self) -> Option<&str> {
        Some(match self {
            Handler::Default => return None,
            Handler::PerlScript => "perl-script",
            Handler::ModPerl => "modperl",
            Handler::CgiScript => "cgi-script",
            Handler::Psgi => "psgi",
            Handler::Status => "server-status",
            Handler::Info => "server-info",
            Handler::Metrics => "server-metrics",
            Handler::AsIs => "send-as-is",
            Handler::TypeMap => "type-map",
            Handler::Named(name) => name,
        })
    }

    /// Whether the PerlHandler list handles the request.
    pub fn is_perl(&self) -> bool {
        matches!(self, Handler::PerlScript | Handler::ModPerl)
    }

    /// Whether the front answers with a page about the server.
    pub fn is_page(&self) -> bool {
        matches!(self, Handler::Status | Handler::Info | Handler::Metrics)
    }

    /// Whether the front looks for a file.
    pub fn is_about_a_file(&self) -> bool {
        matches!(self, Handler::Default | Handler::AsIs | Handler::TypeMap | Handler::Named(_))
    }
}
