//! The stream that carries an HTTP/1 connection: socket or TLS, with interim responses.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use smallvec::SmallVec;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::paced::Unwritten;
use crate::client::Client;
use crate::client::transport::Transport;

/// Responses up to this size, in bytes, are copied into one buffer, which costs less than a `writev`.
const SMALL: usize = 4096;

/// Number of pieces that are written at one time without an allocation.
const PARTS: usize = 8;

thread_local! {
    /// Buffer for small responses, and for heads.
    static WRITE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
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

    /// Whether hyper has flushed since its last write, which was not before the head of the last response. Hyper waits
    /// with a head while interim responses are written.
    pub fn is_between_writes(&self) -> bool {
        !self.amid && !self.unwritten.heads.are_due()
    }

    /// See [`Transport::end_with_reset`].
    pub fn end_with_reset(&self, reset: bool) -> io::Result<()> {
        self.line.end_with_reset(reset)
    }

    /// See [`Transport::probe_when_quiet`].
    pub fn probe_when_quiet(&self) -> io::Result<()> {
        self.line.probe_when_quiet()
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

/// Writes `first` and the parts behind it.
fn write(line: &mut Transport, cx: &mut Context<'_>, first: &[u8], others: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
    if others.is_empty() {
        return Pin::new(line).poll_write(cx, first);
    }
    let first = [IoSlice::new(first)];
    let parts: SmallVec<[IoSlice<'_>; PARTS]> = first.iter().chain(others).copied().collect();
    Pin::new(line).poll_write_vectored(cx, &parts)
}

/// The number of bytes that the socket has taken.
fn count(written: &Poll<io::Result<usize>>) -> usize {
    match written {
        Poll::Ready(Ok(count)) => *count,
        Poll::Ready(Err(_)) | Poll::Pending => 0,
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
        let Http1Stream { line, unwritten, .. } = &mut *self;
        let are_due = unwritten.heads.are_due();
        let is_small = parts.iter().map(|part| part.len()).sum::<usize>() <= SMALL;
        let written = ready!(match is_small || are_due {
            true => WRITE.with_borrow_mut(|copy| {
                // hyper shows its heads in the first part.
                let (first, others) = parts.split_at(if is_small { parts.len() } else { 1 });
                copy.clear();
                first.iter().for_each(|part| copy.extend_from_slice(part));
                let heads = if are_due { unwritten.heads.spell(copy) } else { 0 };
                let written = write(line, cx, copy, others);
                if are_due {
                    unwritten.heads.written(count(&written), copy.get(..heads).unwrap_or_default());
                }
                written
            }),
            false => Pin::new(line).poll_write_vectored(cx, parts),
        })?;
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
