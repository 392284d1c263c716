//! An HTTP/2 client that sends invalid or hostile frames, and returns the frames it receives.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::Server;

pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const DATA: u8 = 0;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const ACK: u8 = 1;

pub const PROTOCOL_ERROR: u32 = 1;
pub const INTERNAL_ERROR: u32 = 2;
pub const CANCEL: u32 = 8;
pub const ENHANCE_YOUR_CALM: u32 = 11;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Read timeout, long enough for a server that runs under an instruction counter.
const PATIENCE: Duration = Duration::from_secs(300);

/// An HTTP/2 frame (RFC 9113, section 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// A cleartext connection whose preface and SETTINGS are sent.
pub struct Raw(TcpStream);

impl Raw {
    /// Connects and sends `settings` as pairs of number and value.
    #[track_caller]
    pub fn open(server: &Server, settings: &[(u16, u32)]) -> Raw {
        let mut socket = TcpStream::connect(("127.0.0.1", server.site.port)).expect("the server accepts");
        socket.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        socket.write_all(PREFACE).expect("the server reads");
        let mut raw = Raw(socket);
        let payload: Vec<u8> = settings
            .iter()
            .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        raw.send(SETTINGS, 0, 0, &payload);
        // Widens the connection's window, because the tests are about the windows of streams.
        raw.send(WINDOW_UPDATE, 0, 0, &(1_u32 << 24).to_be_bytes());
        raw
    }

    /// Sends a frame. A write error is ignored: a closed connection shows at the next read.
    pub fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let _ = self.0.write_all(&frame(kind, flags, stream, payload));
    }

    /// Sends `frame`, which may be several frames, `times` times in one write.
    pub fn flood(&mut self, frame: &[u8], times: usize) {
        let _ = self.0.write_all(&frame.repeat(times));
    }

    pub fn get(&mut self, stream: u32, path: &str) {
        let _ = self.0.write_all(&get(stream, path));
    }

    /// The next frame; `None` at the end of the connection.
    pub fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        match self.0.read_exact(&mut head) {
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => return None,
            read => read.expect("the server answers or closes"),
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).expect("a whole frame");
        let frame = Frame { kind: head[3], flags: head[4], stream, payload };
        if frame.kind == SETTINGS && frame.flags & ACK == 0 {
            self.send(SETTINGS, ACK, 0, &[]);
        }
        Some(frame)
    }

    /// Discards frames until one satisfies `fits`, and returns that frame.
    #[track_caller]
    pub fn until(&mut self, fits: impl Fn(&Frame) -> bool) -> Frame {
        loop {
            let frame = self.next().expect("the connection goes on");
            if fits(&frame) {
                return frame;
            }
        }
    }

    /// Whether the stream is refused: a status other than 200, a reset, or the end of the connection.
    pub fn refuses(&mut self, stream: u32) -> bool {
        loop {
            match self.next() {
                // Index 8 of HPACK's static table is `:status: 200`; the server sends it as the byte 0x88.
                Some(frame) if frame.is_head_of(stream) => return frame.payload.first() != Some(&0x88),
                Some(frame) if frame.kind == RST_STREAM && frame.stream == stream => return true,
                Some(_) => {}
                None => return true,
            }
        }
    }

    /// The error code of the last GOAWAY before the end of the connection. Panics without a GOAWAY.
    #[track_caller]
    pub fn goodbye(&mut self) -> u32 {
        let mut reason = None;
        while let Some(frame) = self.next() {
            if frame.kind == GOAWAY {
                reason = Some(number(&frame.payload[4..8]));
            }
        }
        reason.expect("a GOAWAY before the end")
    }
}

impl Frame {
    /// Whether this frame begins the response of `stream`.
    pub fn is_head_of(&self, stream: u32) -> bool {
        self.kind == HEADERS && self.stream == stream
    }

    /// The error code of a RST_STREAM frame.
    pub fn reason(&self) -> u32 {
        number(&self.payload[..4])
    }
}

/// The HEADERS frame of a GET.
pub fn get(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &head(&[("host-less", "1")], path))
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The header block of a GET in HPACK, with every field as a literal.
pub fn head(more: &[(&str, &str)], path: &str) -> Vec<u8> {
    let usual = [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "localhost")];
    usual.iter().chain(more).flat_map(|(name, value)| literal(name, value)).collect()
}

/// A literal header field without indexing (RFC 7541, section 6.2.2).
pub fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0][..], &string(name), &string(value)].concat()
}

fn string(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    match text.len() {
        short @ 0..127 => bytes.push(short as u8),
        long => {
            bytes.push(127);
            let mut rest = long - 127;
            while rest >= 128 {
                bytes.push((rest % 128 + 128) as u8);
                rest /= 128;
            }
            bytes.push(rest as u8);
        }
    }
    bytes.extend(text.as_bytes());
    bytes
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}
