//! Responses of applications, and the bytes that the server sends for them.

use crate::support::{Connection, Request, Server, Site};

/// An application with a malformed response at each path.
const APP: &str = r#"
my %answers = (
    '/long'    => [200, ['Content-Length', 3], ['abcdef']],
    '/longer'  => [200, ['Content-Length', 3], ['abc', 'def']],
    '/short'   => [200, ['Content-Length', 30], ['abcdef']],
    '/none'    => [204, [], ['a body']],
    '/same'    => [304, ['Content-Length', 6], ['a body']],
    '/split'   => [200, ['X-A', "a\r\nSet-Cookie: stolen=1"], ['x']],
    '/lf'      => [200, ['X-A', "a\nb"], ['x']],
    '/zero'    => [200, ['X-A', "a\0b"], ['x']],
    '/name'    => [200, ["X-A\r\nX-B: c", 'd'], ['x']],
    '/type'    => [200, ['Content-Type', "text/html\r\nX-B: c"], ['x']],
    '/place'   => [302, ['Location', "/\r\nSet-Cookie: stolen=1"], []],
    '/lengths' => [200, ['Content-Length', '3, 3'], ['abc']],
    '/minus'   => [200, ['Content-Length', '-3'], ['abc']],
);
sub {
    my $path = $_[0]{PATH_INFO};
    return $answers{$path} if $answers{$path};
    return [200, [], ['fine']] if $path ne '/dies';
    return sub { my $out = $_[0]->([200, ['Content-Type', 'text/plain']]); $out->write("first,\n"); die "in the middle\n" };
}
"#;

fn serve() -> Server {
    let app = "<Location />\nPsgiApp app.psgi\n</Location>\nCustomLog access.log \"%U %>s %X\"\n";
    Site::new().file("app.psgi", APP).serve(app)
}

/// All bytes until the server closes the connection: the response, and the response to `/next` if the connection
/// persists.
fn bytes_of(server: &Server, method: &str, path: &str) -> String {
    let mut connection = server.connect();
    connection.raw(format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    ));
    String::from_utf8_lossy(&connection.rest()).into_owned()
}

/// The bytes after the head of the first response.
fn after_head(bytes: &str) -> &str {
    bytes.split_once("\r\n\r\n").expect("a head").1
}

