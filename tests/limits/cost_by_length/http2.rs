//! The front's cost by length over HTTP/2, where one byte repeats a path from HPACK's dynamic table.

use super::{Kind, costs_by_its_length_with, counter};
use crate::http2::raw::{self, END_HEADERS, END_STREAM, HEADERS, Raw};
use crate::support::{Counter, Site};

/// An HPACK literal with incremental indexing. `name` is an index into the static table: `:path` has 4.
fn remembered(name: u8, value: &str) -> Vec<u8> {
    let literal = raw::literal("", value);
    // A literal begins with its type byte and the byte of its empty name. The value follows.
    [&[0x40 | name][..], literal.get(2..).expect("a name and a value")].concat()
}

/// An indexed field with the newest entry of HPACK's dynamic table, which has index 62.
const NEWEST: u8 = 0x80 | 62;

/// Sends these header blocks as requests, and waits for all responses.
fn ask(counter: &Counter, blocks: &[Vec<u8>]) {
    let mut client = Raw::open(&counter.server, &[]);
    for (number, block) in blocks.iter().enumerate() {
        let stream = 2 * number as u32 + 1;
        let mut pieces = block.chunks(16_000).peekable();
        let first = pieces.next().expect("a head has bytes");
        let last = |more: bool| if more { 0 } else { END_HEADERS };
        client.send(HEADERS, END_STREAM | last(pieces.peek().is_some()), stream, first);
        while let Some(piece) = pieces.next() {
            client.send(raw::CONTINUATION, last(pieces.peek().is_some()), stream, piece);
        }
    }
    for _ in blocks {
        client.until(|frame| [HEADERS, raw::DATA].contains(&frame.kind) && frame.flags & END_STREAM != 0);
    }
}

fn head(path: &str, more: &[u8]) -> Vec<u8> {
    [&raw::head(&[], path)[..], more].concat()
}

#[test]
fn requests_of_http_2_cost_the_front_by_their_length() {
    let counter = counter(
        Site::new().file("htdocs/page.html", "page"),
        "Protocols h2c http/1.1\nOptions Indexes FollowSymLinks\n",
    );
    let cost = |bytes: Vec<u8>| counter.of(|| ask(&counter, &[bytes]));
    costs_by_its_length_with(
        cost,
        &[
            Kind { name: "folders that are missing", pieces: 240, send: |n| head(&"/a".repeat(n), b"") },
            Kind {
                name: "fields",
                pieces: 166,
                send: |n| {
                    head("/page.html", &(0..n).flat_map(|i| raw::literal(&format!("x-{i}"), "a")).collect::<Vec<u8>>())
                },
            },
            Kind {
                name: "crumbs of cookies",
                pieces: 25,
                send: |n| head("/page.html", &raw::literal("cookie", "a=b").repeat(n)),
            },
            Kind {
                name: "a long field",
                pieces: 2666,
                send: |n| head("/page.html", &raw::literal("x-long", &"ab".repeat(n))),
            },
        ],
    );
}

#[test]
fn a_path_that_is_named_by_a_byte_costs_what_a_path_costs() {
    let counter = counter(Site::new(), "Protocols h2c http/1.1\nMaxKeepAliveRequests 0\n");
    let usual = [&[0x82, 0x86][..], &raw::literal(":authority", "localhost")].concat();
    let cost = |pieces: Vec<u8>| {
        let path = "/a".repeat(990);
        let first = [&usual[..], &remembered(4, &path)].concat();
        let again = [&usual[..], &[NEWEST]].concat();
        let blocks: Vec<Vec<u8>> = std::iter::once(first).chain(std::iter::repeat_n(again, pieces.len())).collect();
        counter.of(|| ask(&counter, &blocks))
    };
    costs_by_its_length_with(cost, &[Kind { name: "requests of one path", pieces: 5, send: |n| vec![0; n] }]);
}
