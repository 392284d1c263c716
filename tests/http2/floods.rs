//! Clients whose requests cost the server more than the client.

use super::raw::{
    CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HEADERS, PING, PRIORITY, RST_STREAM, Raw,
    SETTINGS, WINDOW_UPDATE, frame, get, head, literal,
};
use super::{curl, serve};
use crate::support::{Server, until};

/// Asserts that the server still serves another client.
#[track_caller]
fn lives(server: &Server) {
    let output = curl(server, &["--http2-prior-knowledge", "http://localhost:@PORT@/"]).succeeded().out;
    assert!(output.starts_with("GET HTTP/2.0"), "{output}");
}

#[test]
fn limits_are_announced() {
    let server = serve("H2MaxSessionStreams 7\nH2WindowSize 100000");
    let mut raw = Raw::open(&server, &[]);
    let settings = raw.until(|frame| frame.kind == SETTINGS && frame.flags == 0).payload;
    let values: Vec<(u16, u32)> = settings
        .chunks(6)
        .map(|one| (u16::from_be_bytes([one[0], one[1]]), u32::from_be_bytes([one[2], one[3], one[4], one[5]])))
        .collect();
    for expected in [(3, 7), (4, 100_000)] {
        assert!(values.contains(&expected), "{values:?}");
    }
    assert!(values.iter().any(|(name, value)| *name == 6 && *value >= 8190), "the header list's size: {values:?}");
}

#[test]
fn more_streams_than_allowed_are_refused() {
    let server = serve("H2MaxSessionStreams 3");
    let mut raw = Raw::open(&server, &[]);
    (0..5).for_each(|n| raw.get(2 * n + 1, "/slow"));
    let refused: Vec<u32> = (0..2).map(|_| raw.until(|frame| frame.kind == RST_STREAM).stream).collect();
    assert_eq!(refused, [7, 9]);
    server.site.write("go", "");
}

#[test]
fn rapid_resets_end_the_connection_and_no_program_has_run_for_them() {
    let server = serve("MaxClients 1\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nH2MaxResetsPerSecond 50");
    let mut raw = Raw::open(&server, &[]);
    raw.get(1, "/slow/first");
    until("the worker is busy", || server.site.read("begun").contains("first"));
    let reset =
        |n: u32| [get(2 * n + 1, "/slow/reset"), frame(RST_STREAM, 0, 2 * n + 1, &CANCEL.to_be_bytes())].concat();
    raw.flood(&(1..=200).flat_map(reset).collect::<Vec<u8>>(), 1);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    server.site.write("go", "");
    lives(&server);
    assert_eq!(server.site.read("begun"), "/slow/first\n", "what was reset never ran");
}

#[test]
fn a_few_resets_are_everybodys_right() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    for n in 0..50 {
        raw.get(2 * n + 1, "/");
        raw.send(RST_STREAM, 0, 2 * n + 1, &CANCEL.to_be_bytes());
    }
    raw.get(101, "/");
    raw.until(|frame| frame.is_head_of(101));
}

#[test]
fn floods_of_control_frames_end_the_connection() {
    let server = serve("H2MaxControlFramesPerSecond 100");
    let floods = [
        ("PING", frame(PING, 0, 0, &[0; 8])),
        ("SETTINGS", frame(SETTINGS, 0, 0, &[])),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1])),
        ("unknown", frame(0xbe, 0, 0, b"?")),
        ("PRIORITY_UPDATE", frame(0x10, 0, 0, &[0, 0, 0, 1])),
        ("WINDOW_UPDATE of the connection", frame(WINDOW_UPDATE, 0, 0, &100_u32.to_be_bytes())),
        ("WINDOW_UPDATE of a stream", frame(WINDOW_UPDATE, 0, 1, &100_u32.to_be_bytes())),
    ];
    for (name, flood) in floods {
        let mut raw = Raw::open(&server, &[]);
        // An open stream whose response has not begun.
        raw.send(HEADERS, END_HEADERS, 1, &head(&[], "/"));
        raw.flood(&flood, 5000);
        assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM, "{name}");
    }
    lives(&server);
}

#[test]
fn windows_that_are_opened_by_a_byte_at_a_time_end_the_connection() {
    let server = serve("H2MaxControlFramesPerSecond 100");
    let mut raw = Raw::open(&server, &[(4, 1)]);
    raw.get(1, "/bytes/100000");
    raw.flood(&frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes()), 5000);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    lives(&server);
}

#[test]
fn window_updates_for_each_piece_of_a_download_are_no_flood() {
    let server = serve("H2MaxControlFramesPerSecond 10");
    let mut raw = Raw::open(&server, &[]);
    for stream in [1, 3, 5] {
        raw.get(stream, "/bytes/5000000");
        let mut updates = 0;
        loop {
            let data = raw.until(|frame| frame.kind == DATA);
            if data.flags & END_STREAM != 0 {
                break;
            }
            let length = (data.payload.len() as u32).to_be_bytes();
            raw.send(WINDOW_UPDATE, 0, 0, &length);
            raw.send(WINDOW_UPDATE, 0, stream, &length);
            updates += 2;
        }
        assert!(updates > 500, "many in a second: {updates}");
    }
}

#[test]
fn small_answers_may_be_given_back_one_by_one() {
    let server = serve("H2MaxControlFramesPerSecond 10");
    let mut raw = Raw::open(&server, &[]);
    for stream in (1..400).step_by(2) {
        raw.get(stream, "/bytes/5");
        raw.until(|frame| frame.kind == DATA && frame.flags & END_STREAM != 0);
        raw.send(WINDOW_UPDATE, 0, 0, &5_u32.to_be_bytes());
        raw.send(WINDOW_UPDATE, 0, stream, &5_u32.to_be_bytes());
    }
}

