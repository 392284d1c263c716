//! `SetHandler`: who answers.

/// `SetHandler`
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Handler {
    /// `default-handler` or `None`: a file, sent by the front.
    #[default]
    Default,
    /// `perl-script`: the PerlHandler list.
    PerlScript,
    /// `modperl`: mod_perl 2's, the same list without `%ENV`.
    ModPerl,
    /// `cgi-script`, and mod_fcgid's `fcgid-script`: a CGI program, run as `CgiMode` says.
    CgiScript,
    /// `psgi`: the PsgiApp.
    Psgi,
    /// `server-status`: how busy the server is.
    Status,
    /// `server-info`: what is configured.
    Info,
    /// `server-metrics`: how busy the server is, for Prometheus.
    Metrics,
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
            "modperl" => Handler::ModPerl,
            // A FastCGI program that is started without a listening socket answers one request as a CGI program.
            "cgi-script" | "fcgid-script" | "fastcgi-script" => Handler::CgiScript,
            "psgi" => Handler::Psgi,
            "server-status" => Handler::Status,
            "server-info" => Handler::Info,
            "server-metrics" => Handler::Metrics,
            "send-as-is" | "httpd/send-as-is" => Handler::AsIs,
            _ => Handler::Named(name.to_owned()),
        }
    }

    /// Its name; files have none.
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
            Handler::Named(name) => name,
        })
    }

    /// Whether the PerlHandler list answers.
    pub fn is_perl(&self) -> bool {
        matches!(self, Handler::PerlScript | Handler::ModPerl)
    }

    /// Whether the front answers, with a page about the server.
    pub fn is_page(&self) -> bool {
        matches!(self, Handler::Status | Handler::Info | Handler::Metrics)
    }

    /// Whether what answers is a file, or has to do with one that the front looks for.
    pub fn is_about_a_file(&self) -> bool {
        matches!(self, Handler::Default | Handler::AsIs | Handler::Named(_))
    }
}
