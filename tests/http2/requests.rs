//! HTTP/2 requests as programs see them, and requests that the server rejects.

use nix::sys::signal::Signal;

use super::raw::{DATA, END_HEADERS, END_STREAM, Frame, HEADERS, INTERNAL_ERROR, RST_STREAM, Raw, frame, head};
use super::{curl, serve, serve_tls};
use crate::support::{Request, signal, until};

const PRIOR: &str = "--http2-prior-knowledge";

#[test]
fn programs_see_a_request_like_any_other() {
    let server = serve("");
    let output =
        curl(&server, &[PRIOR, "-b", "a=1; b=2", "-d", "12345", "http://localhost:@PORT@/p?q=r"]).succeeded().out;
    assert_eq!(output, server.site.filled("POST HTTP/2.0 http localhost:@PORT@ a=1; b=2 /p?q=r 5"));
}

#[test]
fn http_2_is_negotiated_in_the_tls_handshake() {
    let server = serve_tls("");
    let output = curl(&server, &["--http2", "https://localhost:@PORT@/p"]).succeeded().out;
    assert_eq!(output, server.site.filled("GET HTTP/2.0 https localhost:@PORT@ - /p 0"));
    let output = curl(&server, &["--http1.1", "https://localhost:@PORT@/p"]).succeeded().out;
    assert!(output.starts_with("GET HTTP/1.1 https"), "{output}");
}

#[test]
fn http_2_is_not_spoken_without_protocols() {
    let server =
        super::site().serve("SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key");
    let output = curl(&server, &["--http2", "-o", "/dev/null", "-w", "%{http_version}", "https://localhost:@PORT@/"]);
    assert_eq!(output.succeeded().out, "1.1");
}

#[test]
fn http_1_is_served_beside_http_2_without_tls() {
    let server = serve("");
    assert!(server.text("/p").starts_with("GET HTTP/1.1 http localhost - /p"));
    let mut slow = server.connect();
    // `PRI` is a prefix of both HTTP/2's preface and this HTTP/1 method.
    slow.raw("PRI");
    slow.raw("NT / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(slow.response().text().starts_with("PRINT HTTP/1.1"));
}

#[test]
fn cookies_that_come_one_by_one_are_joined() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    let cookies = [("cookie", "a=1"), ("cookie", "b=2"), ("cookie", "c=3; d=4")];
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &head(&cookies, "/"));
    let answer = raw.until(|frame| frame.kind == super::raw::DATA);
    let text = String::from_utf8_lossy(&answer.payload).into_owned();
    assert!(text.contains(" a=1; b=2; c=3; d=4 "), "{text}");
}

#[test]
fn a_host_that_contradicts_the_authority_is_refused() {
    let server = serve("CustomLog access.log \"%s %r\"");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &head(&[("host", "other")], "/contradicts"));
    raw.until(|frame| frame.is_head_of(1));
    raw.send(HEADERS, END_HEADERS | END_STREAM, 3, &head(&[("host", "localhost")], "/agrees"));
    raw.until(|frame| frame.is_head_of(3));
    until("both are logged", || server.site.read("access.log").lines().count() == 2);
    assert_eq!(server.site.read("access.log"), "400 GET /contradicts HTTP/2.0\n200 GET /agrees HTTP/2.0\n");
}

/// A case: the logged line, the method, further fields.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

#[test]
fn requests_refused_in_http_1_are_refused_in_http_2() {
    let server = serve("CustomLog access.log \"%s %{what}i\"");
    let long = "G".repeat(33);
    let cases: [Case<'_>; 6] = [
        ("501 method", &long, &[]),
        ("400 lengths", "POST", &[("content-length", "0"), ("content-length", "0")]),
        ("400 before", "GET", &[("a", " b")]),
        ("400 behind", "GET", &[("a", "b\t")]),
        ("200 within", "GET", &[("a", "b\t c"), ("empty", "")]),
        ("400 user", "GET", &[("host", "user@localhost")]),
    ];
    for (expected, method, more) in cases {
        let what = expected.split_once(' ').expect("a name").1;
        let head: Vec<u8> = [(":method", method), (":scheme", "http"), (":path", "/"), ("what", what)]
            .iter()
            .chain(more)
            .chain(if what == "user" { &[][..] } else { &[("host", "localhost")][..] })
            .flat_map(|(name, value)| super::raw::literal(name, value))
            .collect();
        let mut raw = Raw::open(&server, &[]);
        raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &head);
        raw.until(|frame| frame.is_head_of(1));
        until(expected, || server.site.read("access.log").lines().any(|line| line == expected));
    }
}

#[test]
fn a_body_that_never_comes_is_waited_for_as_long_as_in_http_1() {
    let server = serve("Timeout 300ms\nCustomLog access.log \"%s %U\"");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_HEADERS, 1, &head(&[("content-length", "5")], "/never"));
    raw.until(|frame| frame.is_head_of(1));
    until("the request is logged", || server.site.read("access.log") == "408 /never\n");
    let mut half = Raw::open(&server, &[]);
    half.send(HEADERS, END_STREAM, 1, &head(&[], "/half"));
    while half.next().is_some() {}
}

