//! `WebSocketOrigin`: which pages may open WebSockets, for programs of each kind and for backends.

use super::psgi::ANYEVENT;
use super::psgi_socket::WEBSOCKET;
use super::{pagi_websocket, psgi};
use crate::support::{Http2Client, Request, Server, Site, WebSocket};

/// The status of a handshake with this origin, over HTTP/1.1 and as HTTP/2 has it.
#[track_caller]
fn statuses(server: &Server, target: &str, origin: &str) -> [u16; 2] {
    let fields = if origin.is_empty() { String::new() } else { format!("Origin: {origin}\r\n") };
    let mut connection = server.connect();
    connection.raw(WebSocket::handshake_with(target, &fields));
    let first = connection.head().status;
    let fields = format!("sec-websocket-version: 13\r\n{}", fields.to_lowercase());
    [first, Http2Client::open(server).connect("websocket", target, &fields).0.status]
}

const OPEN: [u16; 2] = [101, 200];
const REFUSED: [u16; 2] = [403, 403];

#[test]
fn a_page_of_a_foreign_origin_gets_403_before_a_worker_is_taken() {
    let directives = "Protocols h2c http/1.1\nWebSocketOrigin same-host https://app.example.com\n";
    let pass = |server: &Server, target: &str| {
        for origin in ["", "http://localhost", "https://app.example.com"] {
            assert_eq!(statuses(server, target, origin), OPEN, "{origin}");
        }
        for origin in ["https://evil.example", "https://localhost:8443", "null"] {
            assert_eq!(statuses(server, target, origin), REFUSED, "{origin}");
            server.logged(&format!("WebSocketOrigin does not allow the origin \"{origin}\""));
        }
    };
    let pagi = pagi_websocket::serve_with(directives);
    pass(&pagi, "/origin");
    assert_eq!(pagi.site.read("noted").matches("websocket.connect /origin").count(), 6, "those that are open");
    pass(&super::serve_with(directives), "/echo");
    pass(&psgi::serve_with(ANYEVENT, WEBSOCKET, directives), "/echo");
    let backend = super::serve();
    let port = backend.site.port;
    let pass_on = format!("{directives}ProxyPass / http://127.0.0.1:{port}/ upgrade=websocket\n");
    pass(&Site::new().serve(&pass_on), "/echo");
}

#[test]
fn any_page_may_open_a_websocket_unless_a_place_limits_it() {
    let server = super::serve_with(
        "Protocols h2c http/1.1\n<VirtualHost *>\nServerName localhost\n<Location /echo>\n\
         WebSocketOrigin https://*.example.com\n</Location>\n</VirtualHost>\n\
         <VirtualHost *>\nServerName other.example\n</VirtualHost>\n",
    );
    assert_eq!(statuses(&server, "/echo", "https://a.example.com"), OPEN);
    assert_eq!(statuses(&server, "/echo", "https://evil.example"), REFUSED);
    let mut connection = server.connect();
    let foreign = WebSocket::handshake_with("/echo", "Origin: https://evil.example\r\n");
    connection.raw(foreign.replace("Host: localhost", "Host: other.example"));
    assert_eq!(connection.head().status, 101, "the other host allows it");
    let get = Request::get("/pid").header("Origin", "https://evil.example");
    server.connect().ask(get).is(200);
}
