//! Converts a worker's head to a response. A head that HTTP does not allow is the program's error, and becomes a 500.

use bytes::Bytes;
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
    LAST_MODIFIED, LOCATION,
};
use http::{Extensions, Response, StatusCode};
use hyper::ext::ReasonPhrase;
use wire::reply::Head;

use super::body::BodySource;
use crate::base::broadcast::hold;
use crate::base::field_names::{MAX_NAMES, WrittenNames, is_usual};
use crate::base::response_facts::AlwaysHeaders;
use crate::workers::Ticket;

/// Fields that describe one body.
const OF_BODY: [HeaderName; 6] = [CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED, LOCATION];

/// The problem with a worker's head.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadHead(String);

/// The response with this head, and with the body as far as it has arrived.
pub fn response(ticket: Ticket, head: Head) -> Result<Response<BodySource>, BadHead> {
    let extensions = extensions(&head)?;
    let in_pieces = is_in_pieces(&head);
    let (status, mut headers, length) = read(head)?;
    let hold = hold::take(&mut headers).map_err(BadHead)?;
    let mut response = Response::new(body(ticket, length, in_pieces));
    response.extensions_mut().extend(extensions);
    hold.map(|hold| response.extensions_mut().insert(hold));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// Adds the status and headers from handlers to a file's response.
pub fn with_file(mut file: Response<BodySource>, head: Head) -> Result<Response<BodySource>, BadHead> {
    let mut extensions = extensions(&head)?;
    let (status, mut headers, _) = read(head)?;
    if let Some(hold) = hold::take(&mut headers).map_err(BadHead)? {
        extensions.insert(hold);
    }
    if is_in_parts(&file) {
        headers.remove(CONTENT_TYPE);
    }
    if file.status() == StatusCode::OK {
        *file.status_mut() = status;
    } else {
        extensions.remove::<ReasonPhrase>();
    }
    file.extensions_mut().extend(extensions);
    for name in headers.keys() {
        file.headers_mut().remove(name);
    }
    for (name, value) in &headers {
        file.headers_mut().append(name, value.clone());
    }
    Ok(file)
}

/// The headers of a program that redirected the request to another path, without those that describe its own body.
pub fn fields(head: Head) -> Result<HeaderMap, BadHead> {
    let (_, mut headers, _) = read(head)?;
    hold::take(&mut headers).map_err(BadHead)?;
    for name in OF_BODY {
        headers.remove(name);
    }
    Ok(headers)
}

/// Whether the response is a multipart one. The Content-Type of a multipart response names the boundary, which a
/// handler does not know.
fn is_in_parts(file: &Response<BodySource>) -> bool {
    file.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/"))
}

/// The reason phrase, the spelling of names and the fields that `Header always` reaches as extensions. An invalid
/// phrase is ignored, not treated as an error.
fn extensions(head: &Head) -> Result<Extensions, BadHead> {
    let mut extensions = Extensions::new();
    if head.always > 0 || head.is_shared {
        extensions.insert(always(head)?);
    }
    if !head.reason.is_empty()
        && let Ok(reason) = ReasonPhrase::try_from(&head.reason[..])
    {
        extensions.insert(reason);
    }
    if head.headers.iter().any(|(name, _)| !is_usual(name)) {
        let unusual = head.headers.iter().map(|(name, _)| &name[..]).filter(|name| !is_usual(name)).take(MAX_NAMES);
        extensions.insert(WrittenNames::Lines(unusual.flat_map(|name| [name, b"\n"]).flatten().copied().collect()));
    }
    Ok(extensions)
}

/// The fields of `err_headers_out`, or of PSGI.
fn always(head: &Head) -> Result<AlwaysHeaders, BadHead> {
    let first = head.headers.len().saturating_sub(head.always.into());
    let mut always = AlwaysHeaders { is_shared: head.is_shared, ..AlwaysHeaders::default() };
    for (name, value) in head.headers.get(first..).unwrap_or_default() {
        let name = header_name(name)?;
        if !hold::is_for_front(&name) {
            always.fields.append(name, header_value(value.clone())?);
        }
    }
    Ok(always)
}

/// Whether the program flushed its output. Content-Length must not depend on how soon the rest arrived.
fn is_in_pieces(head: &Head) -> bool {
    head.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"transfer-encoding"))
}

/// A body that is already complete is taken out of the exchange.
fn body(ticket: Ticket, claimed: Option<u64>, in_pieces: bool) -> BodySource {
    let mut exchange = ticket.exchange().borrow_mut();
    if !exchange.is_complete() || (in_pieces && claimed.is_none()) {
        drop(exchange);
        return BodySource::Stream(ticket, claimed);
    }
    let length = exchange.spool.len();
    let whole =
        if claimed.is_none_or(|claimed| claimed == length) { exchange.spool.take_if_single_piece() } else { None };
    drop(exchange);
    match whole {
        Some(bytes) => BodySource::whole(bytes),
        None => BodySource::Stream(ticket, claimed.or(Some(length))),
    }
}

