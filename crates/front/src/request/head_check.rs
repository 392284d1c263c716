//! Checks of a request's head that do not depend on its location.

use http::header::{CONTENT_LENGTH, EXPECT, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Version};

use super::context::RequestContext;
use super::proxied::forward;
use crate::base::protocol::{MAX_METHOD_BYTES, StreamProtocol};
use crate::base::refusal::Refusal;
use config::RequestLimits;

const NOT_ENCRYPTED: &str = "This port requires TLS; use an address that begins with https.";

/// Refuses requests that no location may answer.
pub fn check(context: &RequestContext) -> Result<(), Refusal> {
    let head = &context.head;
    if context.client.security.is_lost() {
        return Err(Refusal::closing(StatusCode::BAD_REQUEST).because(NOT_ENCRYPTED));
    }
    let expects_more = |value: &HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"100-continue");
    // HTTP/1.0 has no expectations.
    if head.version >= Version::HTTP_11 && head.headers.get_all(EXPECT).iter().any(expects_more) {
        return Err(Refusal::closing(StatusCode::EXPECTATION_FAILED));
    }
    match head.method {
        Method::CONNECT if context.stream.is_none() && forward::is_on(context) => check_connect(&head.headers),
        // RFC 9220, section 3: 501 for a protocol that is not supported.
        Method::CONNECT if head.extensions.get() == Some(&StreamProtocol::Other) => {
            Err(Refusal::new(StatusCode::NOT_IMPLEMENTED))
        }
        Method::CONNECT | Method::TRACE => Err(Refusal::not_allowed()),
        _ => Ok(()),
    }
}

/// Refuses a CONNECT with content, which could be read as a part of the tunnel (RFC 9110, section 9.3.6).
fn check_connect(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.contains_key(CONTENT_LENGTH) || headers.contains_key(TRANSFER_ENCODING) {
        true => Err(Refusal::closing(StatusCode::BAD_REQUEST)),
        false => Ok(()),
    }
}

/// Checks the lengths of an HTTP/2 head, for which h2 is less strict. The HTTP/1 reader has checked its heads already.
pub fn measure(head: &Parts, limits: &RequestLimits) -> Result<(), Refusal> {
    if head.version != Version::HTTP_2 {
        return Ok(());
    }
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if head.method.as_str().len() + target + "  HTTP/1.1".len() > limits.request_line {
        return Err(Refusal::closing(StatusCode::URI_TOO_LONG));
    }
    if head.method.as_str().len() > MAX_METHOD_BYTES {
        return Err(Refusal::closing(StatusCode::NOT_IMPLEMENTED));
    }
    if is_large(&head.headers, limits) {
        return Err(Refusal::closing(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
    // h2 has already compared repeated Content-Length fields; repetition alone is suspicious.
    let lengths = head.headers.get_all(CONTENT_LENGTH).iter().count();
    match lengths > 1 || head.headers.values().any(is_padded) {
        true => Err(Refusal::closing(StatusCode::BAD_REQUEST)),
        false => Ok(()),
    }
}

fn is_large(headers: &HeaderMap, limits: &RequestLimits) -> bool {
    let is_long =
        |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + ": ".len() > limits.field_size;
    let together = |name: &HeaderName| headers.get_all(name).iter().map(HeaderValue::len).sum::<usize>();
    headers.len() > limits.fields
        || headers.iter().any(is_long)
        || headers.len() > headers.keys_len() && headers.keys().any(|name| together(name) > limits.field_size)
}

/// Whether a value begins or ends with blanks, which makes an HTTP/2 request malformed (RFC 9113, section 8.2.1).
fn is_padded(value: &HeaderValue) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    is_blank(value.as_bytes().first()) || is_blank(value.as_bytes().last())
}
