//! Connections that switch protocols: WebSocket and others.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::{Backend, ok};
use crate::support::{Connection, Server, Site, let_pass, until};

/// Longer than all buffers on the way.
const LONG: usize = 8 << 20;

/// A backend that switches to `protocol` if it is asked to, and then sends back what it gets.
fn echoing(protocol: &'static str) -> Backend {
    Backend::with(move |stream, request| {
        if request.field("Upgrade") != protocol || !request.field("Connection").eq_ignore_ascii_case("upgrade") {
            return stream.write_all(&ok("plain")).is_ok();
        }
        let switched =
            format!("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\nX-Key: k\r\n\r\n");
        let _ = stream.write_all(switched.as_bytes());
        let _ = std::io::copy(&mut stream.try_clone().expect("a descriptor"), stream);
        let _ = stream.shutdown(Shutdown::Both);
        false
    })
}

fn switch(server: &Server, protocol: &str) -> Connection {
    let mut client = server.connect();
    client.raw(format!(
        "GET /chat HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: {protocol}\r\n\r\n"
    ));
    client
}

#[test]
fn bytes_flow_both_ways_after_the_switch() {
    let backend = echoing("websocket");
    let server = Site::new().serve(&format!("CustomLog access.log \"%s %I %O\"\nProxyPass / {}\n", ws(&backend)));
    let mut client = switch(&server, "websocket");
    let head = client.head();
    assert_eq!((head.status, head.header("Upgrade").as_deref()), (101, Some("websocket")));
    assert_eq!(head.header("Connection").as_deref(), Some("Upgrade"));
    assert_eq!(head.header("X-Key").as_deref(), Some("k"));
    for text in ["one", "\0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"] {
        client.raw(text);
        client.expect(text);
    }
    client.finish_sending();
    client.is_closed();
    // A line is logged at the end, with the bytes of both directions.
    until("the request is logged", || server.site.has("access.log") && server.site.read("access.log").contains("101 "));
    let log = server.site.read("access.log");
    let counts: Vec<u64> = log.split_whitespace().skip(1).map(|count| count.parse().expect("a count")).collect();
    assert!(counts.iter().all(|count| *count > 100), "{log}");
    assert_eq!(server.text("/"), "plain", "other requests are answered as before");
}

fn ws(backend: &Backend) -> String {
    backend.url("/").replace("http:", "ws:")
}

#[test]
fn the_slower_side_sets_the_pace() {
    let backend = echoing("websocket");
    let server = Site::new().serve(&format!("FrontThreads 1\nProxyPass / {}\n", ws(&backend)));
    let mut client = TcpStream::connect(("127.0.0.1", server.site.port)).expect("it listens");
    client
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        .expect("it reads");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).expect("a head");
        head.push(byte[0]);
    }
    let mut writer = client.try_clone().expect("a descriptor");
    let writes = std::thread::spawn(move || {
        let _ = writer.write_all(&vec![b'x'; LONG]);
        let _ = writer.shutdown(Shutdown::Write);
    });
    // Others are served while the client reads nothing.
    assert_eq!(server.text("/"), "plain");
    let mut all = Vec::new();
    client.read_to_end(&mut all).expect("the bytes come back");
    writes.join().expect("the bytes were taken");
    assert_eq!(all.len(), LONG);
}

#[test]
fn protocols_switch_only_where_the_site_allows_it() {
    let backend = echoing("other");
    let url = backend.url("/");
    let server = Site::new().serve(&format!(
        "ProxyPass /no/ {url}\nProxyPass /any/ {url} upgrade=ANY\nProxyPass /other/ {url} upgrade=other\nProxyPass /ws/ {}\n",
        ws(&backend)
    ));
    for (target, status) in [("/no/", 200), ("/any/", 101), ("/other/", 101), ("/ws/", 200)] {
        let mut client = server.connect();
        client.raw(format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n"));
        assert_eq!(client.head().status, status, "{target}");
    }
    // Without Connection: Upgrade the field is not a request to switch.
    let mut client = server.connect();
    client.raw("GET /any/ HTTP/1.1\r\nHost: x\r\nUpgrade: other\r\n\r\n");
    assert_eq!(client.head().status, 200);
}

#[test]
fn a_silent_tunnel_ends_with_the_timeout_and_an_old_one_after_a_reload() {
    let backend = echoing("websocket");
    let server = Site::new().serve(&format!("ProxyPass /short/ {} timeout=200ms\n", ws(&backend)));
    let mut client = server.connect();
    client.raw("GET /short/ HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
    assert_eq!(client.head().status, 101);
    client.is_closed();

    let server = Site::new().serve(&format!("GracefulShutdownTimeout 1\nProxyPass / {}\n", ws(&backend)));
    let mut client = switch(&server, "websocket");
    assert_eq!(client.head().status, 101);
    server.reload().succeeded();
    client.is_closed();
}

#[test]
fn a_tunnel_outlives_a_reload_without_a_limit_of_time() {
    let backend = echoing("websocket");
    let server = Site::new().serve(&format!("GracefulShutdownTimeout 0\nProxyPass / {}\n", ws(&backend)));
    let mut client = switch(&server, "websocket");
    assert_eq!(client.head().status, 101);
    server.reload().succeeded();
    // The tunnel notices the reload within a second.
    let_pass(Duration::from_secs(2));
    client.raw("after the reload");
    client.expect("after the reload");
    client.finish_sending();
    client.is_closed();
}