/// Status, headers and length. `Content-Length` is removed from the headers: hyper writes it from the body's length.
fn read(head: Head) -> Result<(StatusCode, HeaderMap, Option<u64>), BadHead> {
    let status = StatusCode::from_u16(head.status).ok().filter(|status| !status.is_informational());
    let status = status.ok_or_else(|| BadHead(format!("status {} cannot be sent", head.status)))?;
    let mut headers = HeaderMap::with_capacity(head.headers.len() + 2);
    let mut length = None;
    for (name, value) in head.headers {
        let name = header_name(&name)?;
        if name == CONTENT_LENGTH {
            length = Some(content_length(&value)?);
        } else if !is_ours(&name) {
            headers.append(name, header_value(value)?);
        }
    }
    Ok((status, headers, length))
}

fn header_name(name: &[u8]) -> Result<HeaderName, BadHead> {
    HeaderName::from_bytes(name).map_err(|_| BadHead(format!("header name \"{}\" cannot be sent", name.escape_ascii())))
}

fn header_value(value: Bytes) -> Result<HeaderValue, BadHead> {
    HeaderValue::from_maybe_shared(value.clone())
        .map_err(|_| BadHead(format!("header value \"{}\" cannot be sent", value.escape_ascii())))
}

fn content_length(value: &[u8]) -> Result<u64, BadHead> {
    let digits = std::str::from_utf8(value.trim_ascii()).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    digits
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| BadHead(format!("Content-Length \"{}\" is not a number", value.escape_ascii())))
}

/// Whether the front sets this header: headers of the connection and the server's name.
fn is_ours(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-connection"
            | "server"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

/// An interim response (103) for an HTTP/2 client; `None` if it cannot be sent.
pub fn interim_of_stream(head: &Head) -> Option<Response<()>> {
    let status = StatusCode::from_u16(head.status).ok().filter(|status| (102..200).contains(&status.as_u16()))?;
    let mut response = Response::new(());
    *response.status_mut() = status;
    for (name, value) in &head.headers {
        let name = header_name(name).ok().filter(|name| !is_ours(name) && name != CONTENT_LENGTH)?;
        response.headers_mut().append(name, header_value(value.clone()).ok()?);
    }
    Some(response)
}

/// An interim response (103) for an HTTP/1.1 client, as text.
pub fn interim(head: &Head) -> Option<Vec<u8>> {
    let response = interim_of_stream(head)?;
    let status = response.status();
    let line = format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or("Interim"));
    let mut text = line.into_bytes();
    for (name, value) in &head.headers {
        for part in [&name[..], b": ", value, b"\r\n"] {
            text.extend_from_slice(part);
        }
    }
    text.extend_from_slice(b"\r\n");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16, headers: &[(&str, &str)]) -> Head {
        let headers =
            headers.iter().map(|(name, value)| (name.as_bytes().to_vec().into(), value.as_bytes().to_vec().into()));
        Head { status, headers: headers.collect(), ..Head::default() }
    }

    #[test]
    fn headers_about_the_connection_are_not_the_applications() {
        let sent = [
            ("Connection", "close"),
            ("Transfer-Encoding", "chunked"),
            ("Server", "x"),
            ("Set-Cookie", "a"),
            ("Set-Cookie", "b"),
        ];
        let (status, headers, length) = read(head(200, &sent)).expect("fine");
        assert_eq!((status, length), (StatusCode::OK, None));
        assert_eq!(
            headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect::<Vec<_>>(),
            [("set-cookie", &b"a"[..]), ("set-cookie", b"b")]
        );
    }

    #[test]
    fn a_response_that_http_forbids_is_refused() {
        let bad = [
            head(101, &[]),
            head(200, &[("a b", "x")]),
            head(200, &[("", "x")]),
            head(200, &[("x", "a\r\nSet-Cookie: stolen")]),
            head(200, &[("Content-Length", "-1")]),
            head(200, &[("Content-Length", "5, 5")]),
            head(200, &[("Content-Length", "99999999999999999999999")]),
        ];
        for head in bad {
            assert!(read(head.clone()).is_err(), "{head:?}");
        }
        assert_eq!(read(head(200, &[("Content-Length", " 12 ")])).expect("fine").2, Some(12));
    }

    #[test]
    fn an_interim_response_is_written_whole_or_not_at_all() {
        let hint = interim(&head(103, &[("Link", "</a.css>; rel=preload")]));
        assert_eq!(hint.as_deref(), Some(&b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"[..]));
        assert_eq!(interim(&head(200, &[])), None);
        assert_eq!(interim(&head(103, &[("x", "a\nb")])), None);
    }
}
