//! The stream that carries an HTTP/1 connection: socket or TLS, with interim responses.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::paced::Unwritten;
use crate::client::Client;
use crate::client::transport::Transport;

/// Responses up to this size, in bytes, are copied into one buffer, which costs less than a `writev`.
const SMALL: usize = 4096;

thread_local! {
    /// Buffer for small responses.
    static SMALL_WRITE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

pub struct Http1Stream {
    line: Transport,
    client: Rc<Client>,
    /// hyper is in the middle of a response, so no interim response may be written.
    amid: bool,
    unwritten: Rc<Unwritten>,
}

impl Http1Stream {
    pub fn new(line: Transport, client: Rc<Client>) -> Http1Stream {
        Http1Stream { line, client, amid: false, unwritten: Rc::default() }
    }

    /// Response bytes that hyper holds.
    pub fn unwritten(&self) -> &Rc<Unwritten> {
        &self.unwritten
    }

    /// See [`Transport::end_with_reset`].
    pub fn end_with_reset(&self, reset: bool) -> io::Result<()> {
        self.line.end_with_reset(reset)
    }

    /// See [`Transport::has_unread`].
    pub fn has_unread(&self) -> bool {
        self.line.has_unread()
    }

    /// See [`Transport::is_left`].
    pub fn is_left(&self) -> bool {
        self.line.is_left()
    }

    /// See [`Transport::is_unwatched`].
    pub fn is_unwatched(&self) -> bool {
        self.line.is_unwatched()
    }

    /// See [`Transport::is_drained`].
    pub fn is_drained(&self) -> bool {
        self.line.is_drained()
    }

    /// See [`Transport::watch`].
    pub fn watch(&mut self, cx: &mut Context<'_>) {
        self.line.watch(cx);
    }

    fn line(&mut self) -> Pin<&mut Transport> {
        Pin::new(&mut self.line)
    }

    /// Writes interim responses between two responses, because hyper cannot send them.
    fn poll_interim(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.amid || self.client.interim.borrow().is_empty() {
            return Poll::Ready(Ok(()));
        }
        let client = self.client.clone();
        let mut interim = client.interim.borrow_mut();
        while !interim.is_empty() {
            let n = ready!(self.line().poll_write(cx, &interim))?;
            interim.drain(..n);
        }
        self.line().poll_flush(cx)
    }
}

impl AsyncRead for Http1Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.line().poll_read(cx, into)
    }
}

impl AsyncWrite for Http1Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        self.amid = true;
        let written = ready!(self.line().poll_write(cx, bytes))?;
        self.unwritten.written(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        self.amid = true;
        let written = if parts.iter().map(|part| part.len()).sum::<usize>() > SMALL {
            ready!(self.line().poll_write_vectored(cx, parts))?
        } else {
            ready!(SMALL_WRITE.with_borrow_mut(|whole| {
                whole.clear();
                parts.iter().for_each(|part| whole.extend_from_slice(part));
                self.line().poll_write(cx, whole)
            }))?
        };
        self.unwritten.written(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// hyper flushes when it has written all its bytes.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.amid = false;
        ready!(self.line().poll_flush(cx))?;
        self.unwritten.all_written();
        self.client.flushed();
        self.poll_interim(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.line().poll_shutdown(cx)
    }
}
