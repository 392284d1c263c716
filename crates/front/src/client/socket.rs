//! A client's socket. A TCP socket is registered with the runtime only when a task must wait for it. A request that
//! arrives with its connection and is answered immediately therefore needs no epoll entry.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream as PlainStream};
use std::os::fd::{AsRawFd, RawFd};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// Maximum number of bytes in one read of an unregistered socket.
const FIRST: usize = 4096;

#[derive(Debug)]
pub enum Socket {
    /// TCP (`Listen 80`), not registered with the runtime.
    Unwatched(Unwatched),
    /// TCP (`Listen 80`), registered.
    Tcp(TcpStream),
    /// Unix (`Listen /run/site.sock`)
    Unix(UnixStream),
}

/// A non-blocking stream that is not registered with the runtime.
#[derive(Debug)]
pub struct Unwatched {
    /// The stream; `None` once it is registered.
    stream: Option<PlainStream>,
    /// The first read is done. Further reads use the runtime, whose budget limits them.
    read: bool,
    /// The first read has emptied the socket.
    drained: bool,
}

impl Socket {
    /// Wraps a non-blocking stream.
    pub fn tcp(stream: PlainStream) -> Socket {
        Socket::Unwatched(Unwatched { stream: Some(stream), read: false, drained: false })
    }

    /// Whether the socket is not registered with the runtime.
    pub fn is_unwatched(&self) -> bool {
        matches!(self, Socket::Unwatched(_))
    }

    /// Whether the socket is not registered and the first read has emptied it.
    pub fn is_drained(&self) -> bool {
        matches!(self, Socket::Unwatched(socket) if socket.drained)
    }

    /// Registers the socket, and wakes this task when bytes arrive.
    pub fn watch(&mut self, cx: &mut Context<'_>) {
        let known = self.register();
        let ready = match self {
            Socket::Tcp(socket) => socket.poll_read_ready(cx),
            Socket::Unix(socket) => socket.poll_read_ready(cx),
            Socket::Unwatched(_) => Poll::Pending,
        };
        // A failed registration is reported by the next read.
        if known.is_err() || ready.is_ready() {
            cx.waker().wake_by_ref();
        }
    }

    /// Whether the other side has sent its end or a reset, with or without unread bytes before it. False for a socket
    /// that is not registered.
    pub fn is_left(&self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let ready = match self {
            Socket::Tcp(socket) => pin!(socket.ready(Interest::READABLE)).poll(&mut cx),
            Socket::Unix(socket) => pin!(socket.ready(Interest::READABLE)).poll(&mut cx),
            Socket::Unwatched(_) => Poll::Pending,
        };
        matches!(ready, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }

    fn register(&mut self) -> io::Result<()> {
        if let Socket::Unwatched(socket) = self {
            socket.drained = false;
            let stream = socket.stream.take().ok_or(ErrorKind::NotConnected)?;
            *self = Socket::Tcp(TcpStream::from_std(stream)?);
        }
        Ok(())
    }

    /// Runs `act` on an unregistered socket. `None`: the socket is registered, and the caller must use the runtime.
    fn at_once<T>(&mut self, act: impl FnOnce(&mut Unwatched) -> io::Result<T>) -> io::Result<Option<T>> {
        let Socket::Unwatched(socket) = self else { return Ok(None) };
        match act(socket) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.register().map(|()| None),
            done => done.map(Some),
        }
    }
}

impl Unwatched {
    /// The stream. Fails if bytes were already read.
    pub fn into_stream(self) -> io::Result<PlainStream> {
        self.stream.ok_or_else(|| ErrorKind::NotConnected.into())
    }

    /// The stream, until it is registered.
    pub(super) fn stream(&self) -> io::Result<&PlainStream> {
        self.stream.as_ref().ok_or_else(|| ErrorKind::NotConnected.into())
    }

    fn read(&mut self, into: &mut ReadBuf<'_>) -> io::Result<()> {
        if self.read {
            return Err(ErrorKind::WouldBlock.into());
        }
        let most = into.remaining().min(FIRST);
        let n = self.stream()?.read(into.initialize_unfilled_to(most))?;
        (self.read, self.drained) = (true, 0 < n && n < most);
        into.advance(n);
        Ok(())
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.at_once(|socket| socket.read(into))?.is_some() {
            return Poll::Ready(Ok(()));
        }
        match &mut *self {
            Socket::Tcp(socket) => Pin::new(socket).poll_read(cx, into),
            Socket::Unix(socket) => Pin::new(socket).poll_read(cx, into),
            Socket::Unwatched(_) => Poll::Pending,
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(n) = self.at_once(|socket| socket.stream()?.write(bytes))? {
            return Poll::Ready(Ok(n));
        }
        match &mut *self {
            Socket::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            Socket::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
            Socket::Unwatched(_) => Poll::Pending,
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(n) = self.at_once(|socket| socket.stream()?.write_vectored(parts))? {
            return Poll::Ready(Ok(n));
        }
        match &mut *self {
            Socket::Tcp(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
            Socket::Unix(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
            Socket::Unwatched(_) => Poll::Pending,
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Socket::Unwatched(socket) => Poll::Ready(socket.stream()?.shutdown(Shutdown::Write)),
            Socket::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Socket::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Socket::Unwatched(socket) => socket.stream.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            Socket::Tcp(socket) => socket.as_raw_fd(),
            Socket::Unix(socket) => socket.as_raw_fd(),
        }
    }
}
