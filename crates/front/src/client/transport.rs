//! The byte stream of a connection: TCP or Unix, with or without TLS. Bytes are counted as on the wire, that is,
//! encrypted.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd};
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

/// Maximum number of bytes in one read while the protocol is determined.
const AHEAD: usize = 512;

/// Silence before the first probe of the kernel, time between two, in seconds, and number of those without an answer.
const PROBES: (u32, u32, u32) = (60, 15, 4);

fn probe(socket: &impl AsFd) -> io::Result<()> {
    let (silence, between, count) = PROBES;
    setsockopt(socket, sockopt::TcpKeepIdle, &silence)?;
    setsockopt(socket, sockopt::TcpKeepInterval, &between)?;
    setsockopt(socket, sockopt::TcpKeepCount, &count)?;
    Ok(setsockopt(socket, sockopt::KeepAlive, &true)?)
}

/// A client's socket that counts its bytes.
pub struct CountedIo {
    socket: Socket,
    client: Rc<Client>,
    /// Bytes read to determine the protocol, which the next read returns.
    ahead: Vec<u8>,
}

/// The layer below HTTP.
pub enum Transport {
    /// A connection without TLS.
    Plain(CountedIo),
    /// A connection with TLS.
    Tls(Box<TlsStream<CountedIo>>),
}

impl Transport {
    /// Sets whether a close sends a reset, including the close at the end of this process. Unix sockets have no resets.
    pub fn end_with_reset(&self, reset: bool) -> io::Result<()> {
        let linger = linger { l_onoff: reset.into(), l_linger: 0 };
        match self.socket() {
            Socket::Tcp(socket) => Ok(setsockopt(socket, sockopt::Linger, &linger)?),
            Socket::Unwatched(socket) => Ok(setsockopt(socket.stream()?, sockopt::Linger, &linger)?),
            Socket::Unix(_) => Ok(()),
        }
    }

    /// Has the kernel find out, in two minutes, that a client has gone to which nothing is sent.
    pub fn probe_when_quiet(&self) -> io::Result<()> {
        match self.socket() {
            Socket::Tcp(socket) => probe(socket),
            Socket::Unwatched(socket) => probe(socket.stream()?),
            Socket::Unix(_) => Ok(()),
        }
    }

    /// Whether the socket has unread bytes, whether or not the runtime has noticed.
    pub fn has_unread(&self) -> bool {
        let socket = self.socket().as_raw_fd();
        recv(socket, &mut [0], MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT).is_ok_and(|count| count > 0)
    }

    /// See [`Socket::is_left`].
    pub fn is_left(&self) -> bool {
        self.socket().is_left()
    }

    /// See [`Socket::is_unwatched`].
    pub fn is_unwatched(&self) -> bool {
        self.socket().is_unwatched()
    }

    /// Whether the socket is not registered with the runtime and all its bytes were read.
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
    /// Wraps the socket of `client`.
    pub fn new(socket: Socket, client: Rc<Client>) -> CountedIo {
        CountedIo { socket, client, ahead: Vec::new() }
    }

    /// The bytes that [`CountedIo::look_ahead`] has read.
    pub fn ahead(&self) -> &[u8] {
        &self.ahead
    }

    /// Waits for more bytes, and returns their number; 0 at the end.
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
            Poll::Pending => self.client.note_stalled(),
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
