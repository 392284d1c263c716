//! Delayed and streaming responses.

use super::{serve, serve_with_one_worker};
use crate::support::until;

#[test]
fn a_delayed_response_is_sent_when_it_is_given() {
    let server = serve("sub { sub { $_[0]->([202, ['X-A', 'b'], ['later']]) } }");
    let response = server.get("/").is(202);
    assert_eq!((response.header("x-a").as_deref(), response.text().as_str()), (Some("b"), "later"));
}

#[test]
fn a_streaming_writer_reaches_the_client_piece_by_piece() {
    let server = serve(
        r#"sub { sub {
            my $writer = $_[0]->([200, ['Content-Type', 'text/plain']]);
            $writer->write("one\n");
            select undef, undef, undef, 0.01 until -e '@DIR@/seen';
            $writer->write("two\n");
            $writer->close;
        } }"#,
    );
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.head().header("transfer-encoding").as_deref(), Some("chunked"));
    assert_eq!(connection.chunk(), b"one\n");
    server.site.write("seen", "");
    assert_eq!(connection.chunk(), b"two\n");
    assert_eq!(connection.chunk(), b"");
}

#[test]
fn a_stream_to_an_http_1_0_client_ends_with_the_connection() {
    let server = serve("sub { sub { my $w = $_[0]->([200, []]); $w->write('a'); $w->write('b'); $w->close } }");
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(connection.head().header("transfer-encoding"), None);
    assert_eq!(connection.rest(), b"ab");
}

#[test]
fn a_stream_that_dies_is_visibly_cut_short() {
    let server = serve_with_one_worker(
        "sub { my $p = $_[0]{PATH_INFO}; return [200, [], [$$]] if $p eq '/pid';
               sub { my $w = $_[0]->([200, []]); $w->write('begun'); die \"in mid-stream\\n\" } }",
    );
    let pid = server.text("/pid");
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.head().status, 200);
    let rest = String::from_utf8(connection.rest()).expect("chunks");
    assert!(rest.contains("begun") && !rest.contains("\r\n0\r\n"), "{rest:?}");
    server.logged("in mid-stream");
    assert_eq!(server.text("/pid"), pid);
}

#[test]
fn a_responder_that_is_never_or_twice_called_is_a_fault_that_the_log_names() {
    let never = serve("sub { sub { 1 } }");
    never.get("/").is(500);
    never.logged("responder");
    let twice = serve("sub { sub { $_[0]->([200, [], ['x']]) for 1, 2 } }");
    twice.get("/");
    twice.logged("twice");
}

#[test]
fn a_client_that_leaves_in_mid_stream_does_not_hold_the_worker() {
    let server = serve_with_one_worker(
        "sub { return [200, [], ['free']] if $_[0]{PATH_INFO} eq '/free';
               sub { my $w = $_[0]->([200, []]); $w->write('x' x 65536) for 1 .. 1600; $w->close } }",
    );
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    drop(connection);
    assert_eq!(server.text("/free"), "free");
}

#[test]
fn a_client_that_reads_slowly_does_not_make_the_server_hold_the_whole_response() {
    let server = serve_with_one_worker(
        "sub { sub { my $w = $_[0]->([200, []]);
                     for (1 .. 3200) { $w->write('x' x 65536); open my $f, '>', '@DIR@/written'; print $f $_ }
                     $w->close } }",
    );
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    let (mut before, mut same) = (String::new(), 0);
    until("the worker stands still", || {
        let now = server.site.read("written");
        same = if now == before { same + 1 } else { 0 };
        before = now;
        same > 40 && before.parse::<u32>().is_ok_and(|n| n < 1600)
    });
    drop(connection);
}

/// A body whose second piece is made only after the client has confirmed the first.
const PIECES: &str = "package Pieces { my @said; sub getline { my $s = shift; return if @$s > 2; \
    select undef, undef, undef, 0.005 until !@$s || -e '@DIR@/seen' . @$s; push @$s, 1; 'piece ' . @$s } \
    sub close { open my $f, '>', '@DIR@/closed' } }\n";

#[test]
fn a_body_that_is_an_object_reaches_the_client_piece_by_piece() {
    for app in [
        "sub { [200, ['Content-Type', 'text/plain'], bless [], 'Pieces'] }",
        "sub { sub { $_[0]->([200, ['Content-Type', 'text/plain'], bless [], 'Pieces']) } }",
    ] {
        let server = serve(&format!("{PIECES}package main; {app}"));
        let mut connection = server.connect();
        connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(connection.head().status, 200);
        for n in 1..=3 {
            assert_eq!(connection.chunk(), format!("piece {n}").as_bytes());
            server.site.write(&format!("seen{n}"), "");
        }
        assert_eq!(connection.chunk(), b"");
    }
}

#[test]
fn a_body_that_is_a_pipe_reaches_the_client_as_it_comes() {
    let server = serve(
        "sub { open my $p, '-|', 'echo one; until test -e @DIR@/seen; do sleep 0.01; done; echo two' or die; \
         { package Lines; sub new { bless [$_[1]] } sub getline { local $/ = qq(\\n); readline $_[0][0] } sub close { close $_[0][0] } } \
         [200, [], Lines->new($p)] }",
    );
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    assert_eq!(connection.chunk(), b"one\n");
    server.site.write("seen", "");
    assert_eq!(connection.chunk(), b"two\n");
}

#[test]
fn a_body_is_read_no_further_when_its_client_has_left() {
    let server = serve_with_one_worker(
        "package Endless { sub getline { 'x' x 1000 } sub close { open my $f, '>', '@DIR@/closed' } } sub { [200, [], bless [], 'Endless'] }",
    );
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    drop(connection);
    until("the body was closed", || server.site.has("closed"));
}
