//! A client's socket. One of TCP is not told to the runtime before somebody has to wait for it: a request that has come with the
//! connection, and is answered at once, costs neither an entry in epoll nor its removal.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream as PlainStream};
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// How much is read at once from a socket that the runtime does not know.
const FIRST: usize = 4096;

/// An accepted socket.
#[derive(Debug)]
pub enum Socket {
    /// `Listen 80`, not known to the runtime.
    Unwatched(Unwatched),
    /// `Listen 80`
    Tcp(TcpStream),
    /// `Listen /run/site.sock`
    Unix(UnixStream),
}

/// A stream that does not block.
#[derive(Debug)]
pub struct Unwatched {
    /// Until the runtime has it.
    stream: Option<PlainStream>,
    /// What had come was read, or some of it: the rest is for the runtime, which lets nobody read for ever.
    read: bool,
    /// All of it was read.
    drained: bool,
}

impl Socket {
    /// Of a stream that does not block.
    pub fn tcp(stream: PlainStream) -> Socket {
        Socket::Unwatched(Unwatched { stream: Some(stream), read: false, drained: false })
    }

    /// Whether the runtime does not know it.
    pub fn is_unwatched(&self) -> bool {
        matches!(self, Socket::Unwatched(_))
    }

    /// Whether the runtime does not know it, and all that had come was read.
    pub fn is_drained(&self) -> bool {
        matches!(self, Socket::Unwatched(socket) if socket.drained)
    }

    /// Lets the runtime watch it, and wake this task when something comes.
    pub fn watch(&mut self, cx: &mut Context<'_>) {
        let known = self.register();
        let ready = match self {
            Socket::Tcp(socket) => socket.poll_read_ready(cx),
            Socket::Unix(socket) => socket.poll_read_ready(cx),
            Socket::Unwatched(_) => Poll::Pending,
        };
        // That it cannot be watched is what the next one who reads is told.
        if known.is_err() || ready.is_ready() {
            cx.waker().wake_by_ref();
        }
    }

    fn register(&mut self) -> io::Result<()> {
        if let Socket::Unwatched(socket) = self {
            socket.drained = false;
            let stream = socket.stream.take().ok_or(ErrorKind::NotConnected)?;
            *self = Socket::Tcp(TcpStream::from_std(stream)?);
        }
        Ok(())
    }

    /// What `act` does with a socket that the runtime does not know; `None` when that has to wait and the runtime knows it now.
    fn at_once<T>(&mut self, act: impl FnOnce(&mut Unwatched) -> io::Result<T>) -> io::Result<Option<T>> {
        let Socket::Unwatched(socket) = self else { return Ok(None) };
        match act(socket) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.register().map(|()| None),
            done => done.map(Some),
        }
    }
}

impl Unwatched {
    /// Without the runtime, of which nothing was read ahead.
    pub fn into_stream(self) -> io::Result<PlainStream> {
        self.stream.ok_or_else(|| ErrorKind::NotConnected.into())
    }

    /// It is there until the runtime has it.
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
