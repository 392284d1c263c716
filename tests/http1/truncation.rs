//! Truncated responses whose length only the end of the connection shows: the client must be able to detect the
//! truncation.

use nix::sys::signal::Signal;

use crate::support::{Connection, Server, Site, signal, until};

/// An application whose paths begin a response; the name of the path describes the continuation.
const APP: &str = r#"sub {
    my $path = $_[0]{PATH_INFO};
    sub {
        my $out = $_[0]->([200, ['Content-Type', 'text/plain', $path eq '/long' ? ('Content-Length', 100) : ()]]);
        $out->write("first,\n");
        select undef, undef, undef, 0.01 until -e '@DIR@/go';
        die "in the middle\n" if $path eq '/dies' || $path eq '/long';
        kill KILL => $$ if $path eq '/killed';
        $out->write("last.\n");
        $out->close;
    }
}"#;

fn serve(conf: &str) -> Server {
    Site::new().file("app.psgi", APP).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

/// A client of HTTP/1.0 that has received the beginning of a response.
fn begun(server: &Server, path: &str) -> Connection {
    let mut connection = server.connect();
    connection.raw(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n"));
    assert_eq!(connection.head().header("content-length"), None, "{path}");
    connection.expect("first,\n");
    connection
}

#[test]
fn an_answer_to_http_1_0_that_breaks_off_ends_with_a_reset() {
    let server = serve("");
    for path in ["/dies", "/killed"] {
        let mut connection = begun(&server, path);
        server.site.write("go", "");
        let (rest, was_reset) = connection.ending();
        assert!(was_reset, "{path}: {:?}", String::from_utf8_lossy(&rest));
        std::fs::remove_file(server.site.path("go")).expect("it was written");
    }
}

#[test]
fn a_response_without_framing_has_connection_close() {
    let server = serve("");
    let mut connection = server.connect();
    connection.raw("GET /whole HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(connection.head().header("connection").as_deref(), Some("close"));
    server.site.write("go", "");
    assert_eq!(connection.ending(), (b"first,\nlast.\n".to_vec(), false));
}

#[test]
fn a_complete_http_1_0_response_ends_without_a_reset() {
    let server = serve("");
    let mut connection = begun(&server, "/whole");
    server.site.write("go", "");
    assert_eq!(connection.ending(), (b"last.\n".to_vec(), false));
}

#[test]
fn a_client_that_is_answered_in_http_1_0_whatever_it_speaks_sees_the_reset_too() {
    let server = serve("BrowserMatch Old force-response-1.0\n");
    let mut connection = server.connect();
    connection.raw("GET /dies HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Old\r\n\r\n");
    assert_eq!(connection.head().header("transfer-encoding"), None);
    connection.expect("first,\n");
    server.site.write("go", "");
    assert!(connection.ending().1);
}

#[test]
fn a_truncation_that_length_or_chunks_show_ends_the_connection_normally() {
    let server = serve("");
    server.site.write("go", "");
    for request in ["GET /long HTTP/1.0\r\n\r\n", "GET /dies HTTP/1.1\r\nHost: a\r\n\r\n"] {
        let mut connection = server.connect();
        connection.raw(request);
        let (bytes, was_reset) = connection.ending();
        assert!(String::from_utf8_lossy(&bytes).contains("first,\n") && !was_reset, "{request}");
    }
}

#[test]
fn an_answer_that_ends_with_the_front_ends_with_a_reset() {
    let server = serve("");
    let mut connection = begun(&server, "/whole");
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    signal(front, Signal::SIGKILL);
    assert!(connection.ending().1);
    server.site.write("go", "");
    until(
        "there is another front",
        || !matches!(server.status()["front_pid"].as_i64(), Some(pid) if pid as i32 == front),
    );
}
