//! A client that sees every byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::Linger;

/// A connection.
pub struct Client {
    socket: TcpStream,
    buffer: Vec<u8>,
}

/// A response with its body, taken out of its chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// `200`
    pub status: u16,
    /// Headers; names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The connection ended before the body did.
    pub cut: bool,
}

impl Response {
    /// A header's value, or an empty one.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    pub fn connect(to: SocketAddr) -> Client {
        let socket = TcpStream::connect(to).expect("connected");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        Client { socket, buffer: Vec::new() }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Client {
        self.socket.write_all(bytes.as_ref()).expect("sent");
        self
    }

    /// A whole request for a path.
    pub fn get(&mut self, path: &str) -> Response {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")).answer()
    }

    /// The next response.
    pub fn answer(&mut self) -> Response {
        let mut answer = self.head();
        let length = answer.header("content-length").parse::<usize>();
        let whole = match length {
            Ok(length) => self.take(length),
            Err(_) if answer.header("transfer-encoding") == "chunked" => self.chunks(),
            Err(_) => Ok(self.rest()),
        };
        answer.cut = whole.is_err();
        answer.body = whole.unwrap_or_else(|part| part);
        answer
    }

    /// Reads only the head of the next response.
    pub fn head(&mut self) -> Response {
        let at = loop {
            match self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                Some(at) => break at,
                None => assert!(self.fill(), "no response: {:?}", String::from_utf8_lossy(&self.buffer)),
            }
        };
        let head: Vec<u8> = self.buffer.drain(..at + 4).collect();
        let head = String::from_utf8(head).expect("text");
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Response {
            status: status.expect("a status"),
            headers: lines.filter_map(header).collect(),
            body: vec![],
            cut: false,
        }
    }

    /// Reads the chunked body of a response whose head was read.
    pub fn rest_of_chunks(&mut self) -> Response {
        let whole = self.chunks();
        let cut = whole.is_err();
        Response { status: 0, headers: vec![], body: whole.unwrap_or_else(|part| part), cut }
    }

    /// Reads until the front closes the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.fill() {}
        std::mem::take(&mut self.buffer)
    }

    /// Waits until the connection is closed, and returns whether it is. A TCP reset is required: an end of file shows
    /// only that no more bytes will be sent.
    pub fn reset(self) {
        let at_once = nix::libc::linger { l_onoff: 1, l_linger: 0 };
        setsockopt(&self.socket, Linger, &at_once).expect("set");
    }

    pub fn is_closed(&mut self) -> bool {
        self.buffer.is_empty() && !self.fill()
    }

    fn fill(&mut self) -> bool {
        let mut piece = [0; 65536];
        match self.socket.read(&mut piece) {
            Ok(0) => false,
            Ok(n) => {
                self.buffer.extend_from_slice(&piece[..n]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, Vec<u8>> {
        while self.buffer.len() < length {
            if !self.fill() {
                return Err(std::mem::take(&mut self.buffer));
            }
        }
        Ok(self.buffer.drain(..length).collect())
    }

    fn chunks(&mut self) -> Result<Vec<u8>, Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let Some(at) = self.buffer.windows(2).position(|bytes| bytes == b"\r\n") else {
                if !self.fill() {
                    return Err(body);
                }
                continue;
            };
            let size = String::from_utf8_lossy(&self.buffer[..at]).into_owned();
            let size = usize::from_str_radix(&size, 16).expect("a chunk's size");
            self.buffer.drain(..at + 2);
            match self.take(size + 2) {
                Ok(chunk) => body.extend_from_slice(&chunk[..size]),
                Err(part) => return Err([body, part].concat()),
            }
            if size == 0 {
                return Ok(body);
            }
        }
    }
}
