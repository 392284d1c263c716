//! The bytes of a connection as they travel: TCP or unix, with or without TLS. They are counted as the network sees
//! them.

use std::io::{self, IoSlice};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use nix::libc::linger;
use nix::sys::socket::{MsgFlags, recv, setsockopt, sockopt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

use super::Client;
use super::socket::Socket;
use crate::base::turn;

/// How much is read to find out what a connection speaks.
const AHEAD: usize = 512;

/// A socket of a client, what passes through it counted.
pub struct CountedIo {
    socket: Socket,
    client: Rc<Client>,
    /// What was read to see what is spoken, and must be read again.
    ahead: Vec<u8>,
}

/// What HTTP is spoken over.
pub enum Transport {
    /// Without TLS.
    Plain(CountedIo),
    /// With TLS.
    Tls(Box<TlsStream<CountedIo>>),
}

impl Transport {
    /// Whether closing it sends a reset, be it closed by us or by the end of this process. A unix socket has no resets.
    pub fn end_with_reset(&self, reset: bool) -> io::Result<()> {
        let linger = linger { l_onoff: reset.into(), l_linger: 0 };
        match self.socket() {
            Socket::Tcp(socket) => Ok(setsockopt(socket, sockopt::Linger, &linger)?),
            Socket::Unwatched(socket) => Ok(setsockopt(socket.stream()?, sockopt::Linger, &linger)?),
            Socket::Unix(_) => Ok(()),
        }
    }

    /// Whether bytes have come that were not read yet, known to the runtime or not.
    pub fn has_unread(&self) -> bool {
        let socket = self.socket().as_raw_fd();
        recv(socket, &mut [0], MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT).is_ok_and(|count| count > 0)
    }

    /// See [`Socket::is_unwatched`].
    pub fn is_unwatched(&self) -> bool {
        self.socket().is_unwatched()
    }

    /// Whether the runtime does not know its socket, and all that had come was read.
    pub fn is_drained(&self) -> bool {
        matches!(self, Transport::Plain(line) if line.ahead.is_empty() && line.socket.is_drained())
    }

    /// See [`Socket::watch`].
    pub fn watch(&mut self, cx: &mut Context<'_>) {
        match self {
            Transport::Plain(line) => line.socket.watch(cx),
            Transport::Tls(line) => line.get_mut().0.socket.watch(cx),
        }
    }

    fn socket(&self) -> &Socket {
        match self {
            Transport::Plain(line) => &line.socket,
            Transport::Tls(line) => &line.get_ref().0.socket,
        }
    }
}

impl CountedIo {
    /// The socket of `client`.
    pub fn new(socket: Socket, client: Rc<Client>) -> CountedIo {
        CountedIo { socket, client, ahead: Vec::new() }
    }

    /// The bytes that [`CountedIo::look_ahead`] has read.
    pub fn ahead(&self) -> &[u8] {
        &self.ahead
    }

    /// Waits for more of it; says how many bytes came, 0 at the end.
    pub async fn look_ahead(&mut self) -> io::Result<usize> {
        let mut space = [0; AHEAD];
        let n = std::future::poll_fn(|cx| {
            let mut into = ReadBuf::new(&mut space);
            ready!(self.poll_receive(cx, &mut into))?;
            Poll::Ready(Ok::<_, io::Error>(into.filled().len()))
        })
        .await?;
        self.ahead.extend(space.iter().take(n));
        Ok(n)
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        turn::look();
        ready!(Pin::new(&mut self.socket).poll_read(cx, into))?;
        self.client.received(into.filled().len() - before);
        Poll::Ready(Ok(()))
    }

    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        turn::look();
        match &written {
            Poll::Ready(Ok(n)) => self.client.sent(*n),
            Poll::Pending => self.client.stalls(),
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl AsyncRead for CountedIo {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return self.poll_receive(cx, into);
        }
        let n = self.ahead.len().min(into.remaining());
        into.put_slice(self.ahead.get(..n).unwrap_or_default());
        self.ahead.drain(..n);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CountedIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl AsyncRead for Transport {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Transport::Plain(line) => Pin::new(line).poll_read(cx, into),
            Transport::Tls(line) => Pin::new(line).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Transport::Plain(line) => Pin::new(line).poll_write(cx, bytes),
            Transport::Tls(line) => Pin::new(line).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Transport::Plain(line) => Pin::new(line).poll_write_vectored(cx, parts),
            Transport::Tls(line) => Pin::new(line).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Transport::Plain(line) => Pin::new(line).poll_flush(cx),
            Transport::Tls(line) => Pin::new(line).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Transport::Plain(line) => Pin::new(line).poll_shutdown(cx),
            Transport::Tls(line) => Pin::new(line).poll_shutdown(cx),
        }
    }
}
