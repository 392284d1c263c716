//! Heads of requests that follow another one: internal redirects, and indexes of folders.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Method, StatusCode, Uri};
use percent_encoding::percent_encode;

use super::includes;
use crate::base::refusal::Refusal;

/// Maximum number of internal redirects; httpd's limit.
pub const MAX_REDIRECTS: usize = 10;

/// The request for an internal redirect: a GET, or HEAD, of the named path.
pub fn redirected(head: &Parts, target: &[u8]) -> Result<Parts, Refusal> {
    let mut head = head.clone();
    // A program may write bytes that a client would have encoded.
    let target = percent_encode(target, includes::UNSENT).to_string();
    head.uri = Uri::try_from(target).map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))?;
    if head.method != Method::HEAD {
        head.method = Method::GET;
    }
    for name in [CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING] {
        head.headers.remove(name);
    }
    Ok(head)
}

/// Follows `DirectoryIndex /path` with the request's method, query and body.
pub fn index(head: &Parts, path: &str) -> Result<Parts, Refusal> {
    let query = head.uri.query().filter(|_| !path.contains('?')).map(|query| format!("?{query}")).unwrap_or_default();
    let mut head = head.clone();
    head.uri = Uri::try_from(format!("{path}{query}")).map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))?;
    Ok(head)
}
