//! Backends that are down, slow or send invalid responses: the client gets an error status, the log names the backend,
//! and requests for other backends are served.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::{Backend, ok};
use crate::support::{Request, Site, until};

#[test]
fn a_backend_that_is_not_there_is_503_and_left_alone_for_a_while() {
    // The port is reserved, and no socket listens on it.
    let silent = Site::new();
    let port = silent.port;
    let alive = Backend::new(|_| ok("alive"));
    let server = Site::new().serve(&format!(
        "FrontThreads 1\nProxyPass /dead/ http://127.0.0.1:{port}/\nProxyPass /alive/ {}\n",
        alive.url("/")
    ));
    assert_eq!(server.get("/dead/x").status, 503);
    server.logged("cannot connect: Connection refused");
    assert_eq!(server.get("/dead/x").status, 503);
    let line = server.logged("not tried, because the last connection failed");
    assert!(line.contains(&format!("backend http://127.0.0.1:{port}")), "{line}");
    assert_eq!(server.text("/alive/x"), "alive");
}

#[test]
fn a_backend_that_recovers_is_used_at_once_with_retry_0() {
    let later = Site::new().file("htdocs/index.html", "back");
    let port = later.port;
    let server = Site::new().serve(&format!("ProxyPass / http://127.0.0.1:{port}/ retry=0\n"));
    assert_eq!(server.get("/").status, 503);
    let _backend = later.serve("");
    assert_eq!(server.text("/index.html"), "back");
}

/// A backend that reads requests and sends nothing.
fn silent_backend() -> Backend {
    Backend::with(|stream, _| stream.read(&mut [0; 1]).is_ok_and(|read| read > 0))
}

#[test]
fn a_silent_backend_is_504() {
    let backend = silent_backend();
    let server = Site::new().serve(&format!("ProxyPass / {} timeout=300ms\n", backend.url("/")));
    assert_eq!(server.get("/").status, 504);
    server.logged("no byte was sent or received for 0.3 s (ProxyTimeout)");
}

#[test]
fn an_invalid_response_of_a_backend_is_502() {
    for answer in [
        &b""[..],
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nA B: c\r\n\r\n",
    ] {
        let backend = Backend::with(move |stream, _| {
            let _ = stream.write_all(answer);
            false
        });
        let server = Site::new().serve(&format!("ProxyPass / {}\n", backend.url("/")));
        let shown = String::from_utf8_lossy(answer);
        assert_eq!(server.send(Request::new("POST", "/").body("x")).status, 502, "{shown}");
        server.logged("the response was incomplete");
        assert_eq!(backend.received().len(), 1, "a POST is sent once: {shown}");
    }
}

#[test]
fn a_response_that_breaks_off_breaks_off_at_the_client() {
    let backend = Backend::with(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        false
    });
    let server = Site::new().serve(&format!("ProxyPass / {}\n", backend.url("/")));
    let mut client = TcpStream::connect(("127.0.0.1", server.site.port)).expect("it listens");
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("it reads");
    let mut response = Vec::new();
    let _ = client.read_to_end(&mut response);
    let text = String::from_utf8_lossy(&response).to_ascii_lowercase();
    assert!(text.contains("content-length: 10") && text.ends_with("half"), "{text}");
    server.logged("the response ended early, after 4 bytes of the body");
}

#[test]
fn a_request_that_an_idle_connection_lost_is_sent_again_if_that_is_safe() {
    // Each connection answers one request, and is closed when the second has come.
    let backend = Backend::with(|stream, request| {
        let is_first = request.field("X-Number") != "2" || request.connection > 0;
        is_first && stream.write_all(&ok(&request.connection.to_string())).is_ok()
    });
    let server = Site::new().serve(&format!("FrontThreads 1\nProxyPass / {}\n", backend.url("/")));
    let ask = |method: &str, number: &str| server.send(Request::new(method, "/").header("X-Number", number));
    assert_eq!(ask("GET", "1").text(), "0");
    assert_eq!(ask("GET", "2").text(), "1", "a GET is sent again on a new connection");
}

#[test]
fn a_post_that_an_idle_connection_lost_is_not_sent_again() {
    let backend =
        Backend::with(|stream, request| request.line().starts_with("GET") && stream.write_all(&ok("")).is_ok());
    let server = Site::new().serve(&format!("FrontThreads 1\nProxyPass / {}\n", backend.url("/")));
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.send(Request::new("POST", "/").body("x")).status, 502);
    assert_eq!(backend.received().len(), 2);
}

