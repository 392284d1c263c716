//! A connection persists until its client closes it, whatever the number of its requests.

use std::process::Command;

use super::raw::{DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, Raw, frame, head};
use super::{serve, serve_tls};
use crate::support::{Finished, Server};

/// Number of requests on one connection; `benchmarks/long_connections.sh` sends 100,000.
const REQUESTS: u32 = 2500;

/// Sends [`REQUESTS`] requests over one connection, with 32 concurrent streams.
#[track_caller]
fn loads(server: &Server, scheme: &str, path: &str) {
    let url = server.site.filled(&format!("{scheme}://localhost:@PORT@{path}"));
    let load = ["-n", &REQUESTS.to_string(), "-c", "1", "-m", "32", "-p", "h2c", &url];
    let output = Finished::of(Command::new("h2load").args(load)).succeeded().out;
    let all = format!("{REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout");
    assert!(output.contains(&all), "{scheme} {path}: {output}\n{}", server.log());
}

#[test]
fn one_connection_carries_many_requests_to_files_and_programs_with_and_without_tls() {
    let files = "<Location /files>\nSetHandler default-handler\n</Location>\nDocumentRoot htdocs";
    for (server, scheme) in [(serve(files), "http"), (serve_tls(files), "https")] {
        std::fs::create_dir_all(server.site.path("htdocs/files")).expect("our own folder");
        server.site.write("htdocs/files/a.txt", "a file");
        loads(&server, scheme, "/files/a.txt");
        loads(&server, scheme, "/bytes/100");
        assert_eq!(server.status()["front"]["http2_closed"], 0);
    }
}

#[test]
fn uploads_that_are_refused_before_they_have_come_do_not_end_the_connection() {
    let server = serve("<Location /refused>\nRequire all denied\n</Location>");
    let mut raw = Raw::open(&server, &[]);
    let streams: Vec<u32> = (0..200).map(|n| 2 * n + 1).collect();
    for batch in streams.chunks(50) {
        for stream in batch {
            let post: Vec<u8> = head(&[("content-length", "20")], "/refused");
            raw.send(HEADERS, END_HEADERS, *stream, &post);
        }
        batch.iter().for_each(|stream| drop(raw.until(|frame| frame.kind == RST_STREAM && frame.stream == *stream)));
    }
    for stream in &streams {
        raw.send(DATA, 0, *stream, b"ten bytes.");
        raw.send(DATA, END_STREAM, *stream, b"ten bytes.");
    }
    raw.send(PING, 0, 0, b"still on");
    let next = raw.until(|frame| [PING, GOAWAY, RST_STREAM].contains(&frame.kind));
    assert_eq!((next.kind, &next.payload[..]), (PING, &b"still on"[..]));
}

#[test]
fn a_connection_that_is_closed_for_mistakes_is_named_in_the_log_and_counted() {
    let server = serve("H2MaxControlFramesPerSecond 10");
    let mut raw = Raw::open(&server, &[]);
    raw.flood(&frame(RST_STREAM, 0, 1, &[0; 4]), 1);
    raw.goodbye();
    server.logged("HTTP/2 connection closed after 0 requests: ");
    let mut raw = Raw::open(&server, &[]);
    raw.flood(&frame(PING, 0, 0, b"anybody?"), 50);
    raw.goodbye();
    server.logged("more control frames than H2MaxControlFramesPerSecond");
    assert_eq!(server.status()["front"]["http2_closed"], 2);
}
