//! The bytes of a connection, TCP or unix, counted on their way.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::client::Client;

/// Head and body of a response up to this size are put together: copying so little costs less than a `writev`.
const SMALL: usize = 4096;

/// An accepted socket.
#[derive(Debug)]
pub enum Socket {
    /// `Listen 80`
    Tcp(TcpStream),
    /// `Listen /run/site.sock`
    Unix(UnixStream),
}

/// What hyper reads and writes.
pub struct Stream {
    socket: Socket,
    client: Rc<Client>,
    /// hyper has bytes of a response that are not written yet: an interim response must not get between them.
    amid: bool,
}

impl Stream {
    /// The stream of `client`.
    pub fn new(socket: Socket, client: Rc<Client>) -> Stream {
        Stream { socket, client, amid: false }
    }

    fn count(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(n)) => self.client.sent(*n),
            Poll::Pending => self.client.stalls(),
            Poll::Ready(Err(_)) => {}
        }
        written
    }

    /// hyper cannot send interim responses, so they go out here, between two responses.
    fn poll_interim(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.amid && !self.client.interim.borrow().is_empty() {
            let client = self.client.clone();
            let mut interim = client.interim.borrow_mut();
            let written = self.socket.poll_write(cx, &interim);
            let n = ready!(self.count(written))?;
            interim.drain(..n);
        }
        Poll::Ready(Ok(()))
    }
}

impl Socket {
    /// The next bytes.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Tcp(socket) => Pin::new(socket).poll_read(cx, into),
            Socket::Unix(socket) => Pin::new(socket).poll_read(cx, into),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Socket::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            Socket::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            Socket::Tcp(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
            Socket::Unix(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(self.socket.poll_read(cx, into))?;
        self.client.received(into.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        self.amid = true;
        let written = self.socket.poll_write(cx, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        self.amid = true;
        let written = if parts.iter().map(|part| part.len()).sum::<usize>() <= SMALL {
            let client = self.client.clone();
            let mut whole = client.front.small_write.borrow_mut();
            whole.clear();
            parts.iter().for_each(|part| whole.extend_from_slice(part));
            self.socket.poll_write(cx, &whole)
        } else {
            self.socket.poll_write_vectored(cx, parts)
        };
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// hyper flushes when all that it had is written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.amid = false;
        self.client.flushed();
        self.poll_interim(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Socket::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}
