//! Methods of `$r` that change the response.

use super::serve;
use crate::support::{Request, Response};

/// Serves a handler with the code `body` and requests it once.
#[track_caller]
fn answer(body: &str) -> Response {
    serve(&format!("sub handler {{ my $r = shift; {body} }}")).get("/my")
}

#[test]
fn a_hello_has_its_type_its_text_and_its_length() {
    let response =
        answer("$r->content_type('text/html'); $r->send_http_header; $r->print('hello ', 'world'); OK").is(200);
    assert_eq!(response.header("content-type").as_deref(), Some("text/html"));
    assert_eq!(response.text(), "hello world");
    assert_eq!(response.header("content-length").as_deref(), Some("11"));
}

#[test]
fn headers_out_are_sent_from_every_way_of_setting_them() {
    let response = answer(
        "$r->header_out('X-A' => 1); $r->headers_out->{'X-B'} = 2; $r->headers_out->add('X-C', 3); $r->headers_out->add('X-C', 4);
         $r->headers_out->set('X-D', 'old'); $r->headers_out->set('X-D', 'new'); $r->header_out('X-E' => 'x'); $r->headers_out->unset('X-E');
         $r->send_http_header('text/plain'); OK",
    );
    for (name, value) in
        [("x-a", Some("1")), ("x-b", Some("2")), ("x-c", Some("3, 4")), ("x-d", Some("new")), ("x-e", None)]
    {
        assert_eq!(response.header(name).as_deref(), value, "{name}");
    }
    assert_eq!(response.header("content-type").as_deref(), Some("text/plain"));
}

#[test]
fn err_headers_out_are_sent_with_an_error_and_headers_out_are_not() {
    let response = answer("$r->header_out('X-Plain' => 1); $r->err_header_out('X-Err' => 1); $r->err_headers_out->add('X-Err', 2); NOT_FOUND").is(404);
    assert_eq!(response.header("x-err").as_deref(), Some("1, 2"));
    assert_eq!(response.header("x-plain"), None);
}

#[test]
fn status_and_status_line_are_the_responses() {
    assert_eq!(answer("$r->status(203); $r->send_http_header; $r->print('x'); OK").status, 203);
    let line = answer("$r->status_line('299 Of My Own'); $r->status(299); $r->send_http_header; OK");
    assert_eq!(line.status, 299);
}

#[test]
fn a_status_that_no_answer_has_is_a_500_that_names_the_script_and_its_worker_goes_on() {
    let server = serve(
        "sub handler { my $r = shift; no warnings; $r->status($r->args); return DECLINED if $r->uri =~ /txt/;
             $r->send_http_header('text/plain'); $r->print($$); OK }",
    );
    server.site.write("htdocs/my/page.txt", "a file\n");
    let worker = server.text("/my?200");
    for status in ["999", "0", "abc", "600", "100", "-1", "70000"] {
        for page in ["/my", "/my/page.txt"] {
            server.get(&format!("{page}?{status}")).is(500);
        }
        assert_eq!(server.text("/my?200"), worker, "after {status}");
    }
    assert!(server.logged("a response cannot have the status 999").contains("/htdocs/my"));
}

#[test]
fn reset_content_has_no_page() {
    let response = answer("205").is(205);
    assert_eq!((response.text().as_str(), response.header("content-length").as_deref()), ("", Some("0")));
    let printed = answer("$r->status(205); $r->send_http_header; $r->print('x'); OK").is(205);
    assert_eq!((printed.text().as_str(), printed.header("content-length").as_deref()), ("", Some("0")));
}

#[test]
fn a_returned_status_is_answered_with_an_error_page() {
    for (constant, status) in
        [("NOT_FOUND", 404), ("FORBIDDEN", 403), ("SERVER_ERROR", 500), ("AUTH_REQUIRED", 401), ("410", 410)]
    {
        let response = answer(constant).is(status);
        assert!(!response.body.is_empty(), "{constant} has a page");
    }
}

#[test]
fn a_redirect_has_its_location_header() {
    let response = answer("$r->header_out(Location => 'http://example.org/'); REDIRECT").is(302);
    assert_eq!(response.header("location").as_deref(), Some("http://example.org/"));
}

#[test]
fn print_takes_lists_references_and_the_handle() {
    let text = answer(
        "$r->send_http_header('text/plain'); $r->print('a', 1 + 1); print 'b'; printf '%02d', 3; $r->printf('%s', 'c'); print STDOUT 'd'; $r->print(\\'e'); OK",
    )
    .text();
    assert_eq!(text, "a2b03cde");
}

