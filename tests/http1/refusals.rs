//! Malformed requests as they appear in the logs.

use crate::support::{Server, Site, until};

fn serve(conf: &str) -> Server {
    Site::new().serve(&format!("CustomLog access.log \"%h \\\"%r\\\" %>s %m %U %H\"\n{conf}"))
}

/// The access log's line for the bytes `sent`, written in pieces of `size` bytes.
fn logged(server: &Server, sent: &[u8], size: usize) -> String {
    let lines = || server.site.read("access.log").lines().map(str::to_owned).collect::<Vec<_>>();
    let before = lines().len();
    let mut connection = server.connect();
    sent.chunks(size).for_each(|bytes| connection.send_if_heard(bytes));
    drop(connection.rest());
    until("the access log has it", || lines().len() > before);
    lines()[before].clone()
}

#[test]
fn the_access_log_has_the_request_line_of_what_was_refused() {
    let server = serve("");
    let cases: [(&[u8], &str); 7] = [
        (b"GET /a?b HTTP/1.1\r\nHost: a\r\nBad : x\r\n\r\n", r#""GET /a?b HTTP/1.1" 400"#),
        (b"\r\nPOST /c HTTP/1.1\r\nContent-Length: x\r\n\r\n", r#""POST /c HTTP/1.1" 400"#),
        (b"GET /d HTTP/3.7\r\n\r\n", r#""GET /d HTTP/3.7" 505"#),
        (b"GET / HTTP/1.1\" 200 1 \\\r\n\r\n", r#""GET / HTTP/1.1\" 200 1 \\" 400"#),
        (b"GET /\x1b[2J\x00\xff\t HTTP/1.1\r\n\r\n", r#""GET /\x1b[2J\x00\xff\t HTTP/1.1" 400"#),
        (b"GET /e\rHost: a\r\n\r\n", r#""GET /e\rHost: a" 400"#),
        (b"nonsense\r\n\r\n", r#""nonsense" 400"#),
    ];
    for (sent, expected) in cases {
        for size in [sent.len(), 1] {
            assert_eq!(logged(&server, sent, size), format!("127.0.0.1 {expected} - - -"), "in pieces of {size}");
        }
    }
}

#[test]
fn a_long_request_line_is_cut_in_the_log() {
    let server = serve("");
    let long = format!("GET /{}", "x".repeat(9000));
    assert_eq!(logged(&server, long.as_bytes(), long.len()), format!("127.0.0.1 \"{}\" 414 - - -", &long[..1000]));
}

#[test]
fn a_head_that_never_becomes_whole_is_logged_with_what_came_of_it() {
    let server = serve("Timeout 1s");
    assert_eq!(logged(&server, b"GET /slow HTTP/1.1\r\nHo", 5), "127.0.0.1 \"GET /slow HTTP/1.1\" 408 - - -");
    assert_eq!(logged(&server, b"GET /sl", 7), "127.0.0.1 \"GET /sl\" 408 - - -");
}

#[test]
fn the_error_log_names_the_field_that_was_wrong_and_not_its_value() {
    let server = serve("");
    for (head, expected) in [
        (
            "GET /1 HTTP/1.1\r\nHost: a\r\nAuthorization : secret",
            "header field with an invalid name (field 2, Authorization): GET /1 HTTP/1.1",
        ),
        (
            "GET /2 HTTP/1.1\r\nHost: a\r\nCookie: secret\x01",
            "control character in a header field (field 2, Cookie): GET /2",
        ),
        ("GET /3 HTTP/1.1\r\nCookie: a\r\n secret: b", "continued on a second line (field 2): GET /3 HTTP/1.1"),
        (
            "GET /4 HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
            "than one Content-Length (field 2, Content-Length): GET /4",
        ),
        (
            "GET /5 HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
            "beside Transfer-Encoding: GET /5 HTTP/1.1",
        ),
        ("GET /6\n[forged]", "a line that ends without CR: GET /6"),
    ] {
        let mut connection = server.connect();
        connection.raw(format!("{head}\r\n\r\n"));
        connection.response().is(400);
        server.logged(expected);
    }
    assert!(!server.log().contains("secret"), "{}", server.log());
}