#[test]
fn headers_about_the_connection_make_a_request_malformed_and_are_never_sent() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &head(&[("connection", "close")], "/"));
    assert_eq!(raw.until(|frame| frame.kind == RST_STREAM).stream, 1);
    let answer = curl(&server, &[PRIOR, "-i", "http://localhost:@PORT@/"]).succeeded().out;
    assert!(answer.starts_with("HTTP/2 200") && answer.contains("date: "), "{answer}");
    assert!(!answer.to_lowercase().contains("connection:"), "{answer}");
}

#[test]
fn limits_on_requests_hold_as_for_http_1() {
    let server = serve("LimitRequestLine 200\nLimitRequestFields 10\nLimitRequestBody 100\nCustomLog access.log %s");
    let status = |arguments: &[&str]| {
        let arguments = [&[PRIOR, "-o", "/dev/null", "-w", "%{http_code}"], arguments].concat();
        curl(&server, &arguments).out
    };
    assert_eq!(status(&["http://localhost:@PORT@/"]), "200");
    assert_eq!(status(&[&format!("http://localhost:@PORT@/{}", "x".repeat(300))]), "414");
    let many: Vec<String> = (0..20).map(|n| format!("X-{n}: v")).collect();
    let many: Vec<&str> = many.iter().flat_map(|field| ["-H", field]).collect();
    assert_eq!(status(&[&many[..], &["http://localhost:@PORT@/"]].concat()), "431");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_HEADERS, 1, &head(&[("content-length", "101")], "/"));
    raw.until(|frame| frame.is_head_of(1));
    until("a body over its limit is a 413", || server.site.read("access.log").ends_with("413\n"));
}

#[test]
fn a_client_that_expects_100_continue_gets_it() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    raw.send(HEADERS, END_HEADERS, 1, &head(&[("expect", "100-continue")], "/"));
    raw.until(|frame| frame.is_head_of(1));
    raw.send(super::raw::DATA, END_STREAM, 1, b"hello");
    raw.until(|frame| frame.is_head_of(1));
    let answer = raw.until(|frame| frame.kind == super::raw::DATA);
    assert!(answer.payload.ends_with(b" 5"), "{answer:?}");
}

#[test]
fn early_hints_are_sent_before_the_answer() {
    let app = r#"sub { my $e = shift; $e->{'psgix.informational'}->(103, ['Link', '</a.css>; rel=preload']); [200, [], ['late']] }"#;
    let server = super::site()
        .file("hints.psgi", app)
        .serve("Protocols h2c http/1.1\n<Location />\nPsgiApp hints.psgi\n</Location>");
    let output = curl(&server, &[PRIOR, "-i", "http://localhost:@PORT@/"]).succeeded().out;
    let (hint, answer) = output.split_once("HTTP/2 200").expect("an answer");
    assert!(hint.starts_with("HTTP/2 103") && hint.contains("</a.css>"), "{output}");
    assert!(answer.ends_with("late"), "{output}");
}

#[test]
fn a_head_request_has_the_length_and_no_body() {
    let server = super::site().file("htdocs/a.txt", "hello\n").serve("Protocols h2c http/1.1");
    let output = curl(&server, &[PRIOR, "-I", "http://localhost:@PORT@/a.txt"]).succeeded().out;
    assert!(output.contains("content-length: 6"), "{output}");
    let output = curl(&server, &[PRIOR, "-i", "http://localhost:@PORT@/a.txt"]).succeeded().out;
    assert!(output.contains("content-length: 6") && output.ends_with("hello\n"), "{output}");
    let server = serve("");
    let output = curl(&server, &[PRIOR, "-I", "http://localhost:@PORT@/die"]).out;
    assert!(
        output.starts_with("HTTP/2 200") && !output.contains("content-length"),
        "nobody knows how long it is: {output}"
    );
}

/// RFC 9110, 8.6: no Content-Length where content is impossible, whatever the program sets.
#[test]
fn a_head_request_for_what_has_no_content_has_no_length() {
    let app = "sub { my ($s) = $_[0]{PATH_INFO} =~ /(\\d+)/; [$s, [$_[0]{QUERY_STRING} ? ('Content-Length', 5) : ()], ['hello']] }";
    let site = super::site().file("app.psgi", app).file("htdocs/files/a.txt", "hello\n");
    let server = site.serve(
        "Protocols h2c http/1.1\n<Location />\nPsgiApp app.psgi\n</Location>\n<Location /files>\nSetHandler default-handler\n</Location>",
    );
    let known = server.send(Request::new("HEAD", "/files/a.txt")).header("etag").expect("a file has one");
    let condition = format!("If-None-Match: {known}");
    for version in [PRIOR, "--http1.1"] {
        for (path, status) in [("204", 204), ("204?5", 204), ("304", 304), ("304?5", 304), ("files/a.txt", 304)] {
            for method in ["HEAD", "GET"] {
                let url = format!("http://localhost:@PORT@/{path}");
                let mut arguments = vec![version, "-i", "-H", &condition, &url];
                if method == "HEAD" {
                    arguments.push("-I");
                }
                let output = curl(&server, &arguments).succeeded().out.to_ascii_lowercase();
                assert!(
                    output.lines().next().is_some_and(|line| line.contains(&status.to_string())),
                    "{version} {method} {path}: {output}"
                );
                assert!(
                    !output.contains("content-length") && !output.contains("hello"),
                    "{version} {method} {path}: {output}"
                );
            }
        }
    }
}

