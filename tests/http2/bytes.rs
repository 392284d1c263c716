//! `%I` and `%O` for HTTP/2 streams.

use super::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, HEADERS, PING, RST_STREAM, Raw, WINDOW_UPDATE, head, literal,
};
use super::{curl, serve, serve_tls};
use crate::support::{Server, until};

const LOG: &str = "CustomLog access.log \"%U %I %O %S %X\"";
const HEAD: usize = 9;
const PADDED: u8 = 8;

/// The lines of the access log, as soon as there are `count`.
#[track_caller]
fn logged(server: &Server, count: usize) -> Vec<String> {
    until("all is logged", || server.site.read("access.log").lines().count() >= count);
    server.site.read("access.log").lines().map(str::to_owned).collect()
}

/// Reads frames until these streams have ended, and returns them.
#[track_caller]
fn receive(raw: &mut Raw, mut streams: Vec<u32>) -> Vec<Frame> {
    let mut frames = Vec::new();
    while !streams.is_empty() {
        let frame = raw.next().expect("the connection goes on");
        if frame.flags & END_STREAM != 0 && matches!(frame.kind, HEADERS | DATA) {
            streams.retain(|stream| *stream != frame.stream);
        }
        frames.push(frame);
    }
    frames
}

fn bytes_of(frames: &[Frame], stream: u32) -> usize {
    frames.iter().filter(|frame| frame.stream == stream).map(|frame| HEAD + frame.payload.len()).sum()
}

fn line(path: &str, received: usize, sent: usize, end: char) -> String {
    format!("{path} {received} {sent} {} {end}", received + sent)
}

#[test]
fn each_stream_has_its_own_bytes() {
    let server = serve(LOG);
    let mut raw = Raw::open(&server, &[(4, 1 << 20)]);
    let paths = ["/bytes/10", "/bytes/200000", "/bytes/70000"];
    for (n, path) in (0..).zip(paths) {
        raw.get(2 * n + 1, path);
        // PING and WINDOW_UPDATE frames count for no stream.
        raw.send(PING, 0, 0, &[0; 8]);
        raw.send(WINDOW_UPDATE, 0, 2 * n + 1, &1000_u32.to_be_bytes());
    }
    let frames = receive(&mut raw, vec![1, 3, 5]);
    let lines = logged(&server, 3);
    for (n, path) in (0..).zip(paths) {
        let received = HEAD + head(&[("host-less", "1")], path).len();
        let expected = line(path, received, bytes_of(&frames, 2 * n + 1), '+');
        assert!(lines.contains(&expected), "{expected}: {lines:?}");
    }
}

#[test]
fn continuations_padding_and_trailers_are_counted() {
    let server = serve(LOG);
    let mut raw = Raw::open(&server, &[]);
    let (first, second) = (head(&[], "/p"), literal("x", "more"));
    raw.send(HEADERS, 0, 1, &first);
    raw.send(CONTINUATION, END_HEADERS, 1, &second);
    raw.send(DATA, 0, 1, b"12345");
    raw.send(DATA, PADDED, 1, &[3, b'6', 0, 0, 0]);
    let trailer = literal("checksum", "1");
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &trailer);
    let frames = receive(&mut raw, vec![1]);
    assert!(frames.iter().any(|frame| frame.payload.ends_with(b" 6")), "six bytes of body: {frames:?}");
    let received = 5 * HEAD + first.len() + second.len() + 5 + 5 + trailer.len();
    assert_eq!(logged(&server, 1), [line("/p", received, bytes_of(&frames, 1), '+')]);
}

#[test]
fn bytes_of_a_truncated_response_are_counted() {
    let server = serve(LOG);
    let mut raw = Raw::open(&server, &[(4, 5000)]);
    raw.get(1, "/bytes/9000");
    let received = HEAD + head(&[("host-less", "1")], "/bytes/9000").len();
    let mut sent = HEAD + raw.until(|frame| frame.is_head_of(1)).payload.len();
    sent += HEAD + raw.until(|frame| frame.kind == DATA).payload.len();
    assert_eq!(logged(&server, 0).len(), 0, "it is not over");
    raw.send(RST_STREAM, 0, 1, &8_u32.to_be_bytes());
    assert_eq!(logged(&server, 1), [line("/bytes/9000", received, sent, 'X')]);
    raw.get(3, "/bytes/9000");
    raw.until(|frame| frame.kind == DATA);
    drop(raw);
    assert!(logged(&server, 2)[1].ends_with(" X"), "and so is who leaves");
}

#[test]
fn over_tls_the_same_bytes_are_counted() {
    let server = serve_tls(LOG);
    curl(&server, &["--http2", "-o", "/dev/null", "https://localhost:@PORT@/bytes/100000"]).succeeded();
    let line = &logged(&server, 1)[0];
    let numbers: Vec<usize> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let (received, sent) = (numbers[0], numbers[1]);
    assert!((20..200).contains(&received), "{line}");
    // A HEADERS frame, and DATA frames: at least one, at most one for each kB.
    assert!((100_000 + 8 * HEAD..101_000).contains(&sent), "{line}");
}
