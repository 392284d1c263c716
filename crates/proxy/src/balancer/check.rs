//! Active checks of the members of a balancer.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use http::header::{HOST, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};

use crate::attempt::BackendResponse;
use crate::backends::{BackendRequest, Backends};
use crate::key::BackendHandshake;
use crate::waits::Waits;
use config::At;
use config::proxy::balancer::{BalancerMember, HealthCheck, HealthCheckMethod};
use config::proxy::{BackendParameters, Passed};

/// Maximum length of the response's body in bytes; a check with a longer one fails.
const MAX_BYTES: usize = 64 << 10;

/// How a check connects to a member.
pub struct CheckConnection {
    /// Timeouts of the connection and of each piece of the response.
    pub waits: Waits,
    /// `None`: without TLS.
    pub tls: Option<BackendHandshake>,
}

/// Sends one check to a member. The error says why the check failed, for the log.
pub async fn check(
    backends: &Backends,
    member: &BalancerMember,
    check: &HealthCheck,
    connection: CheckConnection,
) -> Result<(), String> {
    let limit = whole(check, connection.waits);
    // A check always tries to connect, and its failure marks no backend as unreachable.
    let parameters = BackendParameters { retry: Some(Duration::ZERO), ..(*member.parameters).clone() };
    let to = Passed { url: member.url.clone(), parameters: Arc::new(parameters), at: At::default() };
    let outcome = tokio::time::timeout(limit, ask(backends, &to, check, connection)).await;
    outcome.unwrap_or_else(|_| Err(format!("the check took more than {} s", limit.as_secs_f32())))
}

/// The time for a whole check: the interval, so that checks of a member never overlap.
fn whole(check: &HealthCheck, waits: Waits) -> Duration {
    check.interval.max(Duration::from_millis(100)).min(waits.piece)
}

async fn ask(backends: &Backends, to: &Passed, check: &HealthCheck, connection: CheckConnection) -> Result<(), String> {
    let CheckConnection { waits, tls } = connection;
    if check.method == HealthCheckMethod::Tcp {
        return backends.try_connection(to, waits).await.map_err(|why| why.to_string());
    }
    let method = match check.method {
        HealthCheckMethod::Options => Method::OPTIONS,
        HealthCheckMethod::Head => Method::HEAD,
        HealthCheckMethod::Get | HealthCheckMethod::Tcp => Method::GET,
    };
    let path = check.uri.as_deref().unwrap_or(if to.url.path.is_empty() { "/" } else { &to.url.path });
    let (mut head, ()) = Request::new(()).into_parts();
    head.method = method;
    head.uri = Uri::try_from(path).map_err(|error| error.to_string())?;
    let host = HeaderValue::from_str(&to.url.authority).unwrap_or(HeaderValue::from_static("localhost"));
    head.headers.insert(HOST, host);
    head.headers.insert(USER_AGENT, HeaderValue::from_static("Cameleer (health check)"));
    let mut outgoing = BackendRequest { head, body: None, tls, once: false, upgrades: false, expects: false };
    let answer = backends.send(to, waits, &mut outgoing).await.map_err(|failure| failure.to_string())?;
    let BackendResponse::Response(response) = answer else { return Err("the response switches protocols".to_owned()) };
    let status = response.status().as_u16();
    let mut body = response.into_body();
    let mut text = BytesMut::new();
    while let Some(piece) = poll_fn(|cx| body.poll(cx)).await {
        text.extend_from_slice(&piece.map_err(|error| error.to_string())?);
        if text.len() > MAX_BYTES {
            return Err(format!("the body of the response has more than {MAX_BYTES} bytes"));
        }
    }
    let (is_good, fault) = match &check.condition {
        Some(condition) => (condition.holds(status, &String::from_utf8_lossy(&text)), "does not meet hcexpr"),
        None => ((200..400).contains(&status), "is no success (200 to 399)"),
    };
    if is_good { Ok(()) } else { Err(format!("the response with status {status} {fault}")) }
}
