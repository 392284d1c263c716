//! `SetHandler send-as-is`: files that begin with their own headers and an empty line (httpd manual, mod_asis).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use http::header::{CONTENT_LENGTH, LOCATION, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::lookup::refusal;
use crate::base::blocking;
use crate::base::refusal::Refusal;
use crate::base::response_facts::AlwaysHeaders;
use crate::request::respond::body::{BodySource, FileBody, Segment};

/// Maximum length of a head in bytes. A file without an empty line in this range is answered with a 500.
const MAX_BYTES: u64 = 64 * 1024;

/// The headers at the start of a file.
#[derive(Debug)]
struct Head {
    status: StatusCode,
    fields: Vec<(HeaderName, HeaderValue)>,
    /// Length in bytes; the body follows directly.
    length: u64,
}

/// A path of the site that answers in place of the file, as a program's `Location` does.
#[derive(Debug, Clone)]
pub struct LocalRedirect(pub Vec<u8>);

/// The response that the file describes: its status and headers, and the rest of the file as body.
pub async fn send(file: Arc<File>, size: u64) -> Result<Response<BodySource>, Refusal> {
    let beginning_of = file.clone();
    let start = blocking::run("read a file", move || beginning(&beginning_of, size)).await?.map_err(refusal)?;
    let Some(head) = read(&start, size <= MAX_BYTES) else {
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
            .because("This file does not begin with headers and an empty line."));
    };
    let mut response = Response::new(match head.length < size {
        true => BodySource::File(FileBody::new(file, [Segment::Range { from: head.length, to: size }])),
        false => BodySource::Empty,
    });
    *response.status_mut() = head.status;
    for (name, value) in head.fields {
        response.headers_mut().append(name, value);
    }
    let always = AlwaysHeaders::of_script(response.headers());
    response.extensions_mut().insert(always);
    if response.status() == StatusCode::OK
        && let Some(location) = response.headers().get(LOCATION).cloned()
    {
        *response.status_mut() = StatusCode::FOUND;
        if location.as_bytes().starts_with(b"/") {
            response.extensions_mut().insert(LocalRedirect(location.as_bytes().to_vec()));
        }
    }
    Ok(response)
}

fn beginning(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut start = vec![0; size.min(MAX_BYTES) as usize];
    let mut filled = 0;
    while let Some(room @ [_, ..]) = start.get_mut(filled..) {
        match file.read_at(room, filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    start.truncate(filled);
    Ok(start)
}

/// Parses a head; `None` if it is incomplete or invalid for a response. `is_whole`: the bytes are the whole file, which
/// may end with its head.
fn read(start: &[u8], is_whole: bool) -> Option<Head> {
    let mut head = Head { status: StatusCode::OK, fields: Vec::new(), length: 0 };
    for line in start.split_inclusive(|byte| *byte == b'\n') {
        head.length += line.len() as u64;
        let line = line.strip_suffix(b"\n")?.trim_ascii_end();
        if line.is_empty() {
            return Some(head);
        }
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?.trim_ascii());
        if name.eq_ignore_ascii_case(b"Status") {
            let code = value.split(|byte| *byte == b' ').next()?;
            head.status = StatusCode::from_bytes(code).ok().filter(|status| status.as_u16() >= 200)?;
            continue;
        }
        let name = HeaderName::from_bytes(name).ok()?;
        // The file's size determines the length, regardless of these two headers.
        if name != CONTENT_LENGTH && name != TRANSFER_ENCODING {
            head.fields.push((name, HeaderValue::from_bytes(value).ok()?));
        }
    }
    (is_whole && head.length > 0).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_head_ends_with_an_empty_line() {
        let text = b"Status: 404 Gone fishing\r\nX-A: b\nContent-Length: 9\n\nbody\n\n";
        let head = read(text, true).expect("a head");
        assert_eq!((head.status.as_u16(), head.length, head.fields.len()), (404, 52, 1));
        for none in
            [&b""[..], b"a: b\n", b"no colon\n\n", b"Status: 99\n\n", b"Status: 100\n\n", b"a b: c\n\n", b"a: \x01\n\n"]
        {
            assert!(read(none, false).is_none(), "{none:?}");
        }
        assert!(read(b"Status: 204\n", true).is_some_and(|head| head.status == 204 && head.length == 12));
        assert!(read(b"", true).is_none());
    }
}