/// Program: `/fine` is correct; other paths announce 3 bytes and send more: `/whole` immediately, the others 3 bytes,
/// and 3 more after `go` exists.
const MORE: &str = r#"sub {
    return [200, [], ['fine']] if $_[0]{PATH_INFO} eq '/fine';
    return [200, ['Content-Length', 3], ['abcdef']] if $_[0]{PATH_INFO} eq '/whole';
    sub {
        my $out = $_[0]->([200, ['Content-Length', 3]]);
        $out->write('abc');
        select undef, undef, undef, 0.01 until -e '@DIR@/go';
        $out->write('def');
        $out->close;
    }
}"#;

#[test]
fn a_body_that_is_longer_than_was_promised_resets_its_stream_alone() {
    let server = super::site()
        .file("more.psgi", MORE)
        .serve("Protocols h2c http/1.1\n<Location />\nPsgiApp more.psgi\n</Location>");
    let mut raw = Raw::open(&server, &[]);
    let data = |stream: u32| move |frame: &Frame| frame.kind == DATA && frame.stream == stream;
    for (stream, path) in [(1, "/late"), (3, "/whole")] {
        raw.get(stream, path);
        let promised = raw.until(data(stream));
        assert_eq!((&promised.payload[..], promised.flags & END_STREAM), (&b"abc"[..], 0), "{path}");
        server.site.write("go", "");
        let next = raw.until(|frame| frame.stream == stream);
        assert_eq!((next.kind, next.reason()), (RST_STREAM, INTERNAL_ERROR), "{path}");
        server.logged(&format!(
            "{path}: the body is longer than its Content-Length: 3 bytes were announced, 6 bytes arrived"
        ));
    }
    raw.get(5, "/fine");
    assert_eq!(raw.until(data(5)).payload, b"fine");
}

/// The front is stopped meanwhile, so the hundred requests of one packet and another client's request arrive together.
#[test]
fn a_hundred_requests_of_one_connection_let_others_in_between() {
    let server = serve(
        "CustomLog access.log %U\nMaxKeepAliveRequests 0\n<Location /files>\nSetHandler default-handler\n</Location>",
    );
    let front = server.status()["front_pid"].as_i64().expect("the front has a number") as i32;
    let mut crowd = Raw::open(&server, &[]);
    crowd.get(1, "/files/first");
    crowd.until(|frame| frame.is_head_of(1));
    signal(front, Signal::SIGSTOP);
    let requests = (0..99).map(|n| frame(HEADERS, END_HEADERS | END_STREAM, 2 * n + 3, &head(&[], "/files/crowd")));
    crowd.flood(&requests.collect::<Vec<_>>().concat(), 1);
    let mut other = server.connect();
    other.raw("GET /files/other HTTP/1.1\r\nHost: localhost\r\n\r\n");
    signal(front, Signal::SIGCONT);
    assert_eq!(other.response().status, 404);
    let logged = || server.site.read("access.log").lines().map(str::to_owned).collect::<Vec<_>>();
    until("all are logged", || logged().len() == 101);
    let before = logged().iter().position(|line| line == "/files/other").expect("it is logged");
    assert!(before < 80, "{before} of the others' 100 were answered before");
}

#[test]
fn rules_see_all_cookies_of_a_client() {
    let server = serve(
        "SetEnvIf Cookie \"^a=1; b=2$\" both\nSetEnvIf Cookie banned banned\n<Location /both>\nRequire env both\n</Location>\n\
         <Location /forum>\n<RequireAll>\nRequire all granted\nRequire not env banned\n</RequireAll>\n</Location>",
    );
    for (path, cookies, is_refused) in [
        ("/both", ["a=1", "b=2"], false),
        ("/both", ["b=2", "a=1"], true),
        ("/forum", ["a=1", "banned"], true),
        ("/forum", ["banned", "a=1"], true),
        ("/forum", ["a=1", "b=2"], false),
    ] {
        let mut raw = Raw::open(&server, &[]);
        raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &head(&cookies.map(|cookie| ("cookie", cookie)), path));
        assert_eq!(raw.refuses(1), is_refused, "{path} {cookies:?}");
    }
}
