//! Immediate responses.

use super::{serve, serve_with_one_worker};
use crate::support::Request;

#[test]
fn an_array_response_keeps_its_headers_and_joins_its_pieces() {
    let server = serve("sub { [201, ['Content-Type', 'text/plain', 'X-A', 1, 'X-A', 2], ['one ', undef, 'two']] }");
    let response = server.get("/").is(201);
    assert_eq!(response.header("content-type").as_deref(), Some("text/plain"));
    assert_eq!(response.header("x-a").as_deref(), Some("1, 2"));
    assert_eq!(response.text(), "one two");
}

#[test]
fn an_array_response_gets_its_content_length() {
    let server = serve("sub { [200, [], ['four']] }");
    let response = server.get("/");
    assert_eq!(response.header("content-length").as_deref(), Some("4"));
    assert_eq!(response.header("transfer-encoding"), None);
}

#[test]
fn a_content_length_of_the_application_is_sent() {
    let server = serve("sub { open my $f, '<', \\'12345'; [200, ['Content-Length', 5], $f] }");
    let response = server.get("/");
    assert_eq!(response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).count(), 1);
    assert_eq!(response.header("transfer-encoding"), None);
    assert_eq!(response.text(), "12345");
}

#[test]
fn a_filehandle_is_sent_whole() {
    let server = serve("sub { open my $f, '<:raw', '@DIR@/data' or die $!; [200, [], $f] }");
    let data: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    server.site.write_bytes("data", &data);
    assert!(server.get("/").is(200).body == data);
}

#[test]
fn an_object_with_getline_is_read_to_its_end_and_closed() {
    let server = serve(
        r#"
        package Lines;
        sub getline { my $self = shift; $self->{n} < 3 ? 'line ' . $self->{n}++ . "\n" : undef }
        sub close { open my $f, '>', '@DIR@/closed' }
        package main;
        sub { [200, [], bless { n => 0 }, 'Lines'] }
        "#,
    );
    assert_eq!(server.text("/"), "line 0\nline 1\nline 2\n");
    crate::support::until("the object is closed", || server.site.has("closed"));
}

#[test]
fn a_handle_with_a_path_is_sent_from_that_file() {
    let server = serve(
        "use Plack::Util; sub { open my $f, '<', '@DIR@/page'; Plack::Util::set_io_path($f, '@DIR@/page'); [200, [], $f] }",
    );
    server.site.write("page", "from the file\n");
    assert_eq!(server.text("/"), "from the file\n");
}

#[test]
fn ten_megabytes_in_one_string_arrive() {
    let server = serve("sub { [200, [], ['0123456789abcdef' x 655_360]] }");
    let body = server.get("/").is(200).body;
    assert_eq!(body.len(), 16 * 655_360);
    assert!(body.chunks(16).all(|chunk| chunk == b"0123456789abcdef"));
}

