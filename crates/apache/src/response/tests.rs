use wire::reply::Packet;

use super::*;
use crate::Place;
use crate::request_rec::tests::{FakeFront, record};
use crate::worker_api::Outcome;

/// Ends a request as the worker does, by a handler's return value.
fn end(r: &mut RequestRec, code: i32) {
    match r.outcome(code) {
        Outcome::Answered => {}
        Outcome::File(path) => r.output.file = Some(path),
        Outcome::Error(status) => r.send_page(status, Page::Ours("")),
    }
    r.finish();
}

fn died(r: &mut RequestRec) {
    r.output.failed = Some(500);
    end(r, 500);
}

/// Runs a handler and formats what the front receives: `status headers: body`, and the end.
fn heard(place: Place, handler: impl FnOnce(&mut RequestRec)) -> String {
    let kept = FakeFront::default();
    let mut r = record(place, "/cgi/a.pl", &[], None);
    r.client = Box::new(kept.clone());
    handler(&mut r);
    let mut out = String::new();
    for packet in kept.0.take() {
        for message in Packet::new(&packet) {
            out += &shown(&message.expect("well formed").1);
        }
    }
    out
}

fn shown(reply: &Reply<'_>) -> String {
    let head = |head: &Head| {
        let line = |(n, v): &(Vec<u8>, Vec<u8>)| format!(" {}={}", n.escape_ascii(), v.escape_ascii());
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
        Reply::Refused { status, .. } => format!("refused {status}"),
    }
}

type Handler = fn(&mut RequestRec);

#[test]
fn a_handlers_output_becomes_replies() {
    let cases: &[(&str, Handler, &str)] = &[
        (
            "nothing",
            |r| {
                end(r, 0);
            },
            "200 Content-Type=text/html: end",
        ),
        (
            "a body",
            |r| {
                r.write(b"x");
                end(r, 1);
            },
            "200 Content-Type=text/html: x end",
        ),
        (
            "a status",
            |r| {
                end(r, 404);
            },
            "404 Content-Type=text/html; charset=utf-8: PAGE end",
        ),
        (
            "a bodyless status",
            |r| {
                end(r, 204);
            },
            "204: end",
        ),
        (
            "a status and a body",
            |r| {
                r.write(b"x");
                end(r, 404);
            },
            "404 Content-Type=text/html: x end",
        ),
        (
            "declined",
            |r| {
                end(r, -1);
            },
            "file /www/cgi/a.pl end",
        ),
        (
            "declined late",
            |r| {
                r.write(b"x");
                end(r, -1);
            },
            "200 Content-Type=text/html: x end",
        ),
        (
            "died",
            |r| {
                r.write(b"x");
                died(r);
            },
            "500 Content-Type=text/html; charset=utf-8: PAGE end",
        ),
        (
            "died late",
            |r| {
                r.write(b"x");
                r.flush();
                died(r);
            },
            "200 Content-Type=text/html Transfer-Encoding=chunked: x truncated",
        ),
        (
            "flushed early",
            |r| {
                r.flush();
                r.status = 201;
                r.write(b"x");
                end(r, 0);
            },
            "201 Content-Type=text/html: x end",
        ),
        (
            "psgi",
            |r| {
                r.head_start(200);
                r.head_add(b"A", b"b");
                r.write(b"x");
                end(r, 0);
            },
            "200 A=b: x end",
        ),
        (
            "early hints",
            |r| {
                r.head_start(103);
                r.head_add(b"Link", b"l");
                r.flush();
                r.head_start(200);
                end(r, 0);
            },
            "info 103 Link=l: 200: end",
        ),
        (
            "early hints, not flushed",
            |r| {
                r.head_start(103);
                r.head_start(200);
                end(r, 0);
            },
            "info 103: 200: end",
        ),
        (
            "split header",
            |r| {
                r.head_start(200);
                r.head_add(b"A", b"b\nC: d");
                r.write(b"x");
                end(r, 0);
            },
            "500 Content-Type=text/html; charset=utf-8: PAGE end",
        ),
        (
            "no status",
            |r| {
                r.head_start(700);
                r.write(b"x");
                end(r, 0);
            },
            "500 Content-Type=text/html; charset=utf-8: PAGE end",
        ),
        (
            "cleanup",
            |r| {
                r.cleanup = true;
                r.write(b"x");
                end(r, 0);
                r.close();
            },
            "200 Content-Type=text/html: x complete end",
        ),
        (
            "cleanup, cut short",
            |r| {
                r.cleanup = true;
                r.write(b"x");
                r.flush();
                died(r);
                r.close();
            },
            "200 Content-Type=text/html Transfer-Encoding=chunked: x truncated",
        ),
        (
            "after the end",
            |r| {
                end(r, 0);
                r.write(b"x");
                r.flush();
                end(r, 0);
            },
            "200 Content-Type=text/html: end",
        ),
    ];
    for (name, handler, expected) in cases {
        assert_eq!(heard(Place::default(), handler), *expected, "{name}");
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
        (&[], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
        (&[b"Content-type: a/b\n"], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
        (&[b"<html>\n\n", b"more"], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
        (&[b"X: \0\n\n", b"more"], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
    ];
    for (pieces, expected) in cases {
        let place = Place { send_header: true, ..Default::default() };
        let heard = heard(place, |r| {
            pieces.iter().for_each(|piece| r.write(piece));
            end(r, 0);
        });
        assert_eq!(heard, *expected, "{pieces:?}");
    }
}

#[test]
fn content_type_and_encoding_methods_take_precedence_over_tables() {
    let said = heard(Place::default(), |r| {
        r.tables.of_mut(Id::HeadersOut).set(b"content-encoding", b"one");
        r.tables.of_mut(Id::ErrHeadersOut).set(b"Content-Encoding", b"two");
        r.tables.of_mut(Id::HeadersOut).set(b"Content-Type", b"a/b");
        r.set_text(Text::ContentEncoding, Some(b"gzip"));
        r.set_text(Text::ContentType, Some(b"c/d"));
        r.write(b"x");
        end(r, 0);
    });
    assert_eq!(said, "200 Content-Type=c/d Content-Encoding=gzip: x end");
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
            let mut r = record(Place::default(), "/cgi/a.pl", &[], None);
            r.client = Box::new(kept.clone());
            set(&mut r);
            r.write(&LONG[..30_000]);
            end(&mut r, code);
            for packet in kept.0.take() {
                assert!(packet.len() <= wire::reply::MAX_PACKET, "case {number}, {code}: {}", packet.len());
                assert!(Packet::new(&packet).all(|message| message.is_ok()), "case {number}, {code}");
            }
        }
    }
}
