//! An HTTP/1.1 connection that has switched protocols.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::lingering_close;
use super::strict_io::StrictIo;
use crate::client::Client;
use crate::client::tunnel::Tunnel;
use crate::tunnels::{self, ClientEnd};

/// Carries bytes or messages until the tunnel ends, and closes the connection.
pub async fn carry(client: &Client, io: &StrictIo, tunnel: Tunnel) {
    let is_websocket = tunnel.websocket.is_some();
    // Bytes before the switch would be read as HTTP by one side and as something else by the other.
    if !io.is_amid() && !io.is_ahead() {
        let moved = || client.moved();
        let mut carried = pin!(tunnels::carry(ClientEnd { client, io: RawIo(io.clone()), moved: &moved }, tunnel));
        poll_fn(|cx| {
            client.remember(cx);
            carried.as_mut().poll(cx)
        })
        .await;
    }
    if is_websocket {
        lingering_close::part(client, io).await;
    }
}

/// The connection past the reader of heads.
struct RawIo(StrictIo);

impl AsyncRead for RawIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.poll_discard(cx, into)
    }
}

impl AsyncWrite for RawIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_end(cx)
    }
}
