use wire::reply::PacketMessages;

use super::*;
use crate::PlaceConfig;
use crate::request_rec::tests::{FakeFront, record};
use crate::worker_api::HandlerOutcome;

/// Ends a request as the worker does, by a handler's return value.
fn end(r: &mut RequestRec, code: i32) {
    match r.outcome(code) {
        HandlerOutcome::Answered => {}
        HandlerOutcome::File(path) => r.output.file = Some(path),
        HandlerOutcome::Error(status) => r.send_page(status, ErrorPage::Ours("")),
    }
    r.finish();
}

fn died(r: &mut RequestRec) {
    r.output.failed = Some(500);
    end(r, 500);
}

/// Runs a handler and formats the front's messages as `status headers: body`, followed by the end.
fn respond(place: PlaceConfig, handler: impl FnOnce(&mut RequestRec)) -> String {
    let kept = FakeFront::default();
    let mut r = record(place, "/cgi/a.pl", &[], None);
    r.client = Box::new(kept.clone());
    handler(&mut r);
    let mut out = String::new();
    for packet in kept.0.take() {
        for message in PacketMessages::new(&packet) {
            out += &shown(&message.expect("well formed").1);
        }
    }
    out
}

fn shown(reply: &Reply<'_>) -> String {
    let head = |head: &Head| {
        let line = |(n, v): &(Bytes, Bytes)| format!(" {}={}", n.escape_ascii(), v.escape_ascii());
        format!("{}{}:", head.status, head.headers.iter().map(line).collect::<String>())
    };
    match reply {
        Reply::Info(info) => format!("info {} ", head(info)),
        Reply::Head(it) => head(it),
        Reply::Body(bytes) if bytes.starts_with(b"<!DOCTYPE") => " PAGE".into(),
        Reply::Body(bytes) => format!(" {}", bytes.escape_ascii()),
        Reply::File(path) => format!("file {}", path.escape_ascii()),
        Reply::Elsewhere(target) => format!("elsewhere {}", target.escape_ascii()),
        Reply::Extend(ms) => format!(" extend {ms}"),
        Reply::Complete => " complete".into(),
        Reply::End(end) if end.truncated => " truncated".into(),
        Reply::End(_) => " end".into(),
        Reply::Lent { length, .. } => format!(" lent {length}"),
        Reply::Ready { .. } | Reply::Greeted { .. } => "ready".into(),
        Reply::Moved(path) => format!("moved {} ", path.escape_ascii()),
        Reply::Onward(_) => "onward".into(),
        Reply::Refused { status, .. } => format!("refused {status}"),
        Reply::Publish(_) | Reply::Subscribed { .. } | Reply::Taken(_) => "broadcast".into(),
        Reply::Leaves(_) => "leaves".into(),
    }
}

type Handler = fn(&mut RequestRec);

