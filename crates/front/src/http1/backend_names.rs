//! The field names of a backend's response, as hyper would write them: only hyper knows their spelling, so it writes
//! the head into memory.

use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::task::{Context, Waker};

use bytes::Bytes;
use http::Response;
use http_body_util::Empty;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use super::memory_io::{MemoryIo, POLLS};

/// A request whose response has no body, whatever its fields say.
const REQUEST: &[u8] = b"HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n";

/// The names of the fields in their order, each with a line feed after it. Empty if hyper writes no head.
pub fn names<B>(response: &Response<B>) -> Vec<u8> {
    let io = MemoryIo::with_request(REQUEST);
    let written = io.written();
    let (headers, extensions) = (response.headers().clone(), response.extensions().clone());
    let service = service_fn(move |_| {
        let mut head = Response::new(Empty::<Bytes>::new());
        (*head.headers_mut(), *head.extensions_mut()) = (headers.clone(), extensions.clone());
        ready(Ok::<_, Infallible>(head))
    });
    let mut connection = pin!(Builder::new().title_case_headers(true).serve_connection(TokioIo::new(io), service));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..POLLS {
        if connection.as_mut().poll(&mut context).is_ready() {
            break;
        }
    }
    names_in(&written.borrow())
}

fn names_in(head: &[u8]) -> Vec<u8> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    let names = lines.filter_map(|line| line.split_at_checked(line.iter().position(|byte| *byte == b':')?));
    names.flat_map(|(name, _)| [name, b"\n"]).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_that_ends_the_connection_has_its_names_too() {
        for (name, value) in [("connection", "close"), ("content-length", "0"), ("x-own", "1")] {
            let response = Response::builder().header("x-lower", "1").header(name, value).body(()).expect("a response");
            let names = String::from_utf8(names(&response)).expect("text").to_ascii_lowercase();
            assert!(names.starts_with(&format!("x-lower\n{name}\n")), "{names:?}");
        }
    }

    #[test]
    fn names_are_those_of_the_head_in_their_order() {
        let response = Response::builder().header("etag", "1").header("x-ua-compatible", "2").header("etag", "3");
        let response = response.header("content-length", 9).body(()).expect("a response");
        let names = String::from_utf8(names(&response)).expect("text");
        assert!(names.starts_with("Etag\nEtag\nX-Ua-Compatible\nContent-Length\n"), "{names:?}");
    }
}