#[test]
fn proxy_error_override_replaces_error_pages_of_backends() {
    let backend = Backend::new(|request| {
        let status = request.line().split('/').nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\ninner").into_bytes()
    });
    let url = backend.url("/");
    let server = Site::new().serve(&format!(
        "ErrorDocument 404 ours\nErrorDocument 500 ours\nProxyPass /all/ {url}\nProxyPass /some/ {url}\nProxyPass /none/ {url}\n\
         <Location /all>\nProxyErrorOverride On\n</Location>\n<Location /some>\nProxyErrorOverride On 404\n</Location>\n"
    ));
    for (target, status, text) in [
        ("/all/404", 404, "ours"),
        ("/all/500", 500, "ours"),
        ("/all/200", 200, "inner"),
        ("/some/404", 404, "ours"),
        ("/some/500", 500, "inner"),
        ("/none/404", 404, "inner"),
    ] {
        let response = server.get(target);
        assert_eq!((response.status, response.text().as_str()), (status, text), "{target}");
    }
}

#[test]
fn perl_filters_at_a_backend_are_an_error_and_not_skipped() {
    let backend = Backend::new(|_| ok("secret"));
    let server = Site::new()
        .file(
            "lib/Blank.pm",
            "package Blank; use Apache2::Const -compile => 'OK'; sub handler { Apache2::Const::OK } 1;",
        )
        .serve(&format!(
            "PerlSwitches -Ilib\nPerlModule Blank\n<Location /blank>\nPerlOutputFilterHandler Blank\n</Location>\n\
             ProxyPassMatch ^/blank {}\n",
            backend.url("")
        ));
    assert_eq!(server.get("/blank/x").status, 500);
    server.logged("its Perl filters would not run");
    assert!(backend.received().is_empty());
}

#[test]
fn an_unrequested_switch_of_protocols_is_502() {
    let backend =
        Backend::new(|_| b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n".to_vec());
    let server = Site::new().serve(&format!("ProxyPass / {}\n", backend.url("/")));
    assert_eq!(server.get("/").status, 502);
}

#[test]
fn an_overridden_401_has_the_challenge_of_the_backend() {
    let backend = Backend::new(|_| {
        b"HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=\"inner\"\r\nContent-Length: 0\r\n\r\n".to_vec()
    });
    let server = Site::new().serve(&format!("ProxyErrorOverride On\nProxyPass / {}\n", backend.url("/")));
    let response = server.get("/");
    assert_eq!((response.status, response.header("WWW-Authenticate").as_deref()), (401, Some("Basic realm=\"inner\"")));
}

#[test]
fn a_pause_of_the_client_is_not_the_backends_fault() {
    let backend = Backend::new(|request| ok(&String::from_utf8_lossy(&request.body)));
    let silent = silent_backend();
    let server = Site::new().serve(&format!(
        "FrontThreads 1\nProxyPass /silent/ {} timeout=1s\nProxyPass / {} timeout=1s\n",
        silent.url("/"),
        backend.url("/")
    ));
    let mut client = TcpStream::connect(("127.0.0.1", server.site.port)).expect("it listens");
    client
        .write_all(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\nabc")
        .expect("it reads");
    until("the backend has a connection", || backend.connections() == 1);
    // A request that began later has reached the same limit, so the pause is longer than the limit.
    assert_eq!(server.get("/silent/").status, 504);
    client.write_all(b"def").expect("it reads");
    let mut response = String::new();
    client.read_to_string(&mut response).expect("it answers");
    assert!(response.ends_with("abcdef"), "{response}");
}

#[test]
fn interim_responses_and_fields_without_end_are_502() {
    for piece in ["HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n", ""] {
        let backend = Backend::with(move |stream, _| {
            let begun = if piece.is_empty() { stream.write_all(b"HTTP/1.1 200 OK\r\n") } else { Ok(()) };
            let field = format!("X: {}\r\n", "y".repeat(1000));
            let piece = if piece.is_empty() { field.as_str() } else { piece };
            while begun.is_ok() && stream.write_all(piece.as_bytes()).is_ok() {}
            false
        });
        let server = Site::new().serve(&format!("ProxyPass / {} timeout=100s\n", backend.url("/")));
        assert_eq!(server.get("/").status, 502, "{piece}");
    }
}
