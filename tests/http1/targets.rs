//! Every byte in a target, raw and percent-encoded, in path and query, over both protocols. The expected statuses are
//! those of httpd with default settings. `targets/compare.py` makes the table; `compare.py PORT` queries another
//! server.

use std::collections::BTreeMap;
use std::path::Path;

use crate::http2::raw::{DATA, END_HEADERS, END_STREAM, HEADERS, PROTOCOL_ERROR, Raw, head};
use crate::support::{Server, Site};

/// The expected status of each byte, by protocol, place and form.
fn table() -> BTreeMap<String, BTreeMap<u8, u16>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http1/targets/expected.txt");
    let text = std::fs::read_to_string(path).expect("the table");
    let mut rows: BTreeMap<String, BTreeMap<u8, u16>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [protocol, place, form, status, bytes] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let row = rows.entry(format!("{protocol} {place} {form}")).or_default();
        for span in bytes.split(',') {
            let (first, last) = span.split_once('-').unwrap_or((span, span));
            let byte = |hex| u8::from_str_radix(hex, 16).expect("a byte");
            row.extend((byte(first)..=byte(last)).map(|byte| (byte, status.parse::<u16>().expect("a status"))));
        }
    }
    assert!(rows.len() == 8 && rows.values().all(|row| row.len() == 255), "{rows:?}");
    rows
}

/// A target with `byte` at `place`, written in `form`.
fn target(place: &str, form: &str, byte: u8) -> Vec<u8> {
    let written = if form == "raw" { vec![byte] } else { format!("%{byte:02X}").into_bytes() };
    let before = if place == "path" { &b"/a"[..] } else { b"/a?x=" };
    [before, &written, b"b"].concat()
}

fn serve(conf: &str) -> Server {
    let site = Site::new().file("htdocs/a.txt", "a\n").file(
        "app.psgi",
        "sub { my $e = shift; [200, ['Content-Type', 'text/plain'], [join '|', map { unpack 'H*', $_ } @$e{qw(PATH_INFO QUERY_STRING REQUEST_URI)}]] }",
    );
    site.serve(&format!(
        "Protocols h2c http/1.1\n<Location /psgi>\nPsgiApp app.psgi\n</Location>\n\
         AliasMatch \"(?s)^/a.*$\" @DIR@/htdocs/a.txt\n{conf}"
    ))
}

fn ask(server: &Server, target: &[u8]) -> crate::support::Response {
    let mut connection = server.connect();
    connection.raw([b"GET ", target, b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"].concat());
    connection.response()
}

#[test]
fn each_byte_is_answered_as_by_httpd() {
    let server = serve("");
    for (name, row) in table().iter().filter(|(name, _)| name.starts_with("http/1")) {
        let [_, place, form] = name.split(' ').collect::<Vec<_>>()[..] else { panic!("{name}") };
        for (byte, status) in row {
            assert_eq!(ask(&server, &target(place, form, *byte)).status, *status, "{name} {byte:02x}");
        }
    }
}

/// Whether HTTP/2 refuses a raw byte that httpd accepts: the crate h2 resets such a stream before Cameleer sees it.
fn is_refused_by_h2(place: &str, byte: u8) -> bool {
    matches!(byte, b'<' | b'>') || byte == if place == "path" { b'`' } else { b'"' }
}

#[test]
fn each_byte_of_ascii_is_answered_as_by_httpd_over_http_2() {
    let server = serve("");
    for (name, row) in table().iter().filter(|(name, _)| name.starts_with("http/2")) {
        let [_, place, form] = name.split(' ').collect::<Vec<_>>()[..] else { panic!("{name}") };
        for (byte, status) in row.iter().filter(|(byte, _)| form == "encoded" || byte.is_ascii() && **byte != b'#') {
            let mut raw = Raw::open(&server, &[]);
            let target = String::from_utf8(target(place, form, *byte)).expect("ASCII");
            raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &head(&[], &target));
            let is_refused = *status != 200 || form == "raw" && is_refused_by_h2(place, *byte);
            assert_eq!(raw.refuses(1), is_refused, "{name} {byte:02x}");
        }
    }
}

/// The table is documented in docs/operating/tls.md.
#[test]
fn http_2_treats_invalid_bytes_of_a_target_as_documented() {
    let server = serve("");
    for (target, seen) in [("/psgi/a#b", "2f61||2f707367692f61"), ("/psgi/a?q#b", "2f61|71|2f707367692f613f71")] {
        let mut raw = Raw::open(&server, &[]);
        raw.get(1, target);
        let answer = raw.until(|frame| frame.kind == DATA && frame.stream == 1);
        assert_eq!(String::from_utf8_lossy(&answer.payload), seen, "{target}");
    }
    for target in ["/psgi/\u{1}", "/psgi/a?\u{1}"] {
        let mut raw = Raw::open(&server, &[]);
        let mut fields = head(&[], target);
        fields.iter_mut().filter(|byte| **byte == 1).for_each(|byte| *byte = 0xe9);
        raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &fields);
        assert_eq!(raw.goodbye(), PROTOCOL_ERROR, "{target}");
    }
}