#[test]
fn bytes_that_perl_keeps_as_utf8_are_sent_as_bytes() {
    let server = serve(r#"sub { my $s = "caf\xe9"; utf8::upgrade($s); [200, [], [$s]] }"#);
    assert_eq!(server.get("/").body, b"caf\xe9");
}

#[test]
fn a_wide_character_is_a_500_whose_reason_is_in_the_log() {
    let server = serve(r#"sub { [200, [], ["\x{20ac}"]] }"#);
    server.get("/").is(500);
    server.logged("ide character");
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let server = serve("sub { [200, ['Content-Type', 'text/plain', 'Content-Length', 5], ['hello']] }");
    let mut connection = server.connect();
    let response = connection.ask(Request::new("HEAD", "/")).is(200);
    assert_eq!(response.header("content-length").as_deref(), Some("5"));
    assert_eq!(connection.ask(Request::get("/")).text(), "hello", "no body stood in the way");
}

#[test]
fn no_content_and_not_modified_have_no_body_and_leave_the_connection_open() {
    let server = serve("sub { my ($s) = $_[0]{PATH_INFO} =~ /(\\d+)/; [$s, [], ['should not be seen']] }");
    let mut connection = server.connect();
    assert_eq!(connection.ask(Request::get("/204")).status, 204);
    assert_eq!(connection.ask(Request::get("/304")).status, 304);
    for request in [Request::get("/205"), Request::new("HEAD", "/205")] {
        let reset = connection.ask(request).is(205);
        assert_eq!((reset.text().as_str(), reset.header("content-length").as_deref()), ("", Some("0")));
    }
    assert_eq!(connection.ask(Request::get("/200")).text(), "should not be seen");
}

#[test]
fn a_header_with_a_newline_cannot_split_the_response() {
    let server = serve(r#"sub { [200, ['X-A', "1\r\nX-B: 2"], ['x']] }"#);
    assert_eq!(server.get("/").header("x-b"), None);
}

#[test]
fn an_invalid_response_is_a_500_that_names_the_value() {
    for (app, expected) in [
        ("sub { 'hello' }", "the string \"hello\""),
        ("sub { undef }", "undef"),
        ("sub { [200, []] }", "not a response"),
        ("sub { {} }", "HASH"),
    ] {
        let server = serve(app);
        server.get("/").is(500);
        server.logged(expected);
    }
}

#[test]
fn an_informational_status_is_no_answer() {
    for answer in [
        "[100, [], ['x']]",
        "[101, ['Upgrade', 'x'], ['body']]",
        "[103, [], do { open my $f, '<', '/dev/null'; $f }]",
        "sub { $_[0]->([102, [], ['x']]) }",
        "sub { my $w = $_[0]->([199, []]); $w->write('x') }",
    ] {
        let server = serve(&format!("sub {{ {answer} }}"));
        server.get("/").is(500);
        server.logged("which is informational; send it with psgix.informational");
    }
    let server = serve("sub { $_[0]{'psgix.informational'}->(200, []); [200, [], ['x']] }");
    server.get("/").is(500);
    server.logged("psgix.informational: expected a status from 100 to 199");
}

#[test]
fn an_application_that_dies_is_a_500_and_its_worker_lives() {
    let server = serve_with_one_worker("sub { die \"broken\\n\" if $_[0]{PATH_INFO} eq '/die'; [200, [], [$$]] }");
    let pid = server.text("/");
    let page = server.get("/die").is(500).text();
    assert!(!page.contains("broken"), "the text belongs to the log only: {page}");
    server.logged("broken");
    assert_eq!(server.text("/"), pid);
}

#[test]
fn an_application_that_exits_costs_its_own_request_only() {
    let server = serve_with_one_worker("sub { exit 3 if $_[0]{PATH_INFO} eq '/exit'; [200, [], [$$]] }");
    let pid = server.text("/");
    server.get("/exit").is(500);
    assert_eq!(server.text("/"), pid);
}

#[test]
fn a_body_that_the_application_frames_itself_is_framed_once() {
    let chunked = "'Content-Type' => 'text/plain', 'Transfer-Encoding' => 'chunked'";
    let app = format!(
        "my %app = (\n\
         '/whole' => sub {{ [200, [{chunked}], [\"3\\r\\nabc\\r\\n\", \"A\\r\\n0123\", \"456789\\r\\n0\\r\\n\\r\\n\"]] }},\n\
         '/stream' => sub {{ sub {{ my $w = $_[0]->([200, [{chunked}]]); $w->write($_) for \"3\\r\\nabc\\r\\n\", \"A\\r\\n0123456789\\r\\n\", \
         \"0\\r\\n\\r\\n\"; $w->close }} }},\n\
         '/bare' => sub {{ [200, [{chunked}], ['abc0123456789']] }},\n);\n\
         sub {{ $app{{$_[0]{{PATH_INFO}}}}->($_[0]) }}"
    );
    let server = serve(&app);
    for path in ["/whole", "/stream", "/bare"] {
        assert_eq!(server.get(path).is(200).text(), "abc0123456789", "{path}");
        let mut old = server.connect();
        old.raw(format!("GET {path} HTTP/1.0\r\n\r\n"));
        assert!(String::from_utf8_lossy(&old.rest()).ends_with("\r\n\r\nabc0123456789"), "{path}");
    }
}
