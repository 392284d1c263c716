//! Refusals of requests that no program has begun: a load balancer may send such a request to another server, whatever
//! its method.

use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

use config::Config;

/// The header that distinguishes these refusals from a 503 of a program.
const CAMELEER_BEGUN: HeaderName = HeaderName::from_static("cameleer-begun");
/// `Retry-After` where the refusal has none, in seconds.
const SOON: u32 = 2;

/// Marks a 503 as one of a request that was not begun.
pub fn mark<B>(config: &Config, response: &mut Response<B>) {
    let headers = response.headers_mut();
    headers.entry(RETRY_AFTER).or_insert(SOON.into());
    headers.insert(CAMELEER_BEGUN, HeaderValue::from_static("no"));
    if let Some(status) = config.node.retry_status.and_then(|status| StatusCode::from_u16(status).ok()) {
        *response.status_mut() = status;
    }
}
