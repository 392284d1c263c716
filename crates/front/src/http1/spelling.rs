//! The spelling of field names that hyper writes: usual capitals, and names that a program spelled otherwise as the
//! program wrote them.
//!
//! hyper writes one capital after each hyphen. It writes other spellings only of a response that its own client has
//! read from a connection (`preserve_header_case`). Therefore its client reads a response with these names here, and
//! the result is cached by the names.

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Extensions, HeaderMap, Request, Response};
use http_body_util::Empty;
use hyper::client::conn::http1::Builder;
use hyper_util::rt::TokioIo;

use super::backend_names;
use super::memory_io::{MemoryIo, POLLS};
use crate::base::field_names::{ConfiguredNames, MAX_NAMES, WrittenNames, is_title_case, special};
use base::cache::BoundedCache;

/// Number of sets of names whose spelling a thread caches.
const SETS: usize = 256;
/// Longest set of names whose spelling is sent, in bytes: a thread caches [`SETS`] of them.
const MAX_BYTES: usize = 4096;
/// Fields that hyper writes by itself. A second one, empty, would make the scripted head invalid.
const OF_HYPER: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// The only name of its kind that most responses have: files.
const ETAG: &[u8] = b"ETag\n";

thread_local! {
    static SPELLED: RefCell<BoundedCache<Vec<u8>, Extensions, SETS>> = RefCell::default();
    static SPELLED_ETAG: Extensions = read(ETAG).unwrap_or_default();
}

/// Adds the spelling of a response's field names for hyper.
pub fn spell<B>(response: &mut Response<B>) {
    let configured = response.extensions_mut().remove::<ConfiguredNames>();
    let names = match (response.extensions_mut().remove::<WrittenNames>(), configured) {
        (Some(WrittenNames::OfBackend), None) => return,
        (Some(WrittenNames::OfBackend), Some(ConfiguredNames(configured))) => {
            spelled_as(&configured, &backend_names::names(response))
        }
        (written, configured) => {
            let mut names = match written {
                Some(WrittenNames::Lines(names)) => names,
                _ => Vec::new(),
            };
            let configured = configured.map_or_else(Vec::new, |ConfiguredNames(configured)| configured);
            let is_new = |name: &&[u8]| !lines(&names).any(|known| known.eq_ignore_ascii_case(name));
            let added: Vec<u8> = lines(&configured).filter(is_new).flat_map(|name| [name, b"\n"].concat()).collect();
            names.extend(added);
            add_special(response.headers(), &mut names);
            names
        }
    };
    if names.is_empty() || names.len() > MAX_BYTES {
        return;
    }
    let spelled = match names == ETAG {
        true => SPELLED_ETAG.with(Clone::clone),
        false => SPELLED.with_borrow_mut(|cache| cached(cache, names)),
    };
    response.extensions_mut().extend(spelled);
}

/// A backend's names, where it has not written them itself as the configuration does: a name that hyper would have
/// spelled in the same way may be the server's.
fn spelled_as(configured: &[u8], names: &[u8]) -> Vec<u8> {
    let spelled = |name: &[u8]| {
        let found = lines(configured).find(|written| is_title_case(name) && written.eq_ignore_ascii_case(name));
        [found.unwrap_or(name), b"\n"].concat()
    };
    lines(names).flat_map(spelled).collect()
}

fn lines(names: &[u8]) -> impl Iterator<Item = &[u8]> {
    names.split(|byte| *byte == b'\n').filter(|name| !name.is_empty())
}

fn cached(cache: &mut BoundedCache<Vec<u8>, Extensions, SETS>, names: Vec<u8>) -> Extensions {
    if let Some(known) = cache.get(&names) {
        return known.clone();
    }
    let spelled = read(&names).unwrap_or_default();
    cache.put(names, spelled.clone());
    spelled
}

/// Adds the names with a usual spelling of their own, unless the program has written them otherwise.
fn add_special(headers: &HeaderMap, names: &mut Vec<u8>) {
    for name in headers.keys() {
        let Some(usual) = special(name.as_str()) else { continue };
        let is_same = |known: &[u8]| known.eq_ignore_ascii_case(usual.as_bytes());
        if lines(names).any(is_same) {
            continue;
        }
        for _ in headers.get_all(name).iter().take(MAX_NAMES) {
            names.extend_from_slice(usual.as_bytes());
            names.push(b'\n');
        }
    }
}

/// The extension with which hyper's server writes these names, each followed by a line feed.
fn read(names: &[u8]) -> Option<Extensions> {
    let mut head = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".to_vec();
    let is_of_hyper = |name: &[u8]| OF_HYPER.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()));
    for name in lines(names).filter(|name| !is_of_hyper(name)).take(MAX_NAMES) {
        head.extend_from_slice(name);
        head.extend_from_slice(b":\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let mut context = Context::from_waker(Waker::noop());
    let mut builder = Builder::new();
    builder.preserve_header_case(true);
    let connected = pin!(builder.handshake::<_, Empty<Bytes>>(TokioIo::new(MemoryIo::with_response(head))));
    let Poll::Ready(Ok((mut sender, mut connection))) = connected.poll(&mut context) else { return None };
    let mut response = pin!(sender.send_request(Request::new(Empty::new())));
    for _ in 0..POLLS {
        let _ = Pin::new(&mut connection).poll(&mut context);
        if let Poll::Ready(response) = response.as_mut().poll(&mut context) {
            return Some(std::mem::take(response.ok()?.extensions_mut()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn hyper_reads_as_many_names_as_one_response_may_have() {
        let names: String = (0..super::MAX_NAMES).map(|number| format!("x-NAME-{number}\n")).collect();
        assert_eq!(super::read(names.as_bytes()).map(|spelled| spelled.is_empty()), Some(false));
    }
}
