//! A backend of HTTP/2 whose every frame the test writes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::spawn;

use crate::http2::raw::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, HEADERS, PING, SETTINGS, frame, literal,
};

/// The length of the client's preface (RFC 9113, section 3.4).
const PREFACE: usize = 24;

/// The backend, on 127.0.0.1. It ends with the test's process.
pub struct Http2Backend {
    pub port: u16,
    connections: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

/// A connection that the server has made.
pub struct Peer {
    stream: TcpStream,
    /// The number of the connection, counted from 0.
    pub number: usize,
}

impl Http2Backend {
    /// Gives each connection to `serve`, after the preface and with the backend's own SETTINGS sent.
    pub fn new(serve: impl Fn(&mut Peer) + Send + Sync + 'static) -> Http2Backend {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("our own socket").port();
        let (connections, ended) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (count, ends, serve) = (connections.clone(), ended.clone(), Arc::new(serve));
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let number = count.fetch_add(1, Ordering::Relaxed);
                let (serve, ends) = (serve.clone(), ends.clone());
                spawn(move || {
                    let mut peer = Peer { stream, number };
                    if peer.stream.read_exact(&mut [0; PREFACE]).is_ok() {
                        peer.send(SETTINGS, 0, 0, &[]);
                        serve(&mut peer);
                    }
                    ends.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        Http2Backend { port, connections, ended }
    }

    /// Answers each request with the frames that `answer` makes for its stream.
    pub fn answering(answer: impl Fn(usize, u32) -> Vec<u8> + Send + Sync + 'static) -> Http2Backend {
        Http2Backend::new(move |peer| {
            while let Some(stream) = peer.request() {
                let bytes = answer(peer.number, stream);
                if bytes.is_empty() || !peer.raw(&bytes) {
                    return;
                }
            }
        })
    }

    pub fn url(&self, path: &str) -> String {
        format!("h2c://127.0.0.1:{}{path}", self.port)
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The number of connections that have ended.
    pub fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }
}

impl Peer {
    /// Sends a frame. A write error is ignored: a closed connection shows at the next read.
    pub fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let _ = self.stream.write_all(&frame(kind, flags, stream, payload));
    }

    /// Sends bytes unchanged. Returns whether the server takes them.
    pub fn raw(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next frame, with SETTINGS and PING acknowledged; `None` at the end of the connection.
    pub fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.stream.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let frame = Frame { kind: head[3], flags: head[4], stream, payload };
        if [SETTINGS, PING].contains(&frame.kind) && frame.flags & ACK == 0 {
            let payload = if frame.kind == PING { frame.payload.clone() } else { Vec::new() };
            self.send(frame.kind, ACK, 0, &payload);
        }
        Some(frame)
    }

    /// Reads frames up to the end of a request. Returns its stream.
    pub fn request(&mut self) -> Option<u32> {
        loop {
            let frame = self.next()?;
            if [HEADERS, DATA, CONTINUATION].contains(&frame.kind) && frame.flags & END_STREAM != 0 {
                return Some(frame.stream);
            }
        }
    }
}

/// The HEADERS frame of a response with status 200 and these fields.
pub fn head(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &block(fields))
}

/// A header block with `:status: 200`, index 8 of HPACK's static table.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    [0x88].into_iter().chain(fields.iter().flat_map(|(name, value)| literal(name, value))).collect()
}

/// A whole response with this body.
pub fn response(stream: u32, body: &str) -> Vec<u8> {
    [head(stream, &[("content-type", "text/plain")]), frame(DATA, END_STREAM, stream, body.as_bytes())].concat()
}
