//! The body with all of a file, or with the parts that a range asks for (RFC 9110, section 14.6).

use std::fs::File;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use super::conditional::Validators;
use super::range::RequestedRanges;
use crate::base::refusal::Refusal;
use crate::request::respond::body::{BodySource, FileBody, Segment};

/// The response with the wanted parts of `file`, whose length is `size`.
pub fn part(
    file: Arc<File>,
    size: u64,
    described: HeaderMap,
    wanted: RequestedRanges,
    validators: &Validators,
) -> io::Result<Response<BodySource>> {
    let mut response = Response::new(BodySource::Empty);
    *response.headers_mut() = described;
    *response.body_mut() = match wanted {
        RequestedRanges::Whole => contents(file, 0, size)?,
        RequestedRanges::Nothing => {
            let mut response = Refusal::new(StatusCode::RANGE_NOT_SATISFIABLE).response("");
            response.headers_mut().extend(content_range(&format!("bytes */{size}")));
            return Ok(response);
        }
        RequestedRanges::Parts(parts) => {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            if let [(from, to)] = parts[..] {
                let range = format!("bytes {from}-{}/{size}", to - 1);
                response.headers_mut().extend(content_range(&range));
                contents(file, from, to)?
            } else {
                let boundary = boundary(validators);
                let segments = multipart(&parts, size, response.headers().get(CONTENT_TYPE), &boundary);
                let kind = HeaderValue::from_str(&format!("multipart/byteranges; boundary={boundary}"));
                drop(kind.map(|kind| response.headers_mut().insert(CONTENT_TYPE, kind)));
                BodySource::File(FileBody::new(file, segments))
            }
        }
    };
    Ok(response)
}

fn content_range(text: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((CONTENT_RANGE, HeaderValue::from_str(text).ok()?))
}

/// The body with the bytes from `from` to `to`.
fn contents(file: Arc<File>, from: u64, to: u64) -> io::Result<BodySource> {
    if from == to {
        return Ok(BodySource::Empty);
    }
    FileBody::new(file, [Segment::Range { from, to }]).into_source()
}

/// The boundary of a multipart response. The boundary is made from the entity tag. Searching the contents for it would
/// mean reading the whole file.
fn boundary(validators: &Validators) -> String {
    let tag: String = validators.etag.chars().filter(char::is_ascii_hexdigit).collect();
    format!("cameleer-{tag}")
}

fn multipart(parts: &[(u64, u64)], size: u64, mime: Option<&HeaderValue>, boundary: &str) -> Vec<Segment> {
    let mime = mime.and_then(|mime| mime.to_str().ok()).map(|mime| format!("Content-Type: {mime}\r\n"));
    let mime = mime.unwrap_or_default();
    let mut segments = Vec::with_capacity(parts.len() * 2 + 1);
    for (from, to) in parts {
        let last = to - 1;
        let text = format!("\r\n--{boundary}\r\n{mime}Content-Range: bytes {from}-{last}/{size}\r\n\r\n");
        segments.push(Segment::Text(Bytes::from(text)));
        segments.push(Segment::Range { from: *from, to: *to });
    }
    segments.push(Segment::Text(Bytes::from(format!("\r\n--{boundary}--\r\n"))));
    segments
}
