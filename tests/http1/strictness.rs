//! Strictness towards clients: mod/core.html

use crate::support::{Request, serve_echo_script as serve};

fn from(host: &str) -> Request {
    Request::get("/plain.txt").header("Host", host)
}

/// core.html#stricthostcheck: "400 if the requested hostname hasn't been explicitly listed by either ServerName or
/// ServerAlias in the virtual host that best matches the details of the incoming connection".
#[test]
fn a_name_that_no_host_has_is_refused_where_that_is_wanted() {
    let server = serve(
        "StrictHostCheck On\n<VirtualHost *>\nServerName one.example\nServerAlias *.one.example\n</VirtualHost>\n\
         <VirtualHost *>\nServerName two.example\n</VirtualHost>",
    );
    for known in ["one.example", "ONE.example:80", "a.one.example", "two.example", "two.example."] {
        assert_eq!(server.send(from(known)).status, 200, "{known}");
    }
    for unknown in ["other.example", "127.0.0.1", "localhost"] {
        assert_eq!(server.send(from(unknown)).status, 400, "{unknown}");
    }
    server.logged("StrictHostCheck");
    let server = serve("StrictHostCheck On");
    server.send(from("localhost")).is(200);
    server.send(from("other.example")).is(400);
    serve("").send(from("other.example")).is(200);
}

/// core.html#httpprotocoloptions: RegisteredMethods, "any method not registered will be answered 501";
/// core.html#registerhttpmethod.
#[test]
fn a_method_that_nobody_has_registered_is_not_implemented() {
    let script = "/cgi-bin/tell.cgi";
    let server = serve("HttpProtocolOptions Strict RegisteredMethods Require1.0\nRegisterHttpMethod FROB");
    server.send(Request::new("NONSENSE", script)).is(501);
    server.send(Request::new("FROB", script)).is(200);
    server.send(Request::new("PROPFIND", script)).is(200);
    serve("").send(Request::new("NONSENSE", script)).is(200);
}

/// `Unsafe` and `Allow0.9` are accepted with a warning, and do not loosen the parser.
#[test]
fn http_protocol_options_unsafe_does_not_change_the_parser() {
    let server = serve("HttpProtocolOptions Unsafe Allow0.9\nTraceEnable extended");
    let mut connection = server.connect();
    connection.raw("GET /plain.txt HTTP/1.1\nHost: localhost\n\n");
    connection.response().is(400);
    server.send(Request::new("TRACE", "/plain.txt")).is(405);
    server.logged("Unsafe has no effect");
}

/// RFC 9110, 2.5: "A recipient that receives a message with a major version number that it implements and a minor
/// version number higher than what it implements SHOULD process the message as if it was in the highest minor version"
/// of that major.
#[test]
fn http_1_2_is_answered_as_1_1() {
    let server = serve("");
    let mut connection = server.connect();
    for _ in 0..2 {
        connection.raw("GET /plain.txt HTTP/1.2\r\nHost: localhost\r\n\r\n");
        assert_eq!(connection.response().is(200).text(), "plain\n");
    }
    connection.raw("GET /plain.txt HTTP/2.1\r\nHost: localhost\r\n\r\n");
    connection.response().is(505);
}

/// core.html#limitrequestfieldsize; httpd 2.4 applies the limit to all fields of one name together ("after merging").
#[test]
fn repeated_fields_count_together() {
    let server = serve("LimitRequestFieldSize 200");
    let ask = |a: usize, b: usize| {
        let request = Request::get("/plain.txt").header("X-A", &"a".repeat(a)).header("x-a", &"b".repeat(b));
        server.send(request.header("X-B", &"c".repeat(150))).status
    };
    assert_eq!((ask(100, 90), ask(150, 150)), (200, 431));
}

/// core.html#limitrequestbody: "the total size of the HTTP request message body allowed"; the limit applies to files,
/// too, and is checked before a 405.
#[test]
fn a_body_that_is_too_long_is_refused_where_files_are_too() {
    let server =
        serve("Options +Indexes\n<Location /plain.txt>\nLimitRequestBody 10\n</Location>\nLimitRequestBody 12");
    server.post("/plain.txt", "01234567890").is(413);
    server.post("/plain.txt", "0123456789").is(405);
    server.post("/none", "0123456789012").is(413);
    server.post("/none", "0123456789").is(404);
    let mut connection = server.connect();
    connection.raw("POST /plain.txt HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n");
    connection.response().is(413);
}
