//! What hyper reads and writes in place of the socket, for HTTP/1: what comes goes through the [`Buffer`], and the
//! connection's end stays ours.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::io::Stream;
use super::paced::Unwritten;
use super::strict::{Buffer, HeadLimits, Violation};
use crate::client::Client;

/// Shared by hyper and by the end of the connection.
#[derive(Clone)]
pub struct StrictIo(Rc<RefCell<Inner>>);

struct Inner {
    stream: Stream,
    buffer: Buffer,
    client: Rc<Client>,
    /// The client sends nothing more.
    ended: bool,
    /// See [`StrictIo::end_with_reset`].
    resets: bool,
    /// Somebody waits for what comes, whom nothing wakes yet: see [`StrictIo::watch`].
    sleeps: bool,
}

impl StrictIo {
    /// The stream of `client`.
    pub fn new(stream: Stream, client: Rc<Client>, limits: HeadLimits) -> StrictIo {
        StrictIo(Rc::new(RefCell::new(Inner {
            stream,
            buffer: Buffer::new(limits),
            client,
            ended: false,
            resets: false,
            sleeps: false,
        })))
    }

    /// What hyper has of answers and has not written.
    pub fn unwritten(&self) -> Rc<Unwritten> {
        self.0.borrow().stream.unwritten().clone()
    }

    /// What is wrong with the head that came last, once every request before it was answered.
    pub fn unanswered(&self) -> Option<Violation> {
        let inner = self.0.borrow();
        let violation = inner.buffer.violation().filter(|violation| !violation.in_body)?;
        inner.client.has_answered(inner.buffer.heads()).then_some(violation)
    }

    /// The request line of a head that was wrong or is not all there, as far as it is known.
    pub fn request_line(&self) -> Vec<u8> {
        self.0.borrow().buffer.request_line().to_vec()
    }

    /// The target of the connection's request of that number as it was sent, if hyper was shown another.
    pub fn take_target(&self, number: u32) -> Option<Box<[u8]>> {
        self.0.borrow_mut().buffer.take_target(number)
    }

    /// Whether the client may be in the middle of sending something that nobody will read.
    pub fn is_amid(&self) -> bool {
        let inner = self.0.borrow();
        !inner.ended && !inner.buffer.is_between_requests()
    }

    /// Reads past the buffer.
    pub fn poll_discard(&self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_read(cx, into)
    }

    /// Whether something has come that nobody has read yet, known to the runtime or not.
    pub fn has_unread(&self) -> bool {
        self.0.borrow().stream.has_unread()
    }

    /// Whether the runtime does not know the socket.
    pub fn is_unwatched(&self) -> bool {
        self.0.borrow().stream.is_unwatched()
    }

    /// Whether the runtime does not know the socket, and all that had come was read.
    pub fn is_drained(&self) -> bool {
        self.0.borrow().stream.is_drained()
    }

    /// Sees to it that the connection is woken when something comes.
    pub fn watch(&self, cx: &mut Context<'_>) {
        self.0.borrow_mut().watch(cx);
    }

    /// The same, unless an answer is due first.
    pub fn watch_between_answers(&self, cx: &mut Context<'_>) {
        let mut inner = self.0.borrow_mut();
        if !inner.is_owed_an_answer() {
            inner.watch(cx);
        }
    }

    /// Whether the connection's end is a reset, so that nobody takes what was sent for all of it.
    pub fn end_with_reset(&self, reset: bool) {
        let mut inner = self.0.borrow_mut();
        if inner.resets != reset {
            // It fails for a client that has gone, which does not matter.
            inner.resets = inner.stream.end_with_reset(reset).is_ok() && reset;
        }
    }

    /// Ends what is sent.
    pub fn poll_end(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_shutdown(cx)
    }
}

impl Inner {
    fn watch(&mut self, cx: &mut Context<'_>) {
        if std::mem::take(&mut self.sleeps) {
            self.stream.watch(cx);
        }
    }

    /// The client has ended its half. hyper would take that for the end of the connection and drop the answer that is on
    /// its way, so hyper is told after the answer.
    fn at_end(&self) -> Poll<io::Result<()>> {
        if self.is_owed_an_answer() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    /// Whether only whole requests have come, and one of them was not answered yet.
    fn is_owed_an_answer(&self) -> bool {
        self.buffer.is_between_requests() && !self.client.has_answered(self.buffer.heads())
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.buffer.give(into.remaining(), |bytes| into.put_slice(bytes)) > 0 {
                return Poll::Ready(Ok(()));
            }
            match self.buffer.violation() {
                // A body that breaks off, as far as hyper can tell.
                Some(violation) if violation.in_body => return Poll::Ready(Ok(())),
                // An end would make hyper give up the answers that are on their way; the connection looks for itself.
                Some(_) => return Poll::Pending,
                None => {}
            }
            if self.ended {
                return self.at_end();
            }
            // An answer may go out so soon that nobody need be woken for what comes before.
            self.sleeps = self.stream.is_drained() && self.is_owed_an_answer();
            if self.sleeps {
                return Poll::Pending;
            }
            let before = into.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
            let fresh = into.filled_mut().get_mut(before..).unwrap_or_default();
            if fresh.is_empty() {
                self.ended = true;
                let may_listen = self.is_owed_an_answer() && self.client.hangs_up();
                return if may_listen { Poll::Pending } else { Poll::Ready(Ok(())) };
            }
            let passed = self.buffer.take(fresh);
            into.set_filled(before + passed);
            if let (Some(violation), Some(evidence)) = (self.buffer.violation(), self.buffer.evidence()) {
                self.client.complain(&format!("the request cannot be read: {}{evidence}", violation.why));
            }
            if passed > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncRead for StrictIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().poll_read(cx, into)
    }
}

impl AsyncWrite for StrictIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_flush(cx)
    }

    /// hyper is done, the connection may not be: see [`lingering_close`](super::lingering_close).
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
