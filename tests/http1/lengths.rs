//! Bodies whose length differs from their Content-Length, detected after the promised bytes were sent.

use crate::support::{Connection, Request, Server, Site};

/// A handler whose paths announce 3 bytes, send 3, wait for `go`, and send more.
const HANDLER: &str = r#"package More; use Apache::Constants qw(OK);
sub handler {
    my $r = shift;
    $r->header_out('Content-Length', 3);
    $r->send_http_header('text/plain');
    return OK if $r->header_only;
    $r->print('abc');
    $r->rflush;
    select undef, undef, undef, 0.01 until -e '@DIR@/go';
    return OK if $r->uri =~ /just/;
    $r->print('def');
    $r->rflush;
    return OK unless $r->uri =~ /endless/;
    select undef, undef, undef, 0.01 until $r->connection->aborted;
    open my $told, '>', '@DIR@/told' or die;
    OK
}
1;"#;
const SCRIPT: &str = r#"#!/usr/bin/perl
$| = 1;
print "Content-Type: text/plain\nContent-Length: 3\n\n";
print 'abc';
select undef, undef, undef, 0.01 until -e '@DIR@/go';
print 'def';
"#;
const APP: &str = r#"
my %lengths = ('/none' => 0, '/short' => 9, '/long' => 1000);
sub {
    my $path = $_[0]{PATH_INFO};
    return [200, [], ['fine']] if $path eq '/fine';
    my ($status) = $path =~ /(204|304)/;
    my @parts = $path eq '/long' ? ('x' x 600, 'y' x 600) : ('abc', 'def');
    sub {
        my $out = $_[0]->([$status // 200, ['Content-Type', 'text/plain', 'Content-Length', $lengths{$path} // 3]]);
        $out->write($parts[0]);
        select undef, undef, undef, 0.01 until -e '@DIR@/go';
        $out->write($parts[1]);
        $out->close;
    }
}"#;

fn serve(conf: &str) -> Server {
    let places = "PerlLib lib\nPerlModule More\n<Location /handler>\nSetHandler perl-script\nPerlHandler More\n</Location>\n\
         <Location /script.pl>\nSetHandler perl-script\nPerlHandler Apache::Registry\nOptions ExecCGI\nPerlSendHeader On\n</Location>\n\
         <Location /app>\nPsgiApp app.psgi\n</Location>\nCustomLog access.log \"%U %>s %b %X\"\nMaxClients 4\nKeepAliveTimeout 100\n";
    Site::new()
        .file("lib/More.pm", HANDLER)
        .file("app.psgi", APP)
        .script("htdocs/script.pl", SCRIPT)
        .serve(&format!("{places}{conf}"))
}

/// A connection that has received the promised bytes of `path`, while the program still runs.
#[track_caller]
fn served(server: &Server, path: &str) -> Connection {
    let mut connection = server.connect();
    let response = connection.ask(Request::get(path)).is(200);
    assert_eq!((response.text().as_str(), response.header("connection")), ("abc", None), "{path}");
    connection
}

#[test]
fn bytes_after_the_content_length_end_the_connection_and_are_logged() {
    let server = serve("");
    let paths = ["/handler", "/script.pl", "/app"];
    let mut connections: Vec<_> = paths.iter().map(|path| served(&server, path)).collect();
    server.site.write("go", "");
    for (path, connection) in paths.iter().zip(&mut connections) {
        assert_eq!(connection.rest(), b"", "{path}");
        let line = server.logged(&format!("{path}: the body is longer than its Content-Length"));
        assert!(line.ends_with("3 bytes were announced, 6 bytes arrived so far"), "{line}");
        let logged = format!("{path} 200 3 -\n");
        crate::support::until("the access log has it", || server.site.read("access.log").contains(&logged));
    }
}

#[test]
fn a_content_length_of_0_is_compared_with_the_body() {
    let server = serve("");
    let mut connection = server.connect();
    assert_eq!(connection.ask(Request::get("/app/none")).is(200).text(), "");
    assert_eq!(connection.rest(), b"");
    server.logged(
        "/app/none: the body is longer than its Content-Length: 0 bytes were announced, 3 bytes arrived so far",
    );
    server.site.write("go", "");
}

#[test]
fn a_response_of_the_right_length_keeps_the_connection_while_the_program_continues() {
    let server = serve("");
    let mut connection = served(&server, "/handler/just");
    assert_eq!(connection.ask(Request::get("/app/fine")).text(), "fine");
    server.site.write("go", "");
    crate::support::until("both are logged", || server.site.read("access.log").lines().count() == 2);
    assert!(server.site.read("access.log").contains("/handler/just 200 3 +\n"));
    assert_eq!(connection.ask(Request::get("/app/fine")).text(), "fine");
}

#[test]
fn a_request_that_came_meanwhile_has_its_answer_before_the_end() {
    let server = serve("");
    let mut connection = served(&server, "/handler");
    connection.raw("GET /app/fine HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(connection.response().text(), "fine");
    server.site.write("go", "");
    assert_eq!(connection.rest(), b"");
}

#[test]
fn a_program_that_exceeds_its_content_length_is_notified() {
    let server = serve("");
    let mut connection = served(&server, "/handler/endless");
    server.site.write("go", "");
    assert_eq!(connection.rest(), b"");
    crate::support::until("the program is told", || server.site.has("told"));
}

#[test]
fn the_length_of_a_response_without_a_body_is_not_compared() {
    let server = serve("");
    server.site.write("go", "");
    for (method, path) in [("HEAD", "/handler"), ("HEAD", "/app"), ("GET", "/app/204"), ("GET", "/app/304")] {
        let mut connection = server.connect();
        connection.raw(format!("{method} {path} HTTP/1.1\r\nHost: a\r\n\r\nGET /app/fine HTTP/1.1\r\nHost: a\r\n\r\n"));
        connection.head();
        assert_eq!(connection.response().is(200).text(), "fine", "{method} {path}");
        assert_eq!(connection.ask(Request::get("/app/fine")).text(), "fine", "{method} {path}");
    }
    assert!(!server.log().contains("Content-Length"), "{}", server.log());
}

#[test]
fn a_compressed_body_that_is_longer_than_was_promised_has_no_end() {
    let server = serve("AddOutputFilterByType DEFLATE text/plain\n");
    let mut connection = server.connect();
    connection.raw("GET /app/long HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
    assert_eq!(connection.head().header("content-encoding").as_deref(), Some("gzip"));
    assert!(!connection.chunk().is_empty());
    server.site.write("go", "");
    let rest = connection.rest();
    assert!(!rest.ends_with(b"0\r\n\r\n"), "{rest:?}");
    server
        .logged("/app/long: the body is longer than its Content-Length: 1000 bytes were announced, 1200 bytes arrived");
}

#[test]
fn a_body_that_is_shorter_than_was_promised_is_logged() {
    let server = serve("");
    server.site.write("go", "");
    let mut connection = server.connect();
    connection.raw("GET /app/short HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(connection.head().header("content-length").as_deref(), Some("9"));
    assert_eq!(connection.rest(), b"abcdef");
    let line = server.logged("/app/short: the body is shorter than its Content-Length");
    assert!(line.ends_with("9 bytes were announced, 6 bytes arrived"), "{line}");
}
