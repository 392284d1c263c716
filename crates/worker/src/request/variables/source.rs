//! The request of a worker as the source of expressions. A worker may wait for files.

use std::net::IpAddr;
use std::path::Path;

use crate::site::paths::plain;
use config::response::expr::{DiskFact, ExprAnswer, ExprFailure, ExprQuestion, ExprSource, ExprVariable};
use config::response::variables::Variables;
use config::work;
use files::facts::about;
use wire::frame::SeenCertificate;

/// A request and its variables.
pub(super) struct WorkerSource<'a> {
    pub request: u64,
    pub variables: &'a Variables,
    /// The user while access is checked; `None`: the request's user.
    pub user: Option<&'a str>,
}

impl<'a> WorkerSource<'a> {
    pub fn of(request: u64, variables: &'a Variables) -> WorkerSource<'a> {
        WorkerSource { request, variables, user: None }
    }

    /// What stands before the names of the variables of TLS, which a redirect has renamed. `None`: they are not known.
    fn before_redirects(&self) -> Option<String> {
        const MAX_REDIRECTS: usize = 10;
        let prefixes = (0..=MAX_REDIRECTS).map(|times| "REDIRECT_".repeat(times));
        { prefixes }.find(|prefix| self.variables.get(&format!("{prefix}SSL_CLIENT_VERIFY")).is_some())
    }

    /// A fact about the request's file; empty without a file.
    fn of_file(&self, fact: DiskFact) -> String {
        let name = text(&apache::filename(self.request));
        match about(fact, Path::new(&name)) {
            ExprAnswer::Text(text) => text,
            ExprAnswer::Holds(_) | ExprAnswer::Failed(_) => String::new(),
        }
    }
}

impl ExprSource for WorkerSource<'_> {
    fn variable(&self, variable: ExprVariable) -> Result<String, ExprFailure> {
        let request = self.request;
        Ok(match variable {
            ExprVariable::RequestMethod => apache::method(request),
            ExprVariable::RequestUri | ExprVariable::DocumentUri => text(&plain(&apache::set_by_handlers(request).uri)),
            ExprVariable::QueryString => text(&apache::set_by_handlers(request).args),
            ExprVariable::RequestFilename | ExprVariable::ScriptFilename => text(&apache::filename(request)),
            ExprVariable::PathInfo => text(&apache::path_info(request)),
            ExprVariable::RemoteAddr | ExprVariable::ConnRemoteAddr => apache::addresses(request).0,
            ExprVariable::RemoteHost => apache::remote_host(request).unwrap_or_else(|| apache::addresses(request).0),
            ExprVariable::ServerAddr => apache::addresses(request).1,
            ExprVariable::RemoteUser => {
                self.user.map(str::to_owned).or_else(|| apache::user(request)).unwrap_or_default()
            }
            ExprVariable::ServerName => apache::server_name(request).0,
            ExprVariable::ServerPort => apache::server_name(request).1.to_string(),
            ExprVariable::ServerProtocol => apache::protocol(request),
            ExprVariable::Https => if apache::is_https(request) { "on" } else { "off" }.to_owned(),
            ExprVariable::RequestScheme => if apache::is_https(request) { "https" } else { "http" }.to_owned(),
            ExprVariable::IsSubreq => apache::is_internal(request).to_string(),
            ExprVariable::RequestStatus => apache::status(request).to_string(),
            ExprVariable::ScriptUser => self.of_file(DiskFact::Owner),
            ExprVariable::ScriptGroup => self.of_file(DiskFact::Group),
            other => return Err(ExprFailure::Failed(unknown(other.into()))),
        })
    }

    fn client(&self) -> Option<IpAddr> {
        apache::addresses(self.request).0.parse().ok()
    }

    fn request_header(&self, name: &str) -> Option<String> {
        apache::header_in(self.request, name.as_bytes()).map(|value| text(&value))
    }

    fn response_header(&self, _: &str) -> Option<String> {
        None
    }

    fn request_env(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(str::to_owned)
    }

    fn note(&self, _: &str) -> Option<String> {
        None
    }

    fn os_env(&self, name: &str) -> Option<String> {
        work::fail(|| unknown(&format!("osenv({name})")));
        None
    }

    fn tls(&self, name: &str) -> Option<String> {
        let before = self.before_redirects();
        let value = self.request_env(&format!("{}{name}", before.as_deref().unwrap_or_default()));
        // Without a value, a condition with `not` must not open a place.
        let is_unknown = value.is_none() && before.is_none();
        if is_unknown && apache::certificate(self.request) != SeenCertificate::WithoutTls {
            work::fail(|| format!("{name} is not known to Perl workers here; write SSLOptions +StdEnvVars"));
        }
        value
    }

    fn answer(&self, question: &ExprQuestion) -> Option<ExprAnswer> {
        match question {
            ExprQuestion::Disk(fact, name) => Some(about(*fact, Path::new(name))),
            ExprQuestion::LookAhead(_) => None,
        }
    }
}

fn unknown(name: &str) -> String {
    format!("{name} is not known in a subrequest")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
