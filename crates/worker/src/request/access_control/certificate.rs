//! Access by TLS to places that the front has not judged: `SSLRequireSSL`, `SSLVerifyClient` and `SSLRequire`.

use crate::request::at::LocatedRequest;
use crate::request::phases::{Going, PhaseEnd};
use crate::request::request_error::log_error;
use crate::request::variables;
use config::response::ssl::Ssl;
use config::tls::client_auth::ClientVerify;
use config::work;
use wire::frame::SeenCertificate;

/// Lets the connection's client into the place, or answers 403.
pub(super) fn check(at: LocatedRequest<'_>) -> Going {
    let (place, request) = (&at.settings().response.ssl, at.request);
    let seen = apache::certificate(request);
    match refusal(place, apache::is_https(request), seen).or_else(|| unmet(request, place, seen)) {
        None => Ok(()),
        Some(why) => {
            log_error(request, why);
            Err(PhaseEnd(403))
        }
    }
}

/// Why `SSLRequire` of the place refuses the client. As in httpd, it demands nothing of a request without TLS.
fn unmet(request: u64, place: &Ssl, seen: SeenCertificate) -> Option<&'static str> {
    if seen == SeenCertificate::WithoutTls {
        return None;
    }
    let allowance = work::Allowance::default();
    let holds = |condition| variables::is_true(request, None, condition, &allowance);
    let all_hold = place.conditions.iter().all(holds);
    if allowance.is_used_up() {
        log_error(request, &work::Allowance::message());
        return Some("SSLRequire: the expression has no value in a subrequest or a redirect of Perl code");
    }
    (!all_hold).then_some("SSLRequire: the expression is not true")
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
