//! Access by TLS to places that the front has not judged: `SSLRequireSSL`, `SSLVerifyClient` and `SSLRequire`.

use crate::request::at::LocatedRequest;
use crate::request::phases::{Going, PhaseEnd};
use crate::request::request_error::log_error;
use crate::request::variables;
use config::response::expr::Expr;
use config::response::ssl::Ssl;
use config::tls::client_auth::ClientVerify;
use config::work;
use wire::frame::SeenCertificate;

/// Lets the connection's client into the place, or answers 403.
pub(super) fn check(at: LocatedRequest<'_>) -> Going {
    let (place, request) = (&at.settings().response.ssl, at.request);
    let seen = apache::certificate(request);
    let why = refusal(place, apache::is_https(request), seen).map(str::to_owned);
    match why.or_else(|| unmet(place, request, seen)) {
        None => Ok(()),
        Some(why) => {
            log_error(request, &why);
            Err(PhaseEnd(403))
        }
    }
}

/// Why a condition of the place refuses the client. The variables of TLS are those of the place that the client has
/// requested, so a certificate that is not valid everywhere proves nothing.
fn unmet(place: &Ssl, request: u64, seen: SeenCertificate) -> Option<String> {
    match seen {
        _ if place.conditions.is_empty() => return None,
        // As in httpd, nothing is demanded of a request without TLS.
        SeenCertificate::WithoutTls => return None,
        SeenCertificate::Untrusted | SeenCertificate::Invalid => {
            return Some("SSLRequire: the client's certificate is not valid".to_owned());
        }
        SeenCertificate::Missing | SeenCertificate::Valid(_) => {}
    }
    let allowance = work::Allowance::default();
    let is_unmet = |condition: &&Expr| !variables::is_true(request, None, condition, &allowance);
    let unmet = place.conditions.iter().find(is_unmet);
    match allowance.is_used_up() {
        true => Some(format!("SSLRequire: {}", work::Allowance::message())),
        false => unmet.map(|condition| format!("SSLRequire {}: is not true", condition.as_str())),
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
