//! A client of HTTP/2 without TLS, by the crate h2, for streams of other protocols (RFC 8441).

use std::net::TcpStream;
use std::thread::spawn;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::ext::Protocol;
use h2::{Reason, RecvStream, SendStream};
use http::{Method, Request};
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use tokio::time::timeout;

use crate::support::{Response, Server, patience};

/// A connection, whose frames another thread sends and receives.
pub struct Http2Client {
    runtime: Runtime,
    sender: SendRequest<Bytes>,
}

/// A stream that is open in both directions.
pub struct Http2Socket {
    runtime: Runtime,
    receive: RecvStream,
    send: SendStream<Bytes>,
    /// Bytes that are received, but not read.
    input: Vec<u8>,
}

/// How the server has ended its side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// END_STREAM
    Whole,
    /// RST_STREAM, or the end of the connection.
    Reset(Option<Reason>),
}

impl Http2Client {
    #[track_caller]
    pub fn open(server: &Server) -> Http2Client {
        Http2Client::open_with(server, &mut Builder::new())
    }

    /// Connects with other settings than the usual ones.
    #[track_caller]
    pub fn open_with(server: &Server, builder: &mut Builder) -> Http2Client {
        let socket = TcpStream::connect(("127.0.0.1", server.site.port)).expect("the server accepts");
        socket.set_nonblocking(true).expect("our own socket");
        let builder = builder.clone();
        let (sender, receiver) = std::sync::mpsc::channel();
        spawn(move || {
            runtime().block_on(async move {
                let socket = tokio::net::TcpStream::from_std(socket).expect("our own socket");
                let (requests, connection) = builder.handshake(socket).await.expect("HTTP/2");
                sender.send(requests).expect("the test waits");
                // Its end is that of all its streams.
                let _ = connection.await;
            });
        });
        Http2Client { runtime: runtime(), sender: receiver.recv().expect("a connection") }
    }

    /// Sends an extended CONNECT, and returns the response with the stream.
    #[track_caller]
    pub fn connect(&mut self, protocol: &str, target: &str, fields: &str) -> (Response, Http2Socket) {
        let mut request = Request::builder().method(Method::CONNECT).uri(format!("http://localhost{target}"));
        for (name, value) in fields.lines().filter_map(|line| line.split_once(": ")) {
            request = request.header(name, value);
        }
        let mut request = request.body(()).expect("a valid request");
        request.extensions_mut().insert(Protocol::from(protocol));
        self.send(request)
    }

    /// Sends the head of a request, and waits for that of its response. A GET has no body.
    #[track_caller]
    pub fn send(&mut self, request: Request<()>) -> (Response, Http2Socket) {
        let sender = self.sender.clone();
        let answered = async {
            let mut sender = sender.ready().await.expect("the connection goes on");
            let is_whole = request.method() == Method::GET;
            let (response, send) = sender.send_request(request, is_whole).expect("a valid request");
            (response.await.expect("a response"), send)
        };
        let (response, send) = within(&self.runtime, answered);
        let (head, receive) = response.into_parts();
        let text = |value: &http::HeaderValue| value.to_str().expect("text").to_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let response = Response { status: head.status.as_u16(), headers, body: Vec::new() };
        (response, Http2Socket { runtime: runtime(), receive, send, input: Vec::new() })
    }

    /// Whether the server allows extended CONNECT, once its SETTINGS have arrived.
    pub fn may_connect(&mut self) -> bool {
        let sender = self.sender.clone();
        within(&self.runtime, async { sender.ready().await.expect("the connection goes on") })
            .is_extended_connect_protocol_enabled()
    }
}

impl Http2Socket {
    /// Sends bytes as the server's windows allow.
    #[track_caller]
    pub fn raw(&mut self, bytes: &[u8]) {
        assert!(self.try_raw(bytes), "the server reads");
    }

    /// As [`Http2Socket::raw`]. Returns whether the stream is still open.
    pub fn try_raw(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            self.send.reserve_capacity(bytes.len());
            let send = &mut self.send;
            let room = within(&self.runtime, std::future::poll_fn(|cx| send.poll_capacity(cx)));
            let Some(Ok(room)) = room else { return false };
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            if self.send.send_data(Bytes::copy_from_slice(now), false).is_err() {
                return false;
            }
            bytes = later;
        }
        true
    }

    /// Reads exactly `count` bytes.
    #[track_caller]
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        while self.input.len() < count {
            let end = self.receive();
            assert_eq!(end, None, "the server goes on");
        }
        self.input.drain(..count).collect()
    }

    /// Reads to the end, and returns all bytes.
    pub fn rest(&mut self) -> (Vec<u8>, StreamEnd) {
        loop {
            if let Some(end) = self.receive() {
                return (std::mem::take(&mut self.input), end);
            }
        }
    }

    /// Receives a piece; or the end.
    fn receive(&mut self) -> Option<StreamEnd> {
        let receive = &mut self.receive;
        match within(&self.runtime, receive.data()) {
            Some(Ok(piece)) => {
                self.receive.flow_control().release_capacity(piece.len()).expect("received bytes");
                self.input.extend_from_slice(&piece);
                None
            }
            Some(Err(error)) => Some(StreamEnd::Reset(error.reason())),
            None => Some(StreamEnd::Whole),
        }
    }

    /// Ends the sending side.
    pub fn finish_sending(&mut self) {
        self.send.send_data(Bytes::new(), true).expect("an open stream");
    }

    pub fn reset(&mut self, reason: Reason) {
        self.send.send_reset(reason);
    }
}

fn runtime() -> Runtime {
    RuntimeBuilder::new_current_thread().enable_all().build().expect("a runtime")
}

#[track_caller]
fn within<T>(runtime: &Runtime, future: impl Future<Output = T>) -> T {
    runtime.block_on(async { timeout(patience(), future).await }).expect("the server goes on")
}