#[test]
fn a_head_in_endless_continuations_ends_the_connection() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_STREAM, 1, &head(&[], "/"));
    let field = literal("x", &"v".repeat(1000));
    raw.flood(&frame(CONTINUATION, 0, 1, &field), 5000);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    lives(&server);
}

#[test]
fn a_head_over_its_limit_is_refused() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    let mut large = head(&[], "/");
    (0..14).for_each(|_| large.extend(literal("x", &"v".repeat(1000))));
    let more: Vec<u8> = (0..16).flat_map(|_| literal("x", &"v".repeat(8000))).collect();
    raw.send(HEADERS, END_STREAM, 1, &large);
    let pieces: Vec<&[u8]> = more.chunks(16_000).collect();
    for (n, piece) in pieces.iter().enumerate() {
        raw.send(CONTINUATION, if n + 1 == pieces.len() { END_HEADERS } else { 0 }, 1, piece);
    }
    // The server answers 431, or has closed the connection.
    let refused = raw.refuses(1);
    assert!(refused, "it was not answered 200");
    lives(&server);
}

#[test]
fn empty_data_without_end_ends_the_connection() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_HEADERS, 1, &head(&[], "/"));
    raw.flood(&frame(DATA, 0, 1, &[]), 20_000);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    lives(&server);
}

#[test]
fn data_that_is_all_padding_ends_the_connection() {
    let server = serve("H2MaxControlFramesPerSecond 100");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_HEADERS, 1, &head(&[], "/"));
    const PADDED: u8 = 8;
    raw.flood(&frame(DATA, PADDED, 1, &[1, 0]), 5000);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    lives(&server);
}

#[test]
fn resets_that_a_client_provokes_count_like_its_own() {
    let server = serve(
        "MaxClients 1\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nH2MaxResetsPerSecond 50\nH2MaxStreamErrors 100000",
    );
    let mut raw = Raw::open(&server, &[]);
    // This increment makes the window larger than 2^31-1 bytes, the maximum of RFC 9113.
    let wide = 0x7fff_ffff_u32.to_be_bytes();
    let provoke = |stream: u32| [get(stream, "/slow/provoked"), frame(WINDOW_UPDATE, 0, stream, &wide)].concat();
    raw.flood(&(1..400).step_by(2).flat_map(provoke).collect::<Vec<u8>>(), 1);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    server.site.write("go", "");
    lives(&server);
    server.until_idle(1);
    assert!(server.site.read("begun").lines().count() < 20, "what was reset in the queue never ran");
}

#[test]
fn streams_beyond_the_limit_are_no_way_to_be_reset_for_ever() {
    let server = serve("H2MaxSessionStreams 3\nH2MaxResetsPerSecond 50");
    let mut raw = Raw::open(&server, &[]);
    raw.flood(&(0..200).flat_map(|n| get(2 * n + 1, "/slow")).collect::<Vec<u8>>(), 1);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    server.site.write("go", "");
    lives(&server);
}

#[test]
fn a_connection_with_too_many_stream_errors_is_closed() {
    let server = serve("H2MaxStreamErrors 5");
    let mut raw = Raw::open(&server, &[]);
    let malformed = |raw: &mut Raw, stream: u32| {
        raw.send(HEADERS, END_HEADERS | END_STREAM, stream, &head(&[("connection", "close")], "/"));
    };
    for n in 0..5 {
        malformed(&mut raw, 2 * n + 1);
        assert_eq!(raw.until(|frame| frame.kind == RST_STREAM).stream, 2 * n + 1);
    }
    raw.get(11, "/");
    raw.until(|frame| frame.is_head_of(11));
    malformed(&mut raw, 13);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    let strict = serve("H2MaxStreamErrors 0");
    let mut raw = Raw::open(&strict, &[]);
    malformed(&mut raw, 1);
    assert_eq!(raw.goodbye(), ENHANCE_YOUR_CALM);
    lives(&strict);
}

#[test]
fn a_window_that_stays_shut_loses_its_stream_only() {
    let server = serve("Timeout 2s");
    let mut raw = Raw::open(&server, &[(4, 0)]);
    raw.get(1, "/bytes/1000");
    raw.until(|frame| frame.is_head_of(1));
    let reset = raw.until(|frame| frame.kind == RST_STREAM);
    assert_eq!((reset.stream, reset.reason()), (1, CANCEL));
    raw.send(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]);
    raw.get(3, "/bytes/1000");
    assert_eq!(raw.until(|frame| frame.kind == DATA).payload.len(), 1000);
}

#[test]
fn a_slow_reader_takes_as_long_as_it_needs() {
    let server = serve("Timeout 60s");
    let mut raw = Raw::open(&server, &[(4, 10)]);
    raw.get(1, "/bytes/100");
    let mut got = 0;
    while got < 100 {
        got += raw.until(|frame| frame.kind == DATA).payload.len();
        raw.send(WINDOW_UPDATE, 0, 1, &10_u32.to_be_bytes());
    }
    assert_eq!(got, 100);
}

#[test]
fn one_closed_window_delays_no_other_stream() {
    let server = serve("MaxClients 1\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1");
    let mut raw = Raw::open(&server, &[(4, 0)]);
    raw.get(1, "/bytes/1000");
    raw.until(|frame| frame.is_head_of(1));
    until("another client is served", || {
        let output = curl(&server, &["--http2-prior-knowledge", "--max-time", "2", "http://localhost:@PORT@/"]);
        output.out.starts_with("GET")
    });
}
