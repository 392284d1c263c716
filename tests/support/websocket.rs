//! A client of WebSocket (RFC 6455), without extensions.

use super::{Connection, Response, Server};

/// A key of RFC 6455, section 1.3, and the response to it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const MASK: [u8; 4] = [7, 77, 177, 250];

/// An open WebSocket.
pub struct WebSocket {
    connection: Connection,
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
        (WebSocket { connection }, head)
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
            length => {
                bytes.push(0x80 | 126);
                bytes.extend(u16::try_from(length).expect("a short message").to_be_bytes());
            }
        }
        bytes.extend(MASK);
        bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.connection.raw(bytes);
    }

    /// The next frame of the server.
    #[track_caller]
    pub fn next(&mut self) -> WebSocketFrame {
        let head = self.connection.bytes(2);
        let length = match head[1] {
            126 => usize::from(u16::from_be_bytes(self.connection.bytes(2).try_into().expect("two bytes"))),
            127 => u64::from_be_bytes(self.connection.bytes(8).try_into().expect("eight bytes")) as usize,
            length => usize::from(length),
        };
        let payload = self.connection.bytes(length);
        match head[0] & 15 {
            TEXT if head[0] & 0xf0 == 0x80 => WebSocketFrame::Text(String::from_utf8(payload).expect("UTF-8")),
            CLOSE => WebSocketFrame::Close(u16::from_be_bytes([payload[0], payload[1]])),
            _ => WebSocketFrame::Other(head[0], payload),
        }
    }

    /// The next message, which is a text.
    #[track_caller]
    pub fn text(&mut self) -> String {
        match self.next() {
            WebSocketFrame::Text(text) => text,
            other => panic!("instead of a text came {other:?}"),
        }
    }

    /// Fails the test unless the server closes the connection without sending another byte.
    #[track_caller]
    pub fn is_closed(&mut self) {
        self.connection.is_closed();
    }
}