#[test]
fn programs_rules_and_logs_see_the_target_as_it_was_sent() {
    let server = serve(
        "CustomLog access.log \"%r|%q\"\nSetEnvIfExpr \"%{QUERY_STRING} =~ /<script/\" evil\n<Location /psgi/guarded>\n<RequireAll>\nRequire all granted\n\
         Require not env evil\n</RequireAll>\n</Location>\nRewriteEngine On\nRewriteCond %{QUERY_STRING} \"[<]\"\nRewriteRule ^/psgi/gone - [G]\n\
         RewriteCond %{THE_REQUEST} \"`\"\nRewriteRule ^/psgi/shut - [F]",
    );
    let hex = |text: &[u8]| text.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let sent = b"/psgi/a`\xe9\\%5C<?q=\"\xe9\"&<>";
    let body = ask(&server, sent).is(200).text();
    let expected = [&b"/a`\xe9\\\\<"[..], b"q=\"\xe9\"&<>", sent].map(hex).join("|");
    assert_eq!(body, expected);
    ask(&server, b"/psgi/guarded?<script>").is(403);
    ask(&server, b"/psgi/guarded?script").is(200);
    ask(&server, b"/psgi/gone?<").is(410);
    ask(&server, b"/psgi/shut`").is(403);
    crate::support::until("the log has it", || {
        server.site.read("access.log").contains(r#"GET /psgi/a`\xe9\\%5C<?q=\"\xe9\"&<> HTTP/1.1|?q=\"\xe9\"&<>"#)
    });
}

#[test]
fn pipelined_requests_have_their_own_targets() {
    let server = serve("");
    let mut connection = server.connect();
    let one = |target: &[u8]| [b"GET ", target, b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat();
    let targets: [&[u8]; 5] = [b"/psgi/<", b"/psgi/plain", b"/psgi/`?\xff", b"http://a/psgi/>?\"", b"/psgi/last"];
    connection.raw(targets.map(one).concat());
    let hex = |text: &[u8]| text.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (path, query, uri) in [
        (&b"/<"[..], &b""[..], &b"/psgi/<"[..]),
        (b"/plain", b"", b"/psgi/plain"),
        (b"/`", b"\xff", b"/psgi/`?\xff"),
        (b"/>", b"\"", b"http://a/psgi/>?\""),
        (b"/last", b"", b"/psgi/last"),
    ] {
        assert_eq!(connection.response().text(), [path, query, uri].map(hex).join("|"));
    }
}

#[test]
fn strict_refuses_what_must_be_encoded() {
    let server = serve("HttpProtocolOptions Strict");
    for (target, status) in [
        (&b"/a<"[..], 400),
        (b"/a`", 400),
        (b"/a\xe9", 400),
        (b"/a?\"", 400),
        (b"/a\\b", 404),
        (b"/a%5Cb", 404),
        (b"/a%3Cb?%22", 200),
        ("/aé".as_bytes(), 200),
    ] {
        assert_eq!(ask(&server, target).status, status, "{}", target.escape_ascii());
    }
}

/// A page may print its address, so a differently spelt target must not share its cache entry.
#[test]
fn a_cached_response_is_sent_for_the_same_target_only() {
    let server = serve("CacheEnable memory /psgi\nCacheDefaultExpire 60s\nHeader set Cache-Control max-age=60\n");
    let odd = ask(&server, b"/psgi/<b>").is(200).text();
    let plain = ask(&server, b"/psgi/%3Cb%3E").is(200).text();
    assert_ne!(odd, plain);
}
