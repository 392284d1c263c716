//! WebSockets on streams (RFC 8441). As in httpd, the extended CONNECT becomes the GET of HTTP/1.1's handshake, so that
//! all who answer it answer both alike; their 101 becomes the 200 that opens the WebSocket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use h2::ext::Protocol;
use h2::{Reason, RecvStream, SendStream};
use http::Method;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HeaderValue, SEC_WEBSOCKET_KEY, UPGRADE};
use http::request::Parts;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy, sink};
use tokio::time::timeout;

use super::meter::Traffic;
use crate::base::protocol::StreamProtocol;
use crate::client::Client;
use crate::client::tunnel::Tunnel;
use crate::trace::random;
use crate::tunnels::{self, ClientEnd, TunnelEnd};

/// Longest time from this server's end of a stream to the client's.
const LINGER: Duration = Duration::from_secs(2);

/// Notes what an extended CONNECT asks for. Returns whether that is a WebSocket; then the head becomes a handshake.
pub fn translate(head: &mut Parts) -> bool {
    let Some(protocol) = head.extensions.remove::<Protocol>() else { return false };
    if !protocol.as_str().eq_ignore_ascii_case("websocket") {
        head.extensions.insert(StreamProtocol::Other);
        return false;
    }
    head.extensions.insert(StreamProtocol::WebSocket);
    head.method = Method::GET;
    for name in [CONTENT_LENGTH, EXPECT, SEC_WEBSOCKET_KEY] {
        head.headers.remove(name);
    }
    head.headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    head.headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let key = (u128::from(random()) << 64) | u128::from(random());
    if let Ok(key) = HeaderValue::from_str(&websocket::key(key.to_be_bytes())) {
        head.headers.insert(SEC_WEBSOCKET_KEY, key);
    }
    true
}

/// Carries bytes or messages until the tunnel ends, and ends the stream.
pub async fn carry(client: &Client, traffic: &Traffic, streams: (RecvStream, SendStream<Bytes>), tunnel: Tunnel) {
    let mut io = StreamIo { receive: streams.0, send: streams.1, piece: Bytes::new(), has_ended: false };
    let moved = || traffic.moved();
    match tunnels::carry(ClientEnd { client, io: &mut io, moved: &moved }, tunnel).await {
        TunnelEnd::Whole => {
            if io.end().is_ok() {
                // A reset could make the client lose the last bytes.
                let _ = timeout(LINGER, copy(&mut io, &mut sink())).await;
            }
        }
        TunnelEnd::Cut => io.send.send_reset(Reason::CANCEL),
    }
}

/// Both directions of a stream. Windows open as bytes are read, and bytes are written as windows allow.
struct StreamIo {
    receive: RecvStream,
    send: SendStream<Bytes>,
    /// The rest of the last DATA frame.
    piece: Bytes,
    /// The last byte was sent.
    has_ended: bool,
}

impl StreamIo {
    fn end(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.has_ended, true) {
            true => Ok(()),
            false => self.send.send_data(Bytes::new(), true).map_err(io::Error::other),
        }
    }

    /// The number of bytes that may be sent, up to `wanted`.
    fn poll_room(&mut self, cx: &mut Context<'_>, wanted: usize) -> Poll<io::Result<usize>> {
        loop {
            // h2 reports each increase once.
            let room = self.send.capacity();
            if room > 0 {
                return Poll::Ready(Ok(room.min(wanted)));
            }
            self.send.reserve_capacity(wanted);
            match ready!(self.send.poll_capacity(cx)) {
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                None => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            }
        }
    }
}

impl AsyncRead for StreamIo {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.piece.is_empty() {
            match ready!(this.receive.poll_data(cx)) {
                Some(Ok(piece)) => this.piece = piece,
                Some(Err(error)) if !is_departure(&error) => return Poll::Ready(Err(io::Error::other(error))),
                Some(Err(_)) | None => return Poll::Ready(Ok(())),
            }
        }
        let n = this.piece.len().min(into.remaining());
        into.put_slice(this.piece.get(..n).unwrap_or_default());
        this.piece.advance(n);
        if this.piece.is_empty() {
            // Frees the memory of the frame.
            this.piece = Bytes::new();
        }
        // Fails for a stream that is over.
        let _ = this.receive.flow_control().release_capacity(n);
        Poll::Ready(Ok(()))
    }
}

/// Whether the client has left, as one of HTTP/1.1 that closes its connection: it cancels the stream (RFC 8441, section
/// 5), or the connection has ended.
fn is_departure(error: &h2::Error) -> bool {
    error.is_io() || matches!(error.reason(), Some(Reason::CANCEL | Reason::NO_ERROR))
}

impl AsyncWrite for StreamIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let n = ready!(self.poll_room(cx, bytes.len()))?;
        let piece = Bytes::copy_from_slice(bytes.get(..n).unwrap_or_default());
        self.send.send_data(piece, false).map_err(io::Error::other)?;
        Poll::Ready(Ok(n))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.end())
    }
}
