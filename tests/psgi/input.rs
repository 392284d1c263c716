//! `psgi.input`.

use super::serve;
use crate::support::Request;

#[test]
fn the_input_can_be_read_rewound_and_read_again() {
    let server = serve(
        r#"sub {
            my $in = $_[0]{'psgi.input'};
            $in->read(my $first, 4);
            $in->seek(0, 0);
            $in->read(my $all, 100);
            $in->seek(2, 0);
            read $in, my $tail, 100;
            [200, [], ["$first|$all|$tail"]]
        }"#,
    );
    assert_eq!(server.post("/", "abcdef").text(), "abcd|abcdef|cdef");
}

#[test]
fn psgix_input_buffered_is_true() {
    let server = serve("sub { [200, [], [$_[0]{'psgix.input.buffered'} ? 'yes' : 'no']] }");
    assert_eq!(server.post("/", "x").text(), "yes");
}

#[test]
fn lines_of_the_input_are_read_one_by_one() {
    let server = serve(r#"sub { my $in = $_[0]{'psgi.input'}; my @l = <$in>; [200, [], [scalar(@l) . ":$l[1]"]] }"#);
    assert_eq!(server.post("/", "a\nb\nc").text(), "3:b\n");
}

#[test]
fn a_get_has_an_empty_input() {
    let server = serve("sub { my $n = $_[0]{'psgi.input'}->read(my $b, 10); [200, [], [defined $n ? $n : 'undef']] }");
    assert_eq!(server.text("/"), "0");
}

#[test]
fn a_chunked_upload_has_a_content_length_and_its_body() {
    let server = serve(
        "sub { my $e = $_[0]; $e->{'psgi.input'}->read(my $b, 1000);
               [200, [], [join '|', $e->{CONTENT_LENGTH}, $b, $e->{HTTP_TRANSFER_ENCODING} // 'none']] }",
    );
    let mut connection = server.connect();
    connection.raw("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    connection.raw("3\r\nabc\r\n");
    connection.raw("4\r\ndefg\r\n0\r\n\r\n");
    let body = connection.response().text();
    assert!(body.starts_with("7|abcdefg|"), "{body}");
}

#[test]
fn an_upload_larger_than_memory_allows_arrives_whole() {
    let server = serve(
        "use Digest::MD5; sub { my $in = $_[0]{'psgi.input'}; my $d = Digest::MD5->new; $d->addfile($in);
                                $in->seek(0, 0); $in->read(my $head, 4); [200, [], [$d->hexdigest, $head]] }",
    );
    let body: Vec<u8> = (0..5_000_000u32).map(|n| b'a' + (n % 23) as u8).collect();
    let text = server.send(Request::new("POST", "/").body(&body)).is(200).text();
    assert_eq!(text, format!("{}abcd", md5(&body)));
    let left = std::fs::read_dir(server.site.path("tmp")).expect("TMPDIR").count();
    assert_eq!(left, 0, "the temporary file has no name any more");
}

#[test]
fn a_body_that_is_not_read_does_not_reach_the_next_request() {
    let server = super::serve_with_one_worker("sub { [200, [], [$_[0]{PATH_INFO}]] }");
    let mut connection = server.connect();
    let long = "z".repeat(300_000);
    assert_eq!(connection.ask(Request::post("/first", &long)).text(), "/first");
    assert_eq!(connection.ask(Request::get("/second")).text(), "/second");
}

/// The MD5 sum, computed by md5sum, which every Debian system has.
fn md5(bytes: &[u8]) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut tool = Command::new("md5sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("md5sum");
    tool.stdin.take().expect("a pipe").write_all(bytes).expect("md5sum reads");
    let output = tool.wait_with_output().expect("md5sum ends");
    String::from_utf8_lossy(&output.stdout[..32]).into_owned()
}