#[test]
fn write_client_is_print_and_write_takes_length_and_offset() {
    assert_eq!(
        answer("$r->send_http_header; $r->write_client('abc'); $r->write('0123456789', 3, 4); OK").text(),
        "abc456"
    );
}

#[test]
fn output_without_send_http_header_still_has_one() {
    let response = answer("$r->content_type('text/plain'); $r->print('x'); OK").is(200);
    assert_eq!((response.header("content-type").as_deref(), response.text().as_str()), (Some("text/plain"), "x"));
}

#[test]
fn send_cgi_header_takes_status_and_headers_from_text() {
    let response = answer(
        r#"$r->send_cgi_header("Status: 402 Pay\nX-A: 1\nContent-Type: text/plain\n\n"); $r->print('page'); OK"#,
    )
    .is(402);
    assert_eq!((response.header("x-a").as_deref(), response.text().as_str()), (Some("1"), "page"));
}

#[test]
fn no_cache_sets_its_headers() {
    let response = answer("$r->no_cache(1); $r->send_http_header('text/plain'); OK");
    assert_eq!(
        (response.header("pragma").as_deref(), response.header("cache-control").as_deref()),
        (Some("no-cache"), Some("no-cache"))
    );
    assert!(response.header("expires").is_some());
}

#[test]
fn rflush_sends_buffered_output_at_once() {
    let server = serve(
        "sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('one'); $r->rflush;
                       select undef, undef, undef, 0.01 until -e '@DIR@/seen'; $r->print('two'); OK }",
    );
    let mut connection = server.connect();
    connection.raw("GET /my HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    assert_eq!(connection.chunk(), b"one");
    server.site.write("seen", "");
    assert_eq!(connection.chunk(), b"two");
}

#[test]
fn send_fd_sends_a_file() {
    let server = serve(
        "sub handler { my $r = shift; open my $f, '<', '@DIR@/data' or die $!; $r->send_http_header('text/plain'); $r->send_fd($f); OK }",
    );
    server.site.write("data", &"0123456789".repeat(20_000));
    assert_eq!(server.text("/my").len(), 200_000);
}

#[test]
fn header_only_is_true_for_head_and_no_body_is_sent() {
    let server = serve(
        "sub handler { my $r = shift; $r->header_out('X-Head', $r->header_only ? 1 : 0); $r->send_http_header('text/plain'); $r->print('body'); OK }",
    );
    let mut connection = server.connect();
    assert_eq!(connection.ask(Request::new("HEAD", "/my")).header("x-head").as_deref(), Some("1"));
    assert_eq!(connection.ask(Request::get("/my")).text(), "body");
}

#[test]
fn bytes_sent_counts_the_body() {
    assert_eq!(
        answer("$r->send_http_header; $r->print('12345'); $r->rflush; $r->print($r->bytes_sent); OK").text(),
        "123455"
    );
}

#[test]
fn log_error_and_warn_reach_the_log_with_the_worker() {
    let server = serve(
        "sub handler { my $r = shift; $r->log_error('as an error'); $r->warn('as a warning'); $r->log_reason('because', 'a file'); $r->server->log_error('by the server'); $r->send_http_header; OK }",
    );
    server.get("/my");
    for text in ["as an error", "as a warning", "because", "by the server"] {
        let line = server.logged(text);
        assert!(line.contains("worker=0"), "{line}");
    }
}

#[test]
fn a_handler_that_dies_is_a_500_with_perls_text_in_the_log() {
    let server = serve("sub handler {\n die 'broken' }");
    let page = server.get("/my").is(500).text();
    assert!(!page.contains("broken"), "{page}");
    let line = server.logged("broken at ");
    assert!(line.contains("My.pm line "), "{line}");
}

#[test]
fn a_handler_that_dies_with_an_object_is_a_500() {
    let server = serve("sub handler { die { code => 7 } }");
    server.get("/my").is(500);
    server.logged("HASH");
}

#[test]
fn apache_exit_and_exit_end_the_request_only() {
    for exit in ["exit", "Apache::exit()", "$r->exit"] {
        let server = serve(&format!(
            "sub handler {{ my $r = shift; $r->send_http_header; $r->print($$); {exit}; $r->print('never'); OK }}"
        ));
        let first = server.text("/my");
        assert!(first.parse::<i32>().is_ok(), "{exit}: {first}");
        assert_eq!(server.text("/my"), first, "{exit}");
    }
}