#[test]
fn answers_without_a_body_have_not_a_byte_of_one() {
    let server = serve();
    for (method, path, status) in [
        ("HEAD", "/", 200),
        ("HEAD", "/long", 200),
        ("GET", "/none", 204),
        ("GET", "/same", 304),
        ("HEAD", "/none", 204),
    ] {
        let bytes = bytes_of(&server, method, path);
        assert!(bytes.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {bytes}");
        assert!(after_head(&bytes).starts_with("HTTP/1.1 200 OK\r\n"), "{method} {path}: {bytes}");
        assert!(bytes.ends_with("\r\n\r\nfine"), "{method} {path}: {bytes}");
    }
}

#[test]
fn a_body_that_is_longer_than_was_promised_ends_the_connection() {
    let server = serve();
    for path in ["/long", "/longer"] {
        let bytes = bytes_of(&server, "GET", path);
        assert_eq!(after_head(&bytes), "abc", "{path}");
        assert!(
            server.logged(path).ends_with(&format!(
                "{path}: the body is longer than its Content-Length: 3 bytes were announced, 6 bytes arrived so far"
            )),
            "{path}"
        );
    }
}

#[test]
fn a_body_that_is_shorter_than_was_promised_ends_the_connection() {
    let server = serve();
    let bytes = bytes_of(&server, "GET", "/short");
    assert_eq!(after_head(&bytes), "abcdef");
    assert_eq!(bytes.to_lowercase().matches("content-length: 30\r\n").count(), 1, "{bytes}");
}

#[test]
fn a_body_that_breaks_off_has_no_last_chunk() {
    let server = serve();
    let bytes = bytes_of(&server, "GET", "/dies");
    assert_eq!(after_head(&bytes), "7\r\nfirst,\n\r\n");
    server.logged("in the middle");
    let mut old = server.connect();
    old.raw("GET /dies HTTP/1.0\r\n\r\n");
    assert!(String::from_utf8_lossy(&old.rest()).ends_with("first,\n"));
}

#[test]
fn line_ends_in_an_applications_headers_are_a_500() {
    let server = serve();
    for path in ["/split", "/lf", "/zero", "/name", "/type", "/place", "/lengths", "/minus"] {
        let response = server.get(path).is(500);
        assert_eq!(response.header("set-cookie").or(response.header("x-b")), None, "{path}: {response:?}");
        server.logged(path);
    }
    assert_eq!(server.text("/"), "fine");
}

#[test]
fn line_ends_in_a_handlers_headers_are_a_500() {
    let server = Site::new()
        .file(
            "lib/Bad.pm",
            "package Bad; use Apache::Constants qw(OK REDIRECT FORBIDDEN); sub handler { my $r = shift; my $bad = \"a\\r\\nSet-Cookie: stolen=1\"; \
             for ($r->path_info) { \
             /out/ and $r->header_out('X-A', $bad); /err/ and $r->err_header_out('X-A', $bad); /type/ and $r->content_type($bad); \
             if (/redirect/) { $r->header_out(Location => \"http://b/$bad\"); return REDIRECT } \
             if (/refuse/) { $r->err_header_out('X-A', $bad); return FORBIDDEN } } \
             $r->send_http_header; $r->print('body'); OK } 1;",
        )
        .serve("PerlLib lib\nPerlModule Bad\n<Location /bad>\nSetHandler perl-script\nPerlHandler Bad\n</Location>");
    for path in ["/bad/out", "/bad/err", "/bad/type", "/bad/redirect", "/bad/refuse"] {
        let response = server.get(path).is(500);
        assert_eq!(response.header("set-cookie"), None, "{path}: {response:?}");
    }
    server.get("/bad").is(200);
}

#[test]
fn pages_of_errors_show_nothing_of_the_request_as_it_came() {
    let server = Site::new().file("htdocs/dir/index.html", "x").serve(
        "Redirect /old http://b.example/new\n<Location /secret>\nOrder Allow,Deny\n</Location>\nServerAdmin \"a<b>@c\"",
    );
    let tag = "%3Cscript%3Ealert(1)%3C/script%3E";
    for (path, status) in [
        (format!("/{tag}"), 404),
        (format!("/{tag}?<script>"), 404),
        (format!("/<script>{tag}"), 404),
        (format!("/{tag}%zz"), 400),
        (format!("/secret/{tag}"), 403),
        (format!("/old/{tag}%22%27"), 302),
        (format!("/dir?{tag}"), 301),
        ("/old/%0d%0aSet-Cookie:%20a=b".to_owned(), 302),
    ] {
        let mut connection = server.connect();
        connection
            .raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nReferer: <script>\r\n\r\n"));
        let response = connection.response().is(status);
        let page = response.text();
        assert!(!page.contains("<script") && !page.contains("@DIR@") && !page.contains("htdocs"), "{path}: {page}");
        assert_eq!(response.header("set-cookie"), None, "{path}: {response:?}");
        assert_eq!(response.header("server").as_deref(), Some("Cameleer"), "{path}: no version, no system");
    }
}

#[test]
fn an_error_page_does_not_reveal_the_error_message() {
    let server = Site::new()
        .file("lib/Die.pm", "package Die; sub handler { die qq(secret reason <b>) } 1;")
        .file("die.psgi", "sub { die qq(secret reason <b>) }")
        .serve(
            "PerlLib lib\nPerlModule Die\n<Location /handler>\nSetHandler perl-script\nPerlHandler Die\n</Location>\n\
             <Location /psgi>\nPsgiApp die.psgi\n</Location>",
        );
    for path in ["/handler", "/psgi"] {
        let page = server.get(path).is(500).text();
        for detail in ["secret", "<b>", "Die.pm", "die.psgi", " line ", &*server.site.folder().to_string_lossy()] {
            assert!(!page.contains(detail), "{path}: {detail}: {page}");
        }
    }
    server.logged("secret reason");
}

#[test]
fn a_client_cannot_forge_a_line_of_the_error_log() {
    let server = Site::new().serve("<Location /secret>\nOrder Allow,Deny\n</Location>");
    server.get("/secret/%0a%5bforged%5d%20%1b%22%7f").is(403);
    let line = server.logged("client denied");
    assert!(line.ends_with(r#"/secret/\n[forged] \x1b"\x7f: client denied by server configuration"#), "{line}");
}

#[test]
fn a_thousand_ranges_and_ranges_over_one_another_are_the_whole_file() {
    let server = Site::new().file("htdocs/a.txt", &"0123456789".repeat(1000)).serve("");
    let ranges = |text: String| server.send(Request::get("/a.txt").header("Range", &text));
    let thousand = (0..1000).map(|n| format!("{n}-{n}")).collect::<Vec<_>>().join(",");
    for text in [format!("bytes={thousand}"), format!("bytes={}", vec!["0-"; 90].join(","))] {
        assert_eq!(ranges(text).is(200).body.len(), 10_000);
    }
    let so_many = |count: u32| (0..count).map(|n| format!("{0}-{0}", 2 * n)).collect::<Vec<_>>().join(",");
    let parts = ranges(format!("bytes={}", so_many(200))).is(206).text();
    assert_eq!(parts.matches("Content-Range: bytes ").count(), 200);
    assert_eq!(ranges(format!("bytes={}", so_many(201))).is(200).body.len(), 10_000);
    for (first, others) in [("9-10", "10-11"), ("1000-1000", "999-999")] {
        let alternating = |pairs: usize| vec![format!("{first},{others}"); pairs].join(",");
        ranges(format!("bytes={}", alternating(10))).is(206);
        ranges(format!("bytes={}", alternating(30))).is(200);
    }
    ranges("bytes=99999999999999999999-".to_owned()).is(416);
    assert_eq!(ranges("bytes=-18446744073709551616".to_owned()).is(206).body.len(), 10_000);
}

#[test]
fn max_ranges_limits_the_ranges_of_a_response() {
    let server = Site::new().file("htdocs/a.txt", "0123456789").file("htdocs/none/a.txt", "0123456789").serve(
        "MaxRanges 2\nMaxRangeOverlaps none\nMaxRangeReversals none\n<Location /none>\nMaxRanges none\n</Location>",
    );
    let ask = |path: &str, ranges: &str| server.send(Request::get(path).header("Range", &format!("bytes={ranges}")));
    for (ranges, status) in [("0-0,2-2", 206), ("0-0,2-2,4-4", 200), ("0-1,1-2", 200), ("4-4,2-2", 200), ("-1", 206)] {
        let response = ask("/a.txt", ranges).is(status);
        assert_eq!(response.header("accept-ranges").as_deref(), Some("bytes"), "{ranges}");
    }
    let whole = ask("/none/a.txt", "0-0").is(200);
    assert_eq!((whole.header("accept-ranges").as_deref(), whole.text().as_str()), (Some("none"), "0123456789"));
}

#[test]
fn a_refused_request_gets_an_error_page_and_is_in_both_logs() {
    let server = serve();
    let mut connection: Connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: a\r\nBad : x\r\n\r\n");
    let refused = connection.response().is(400);
    connection.is_closed();
    let usual = server.send(Request::get("/%zz")).is(400);
    assert_eq!(refused.text(), usual.text());
    for name in ["server", "content-type", "connection", "content-length"] {
        assert_eq!(refused.header(name), usual.header(name), "{name}");
    }
    assert!(server.logged("cannot be read").contains("a header field with an invalid name"));
    crate::support::until("the access log has it", || server.site.read("access.log").contains("400 -"));
}

#[test]
fn a_client_that_continues_to_send_can_read_the_refusal() {
    let server = serve();
    let mut connection = server.connect();
    connection.raw("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n");
    // More bytes than the socket buffers hold. A closed socket would answer them with a reset.
    let more = vec![b'x'; 1024 * 1024];
    (0..16).for_each(|_| connection.send_if_heard(&more));
    connection.response().is(400);
}
