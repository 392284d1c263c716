//! Heads of requests that follow another one: internal redirects, and indexes of folders.

use http::header::{
    CONTENT_LENGTH, CONTENT_TYPE, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE,
    TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{Method, StatusCode, Uri};
use percent_encoding::{AsciiSet, percent_encode};

use crate::base::refusal::Refusal;
use base::path::NOT_IN_TARGET;

/// Maximum number of internal redirects; httpd's limit.
pub const MAX_REDIRECTS: usize = 10;

/// Bytes that a document or a program may write in a URL although a request's target cannot contain them.
pub const UNSENT: &AsciiSet = &NOT_IN_TARGET.add(b'#');

/// The request for an internal redirect: a GET, or HEAD, of the named path.
pub fn redirected(head: &Parts, target: &[u8]) -> Result<Parts, Refusal> {
    let mut head = head.clone();
    // A program may write bytes that a client would have encoded.
    let target = percent_encode(target, UNSENT).to_string();
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

/// Removes conditions and ranges, which a page does not have.
pub fn unconditional(head: &mut Parts) {
    for name in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE] {
        head.headers.remove(name);
    }
}