/// Actions of a handler.
enum Act {
    Write(&'static [u8]),
    Flush,
    Status(u16),
    /// A PSGI response begins.
    Begin(i32),
    Add(&'static [u8], &'static [u8]),
    Cleanup,
    /// The handler returns.
    Return(i32),
    Die,
    Close,
}

fn perform(r: &mut RequestRec, act: &Act) {
    use Act::*;
    match act {
        Write(bytes) => r.write(bytes),
        Flush => r.flush(),
        Status(status) => r.status = *status,
        Begin(status) => r.head_start(*status),
        Add(name, value) => r.head_add(name, value),
        Cleanup => r.cleanup = true,
        Return(code) => end(r, *code),
        Die => died(r),
        Close => r.close(),
    }
}

const PAGE_500: &str = "500 Content-Type=text/html; charset=utf-8: PAGE end";

#[test]
fn a_handlers_output_becomes_replies() {
    use Act::*;
    let cases: &[(&str, &[Act], &str)] = &[
        ("nothing", &[Return(0)], "200 Content-Type=text/html: end"),
        ("a body", &[Write(b"x"), Return(1)], "200 Content-Type=text/html: x end"),
        ("a status", &[Return(404)], "404 Content-Type=text/html; charset=utf-8: PAGE end"),
        ("a bodyless status", &[Return(204)], "204: end"),
        ("a status and a body", &[Write(b"x"), Return(404)], "404 Content-Type=text/html: x end"),
        ("declined", &[Return(-1)], "file /www/cgi/a.pl end"),
        ("declined late", &[Write(b"x"), Return(-1)], "200 Content-Type=text/html: x end"),
        ("died", &[Write(b"x"), Die], PAGE_500),
        ("died late", &[Write(b"x"), Flush, Die], "200 Transfer-Encoding=chunked Content-Type=text/html: x truncated"),
        ("flushed early", &[Flush, Status(201), Write(b"x"), Return(0)], "201 Content-Type=text/html: x end"),
        ("psgi", &[Begin(200), Add(b"A", b"b"), Write(b"x"), Return(0)], "200 A=b: x end"),
        ("early hints", &[Begin(103), Add(b"Link", b"l"), Flush, Begin(200), Return(0)], "info 103 Link=l: 200: end"),
        ("early hints, not flushed", &[Begin(103), Begin(200), Return(0)], "info 103: 200: end"),
        ("split header", &[Begin(200), Add(b"A", b"b\nC: d"), Write(b"x"), Return(0)], PAGE_500),
        ("no status", &[Begin(700), Write(b"x"), Return(0)], PAGE_500),
        ("cleanup", &[Cleanup, Write(b"x"), Return(0), Close], "200 Content-Type=text/html: x complete end"),
        (
            "cleanup, cut short",
            &[Cleanup, Write(b"x"), Flush, Die, Close],
            "200 Transfer-Encoding=chunked Content-Type=text/html: x truncated",
        ),
        ("after the end", &[Return(0), Write(b"x"), Flush, Return(0)], "200 Content-Type=text/html: end"),
    ];
    for (name, acts, expected) in cases {
        let response = respond(PlaceConfig::default(), |r| acts.iter().for_each(|act| perform(r, act)));
        assert_eq!(response, *expected, "{name}");
    }
}

#[test]
fn a_scripts_output_begins_with_its_header() {
    let cases: &[(&[&[u8]], &str)] = &[
        (&[b"Content-type: a/b\n\nx"], "200 Content-Type=a/b: x end"),
        (&[b"Content-", b"type: a/b\r", b"\n\r\n", b"x", b"y"], "200 Content-Type=a/b: xy end"),
        (&[b"Location: /there\n\n"], "elsewhere /there end"),
        (&[b"Location: //other/\n\n"], "302 Content-Type=text/html Location=//other/: end"),
        (&[b"Status: 204\n\n"], "204: end"),
        (&[], PAGE_500),
        (&[b"Content-type: a/b\n"], PAGE_500),
        (&[b"<html>\n\n", b"more"], PAGE_500),
        (&[b"X: \0\n\n", b"more"], PAGE_500),
    ];
    for (pieces, expected) in cases {
        let place = PlaceConfig { send_header: true, ..Default::default() };
        let response = respond(place, |r| {
            pieces.iter().for_each(|piece| r.write(piece));
            end(r, 0);
        });
        assert_eq!(response, *expected, "{pieces:?}");
    }
}

#[test]
fn content_type_and_encoding_methods_take_precedence_over_tables() {
    let response = respond(PlaceConfig::default(), |r| {
        r.tables.of_mut(Id::HeadersOut).set(b"content-encoding", b"one");
        r.tables.of_mut(Id::ErrHeadersOut).set(b"Content-Encoding", b"two");
        r.tables.of_mut(Id::HeadersOut).set(b"Content-Type", b"a/b");
        r.set_text(Text::ContentEncoding, Some(b"gzip"));
        r.set_text(Text::ContentType, Some(b"c/d"));
        r.write(b"x");
        end(r, 0);
    });
    assert_eq!(response, "200 Content-Type=c/d Content-Encoding=gzip: x end");
}

/// The front kills a worker that sends too long a message.
#[test]
fn too_long_responses_become_messages_within_the_limits() {
    const LONG: &[u8] = &[b'x'; 200_000];
    let cases: [Handler; 9] = [
        |r| r.tables.of_mut(Id::HeadersOut).set(b"X-Long", LONG),
        |r| r.tables.of_mut(Id::ErrHeadersOut).set(b"X-Long", LONG),
        |r| r.set_text(Text::StatusLine, Some(&[b"200 ", LONG].concat())),
        |r| r.set_text(Text::User, Some(LONG)),
        |r| r.output.file = Some(LONG.to_vec()),
        |r| r.output.elsewhere = Some(LONG.to_vec()),
        |r| r.tables.of_mut(Id::HeadersOut).set(b"Location", LONG),
        |r| {
            r.head_start(200);
            (0..1000).for_each(|_| r.head_add(b"X-Many", &LONG[..100]));
        },
        |r| {
            r.head_start(103);
            r.head_add(b"Link", LONG);
        },
    ];
    for (number, set) in cases.into_iter().enumerate() {
        for code in [0, 302, 404, -1] {
            let kept = FakeFront::default();
            let mut r = record(PlaceConfig::default(), "/cgi/a.pl", &[], None);
            r.client = Box::new(kept.clone());
            set(&mut r);
            r.write(&LONG[..30_000]);
            end(&mut r, code);
            for packet in kept.0.take() {
                assert!(packet.len() <= wire::reply::MAX_PACKET, "case {number}, {code}: {}", packet.len());
                assert!(PacketMessages::new(&packet).all(|message| message.is_ok()), "case {number}, {code}");
            }
        }
    }
}
