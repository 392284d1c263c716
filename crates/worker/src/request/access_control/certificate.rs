//! Access by TLS to places that the front has not judged: `SSLRequireSSL`, `SSLVerifyClient` and `SSLRequire`.

use crate::request::at::LocatedRequest;
use crate::request::phases::{Going, PhaseEnd};
use crate::request::request_error::log_error;
use config::response::ssl::Ssl;
use config::tls::client_auth::ClientVerify;
use wire::frame::SeenCertificate;

/// Lets the connection's client into the place, or answers 403.
pub(super) fn check(at: LocatedRequest<'_>) -> Going {
    let (place, request) = (&at.settings().response.ssl, at.request);
    match refusal(place, apache::is_https(request), apache::certificate(request)) {
        None => Ok(()),
        Some(why) => {
            log_error(request, why);
            Err(PhaseEnd(403))
        }
    }
}

/// Why the place refuses the client.
fn refusal(place: &Ssl, is_secure: bool, seen: SeenCertificate) -> Option<&'static str> {
    if place.required == Some(true) && !is_secure {
        return Some("SSLRequireSSL: the client has no TLS");
    }
    // As in httpd, nothing else is demanded of a request without TLS.
    if seen == SeenCertificate::WithoutTls {
        return None;
    }
    if !place.conditions.is_empty() {
        return Some("SSLRequire: is not evaluated in a subrequest or a redirect of Perl code, which is refused");
    }
    let verify = place.verify();
    match seen {
        _ if verify == ClientVerify::None => None,
        SeenCertificate::Missing if verify == ClientVerify::Require => {
            Some("SSLVerifyClient: the client has no certificate")
        }
        SeenCertificate::Valid(depth) if depth > place.depth() => {
            Some("SSLVerifyClient: the client's certificate is refused: certificate chain too long")
        }
        SeenCertificate::Untrusted if verify != ClientVerify::OptionalNoCa => {
            Some("SSLVerifyClient: the client's certificate is refused: its authority is not known")
        }
        SeenCertificate::Invalid => Some("SSLVerifyClient: the client's certificate is refused: it is not valid"),
        SeenCertificate::WithoutTls
        | SeenCertificate::Missing
        | SeenCertificate::Valid(_)
        | SeenCertificate::Untrusted => None,
    }
}
