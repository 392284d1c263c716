//! A client of WebSocket (RFC 6455), without extensions, over HTTP/1.1 or a stream of HTTP/2.

mod http2;

use super::{Connection, Response, Server};

use http2::Http2Socket;
pub use http2::{Http2Client, StreamEnd};

/// A key of RFC 6455, section 1.3, and the response to it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const MASK: [u8; 4] = [7, 77, 177, 250];

/// An open WebSocket.
pub struct WebSocket {
    line: Line,
}

/// The version of HTTP of a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    Http1,
    Http2,
}

enum Line {
    Http1(Connection),
    Http2(Http2Socket),
}

/// A frame of the server.
#[derive(Debug, PartialEq, Eq)]
pub enum WebSocketFrame {
    Text(String),
    /// A close with its status.
    Close(u16),
    /// Any other frame, with its first byte.
    Other(u8, Vec<u8>),
}

impl WebSocket {
    /// Opens a WebSocket, or fails the test.
    #[track_caller]
    pub fn open(server: &Server, target: &str) -> WebSocket {
        WebSocket::open_with(server, target, "").0
    }

    /// As [`WebSocket::open`], with further fields, whose lines end with CRLF. With the head of the response.
    #[track_caller]
    pub fn open_with(server: &Server, target: &str, fields: &str) -> (WebSocket, Response) {
        let mut connection = server.connect();
        connection.raw(WebSocket::handshake_with(target, fields));
        let head = connection.head();
        assert_eq!(head.status, 101, "{head:?}");
        assert_eq!(head.header("Sec-WebSocket-Accept").as_deref(), Some(ACCEPT));
        (WebSocket { line: Line::Http1(connection) }, head)
    }

    /// As [`WebSocket::open`], over this version of HTTP, each time on a new connection.
    #[track_caller]
    pub fn open_over(over: Over, server: &Server, target: &str) -> WebSocket {
        if over == Over::Http1 {
            return WebSocket::open(server, target);
        }
        // The connection lives as long as its stream.
        WebSocket::open_on(&mut Http2Client::open(server), target, "").0
    }

    /// Opens a WebSocket on a stream of a connection of HTTP/2. The lines of `fields` end with CRLF.
    #[track_caller]
    pub fn open_on(client: &mut Http2Client, target: &str, fields: &str) -> (WebSocket, Response) {
        let (head, socket) = client.connect("websocket", target, &format!("sec-websocket-version: 13\r\n{fields}"));
        assert_eq!(head.status, 200, "{head:?}");
        for name in ["Connection", "Upgrade", "Sec-WebSocket-Accept", "Content-Length"] {
            assert_eq!(head.header(name), None);
        }
        (WebSocket { line: Line::Http2(socket) }, head)
    }

    /// The request that opens a WebSocket.
    pub fn handshake(target: &str) -> String {
        WebSocket::handshake_with(target, "")
    }

    /// As [`WebSocket::handshake`], with further fields.
    pub fn handshake_with(target: &str, fields: &str) -> String {
        format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n{fields}\r\n"
        )
    }

    #[track_caller]
    pub fn send(&mut self, text: &str) {
        self.frame(TEXT, text.as_bytes());
    }

    #[track_caller]
    pub fn close(&mut self, status: u16) {
        self.frame(CLOSE, &status.to_be_bytes());
    }

    fn frame(&mut self, kind: u8, payload: &[u8]) {
        self.raw(0x80 | kind, payload);
    }

    /// Sends a frame with this first byte.
    #[track_caller]
    pub fn raw(&mut self, first: u8, payload: &[u8]) {
        let mut bytes = vec![first];
        match payload.len() {
            length @ ..126 => bytes.push(0x80 | length as u8),
            length @ ..0x10000 => {
                bytes.push(0x80 | 126);
                bytes.extend((length as u16).to_be_bytes());
            }
            length => {
                bytes.push(0x80 | 127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend(MASK);
        bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.bytes(&bytes);
    }

    /// The next frame of the server.
    #[track_caller]
    pub fn next(&mut self) -> WebSocketFrame {
        let head = self.read(2);
        let length = match head[1] {
            126 => usize::from(u16::from_be_bytes(self.read(2).try_into().expect("two bytes"))),
            127 => u64::from_be_bytes(self.read(8).try_into().expect("eight bytes")) as usize,
            length => usize::from(length),
        };
        let payload = self.read(length);
        match head[0] & 15 {
            TEXT if head[0] & 0xf0 == 0x80 => WebSocketFrame::Text(String::from_utf8(payload).expect("UTF-8")),
            CLOSE => WebSocketFrame::Close(u16::from_be_bytes([payload[0], payload[1]])),
            _ => WebSocketFrame::Other(head[0], payload),
        }
    }

    /// The next message, which is a text, in one frame or in parts.
    #[track_caller]
    pub fn text(&mut self) -> String {
        let mut whole = Vec::new();
        loop {
            match (self.next(), whole.is_empty()) {
                (WebSocketFrame::Text(text), true) => return text,
                (WebSocketFrame::Other(0x01, part), true) | (WebSocketFrame::Other(0x00, part), false) => {
                    whole.extend(part);
                }
                (WebSocketFrame::Other(0x80, part), false) => {
                    whole.extend(part);
                    return String::from_utf8(whole).expect("UTF-8");
                }
                (other, _) => panic!("instead of a text came {other:?}"),
            }
        }
    }

    /// Fails the test unless the server closes the connection without sending another byte.
    #[track_caller]
    pub fn is_closed(&mut self) {
        match &mut self.line {
            Line::Http1(connection) => connection.is_closed(),
            Line::Http2(socket) => assert_eq!(socket.rest(), (Vec::new(), StreamEnd::Whole)),
        }
    }

    /// Reads to the end of the connection or stream. Returns the number of bytes.
    pub fn rest(&mut self) -> usize {
        match &mut self.line {
            Line::Http1(connection) => connection.rest().len(),
            Line::Http2(socket) => socket.rest().0.len(),
        }
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn bytes(&mut self, bytes: &[u8]) {
        match &mut self.line {
            Line::Http1(connection) => connection.raw(bytes),
            Line::Http2(socket) => socket.raw(bytes),
        }
    }

    #[track_caller]
    fn read(&mut self, count: usize) -> Vec<u8> {
        match &mut self.line {
            Line::Http1(connection) => connection.bytes(count),
            Line::Http2(socket) => socket.bytes(count),
        }
    }

    /// The stream of HTTP/2.
    pub fn stream(&mut self) -> &mut Http2Socket {
        match &mut self.line {
            Line::Http1(_) => panic!("a connection of HTTP/1.1"),
            Line::Http2(socket) => socket,
        }
    }
}
