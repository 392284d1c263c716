//! The I/O object that hyper reads and writes for HTTP/1: input passes the [`Buffer`], and hyper cannot close the
//! connection.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::io::Http1Stream;
use super::paced::Unwritten;
use super::strict::{Buffer, HeadLimits, Violation};
use crate::client::Client;

/// A handle shared by hyper and by [`drive`](super::drive).
#[derive(Clone)]
pub struct StrictIo(Rc<RefCell<Inner>>);

struct Inner {
    stream: Http1Stream,
    buffer: Buffer,
    client: Rc<Client>,
    /// The client has closed its sending side.
    ended: bool,
    /// Whether a close sends a reset; see [`StrictIo::end_with_reset`].
    resets: bool,
    /// A reader waits without a registered wake-up; see [`StrictIo::watch`].
    sleeps: bool,
}

impl StrictIo {
    /// Wraps the stream of `client`.
    pub fn new(stream: Http1Stream, client: Rc<Client>, limits: HeadLimits) -> StrictIo {
        StrictIo(Rc::new(RefCell::new(Inner {
            stream,
            buffer: Buffer::new(limits),
            client,
            ended: false,
            resets: false,
            sleeps: false,
        })))
    }

    /// Response bytes that hyper holds.
    pub fn unwritten(&self) -> Rc<Unwritten> {
        self.0.borrow().stream.unwritten().clone()
    }

    /// The violation in the last head, once every earlier request was answered.
    pub fn unanswered(&self) -> Option<Violation> {
        let inner = self.0.borrow();
        let violation = inner.buffer.violation().filter(|violation| !violation.in_body)?;
        inner.client.has_answered(inner.buffer.heads()).then_some(violation)
    }

    /// Request line of an incomplete or refused head, as far as known.
    pub fn request_line(&self) -> Vec<u8> {
        self.0.borrow().buffer.request_line().to_vec()
    }

    /// Original target of the connection's request `number`, if hyper was given a changed one.
    pub fn take_target(&self, number: u32) -> Option<Box<[u8]>> {
        self.0.borrow_mut().buffer.take_target(number)
    }

    /// Whether hyper has written and flushed all that it has, at least the head of the last response that has begun.
    pub fn is_between_writes(&self) -> bool {
        self.0.borrow().stream.is_between_writes()
    }

    /// Whether the client may be in the middle of a request that will not be read.
    pub fn is_amid(&self) -> bool {
        let inner = self.0.borrow();
        !inner.ended && !inner.buffer.is_between_requests()
    }

    /// Whether the client has sent the head of another request before the response to the last one.
    pub fn is_ahead(&self) -> bool {
        let inner = self.0.borrow();
        inner.buffer.heads() != inner.client.served.get()
    }

    /// Whether the client has sent nothing after the request that is being answered.
    pub fn is_at_last_request(&self) -> bool {
        let inner = self.0.borrow();
        inner.buffer.is_between_requests() && inner.buffer.heads() == inner.client.served.get().wrapping_add(1)
    }

    /// Reads past the buffer, for bytes to discard.
    pub fn poll_discard(&self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_read(cx, into)
    }

    /// Whether the socket has unread bytes, whether or not the runtime has noticed.
    pub fn has_unread(&self) -> bool {
        self.0.borrow().stream.has_unread()
    }

    /// Whether the client has closed its sending side, with or without unread bytes before the end.
    pub fn is_left(&self) -> bool {
        self.0.borrow().stream.is_left()
    }

    /// Whether the socket is not registered with the runtime.
    pub fn is_unwatched(&self) -> bool {
        self.0.borrow().stream.is_unwatched()
    }

    /// Whether the socket is not registered with the runtime and all its bytes were read.
    pub fn is_drained(&self) -> bool {
        self.0.borrow().stream.is_drained()
    }

    /// Registers for input, if a reader sleeps.
    pub fn watch(&self, cx: &mut Context<'_>) {
        self.0.borrow_mut().watch(cx);
    }

    /// Registers for input, unless a response is due first.
    pub fn watch_between_responses(&self, cx: &mut Context<'_>) {
        let mut inner = self.0.borrow_mut();
        if !inner.is_owed_a_response() {
            inner.watch(cx);
        }
    }

    /// Sets whether the close sends a reset, so that a truncated response does not look complete.
    pub fn end_with_reset(&self, reset: bool) {
        let mut inner = self.0.borrow_mut();
        if inner.resets != reset {
            // Fails only for a client that has gone, where it does not matter.
            inner.resets = inner.stream.end_with_reset(reset).is_ok() && reset;
        }
    }

    /// See [`Transport::probe_when_quiet`](crate::client::transport::Transport::probe_when_quiet).
    pub fn probe_when_quiet(&self) {
        // Fails only for a client that has gone, which the next read reports.
        let _ = self.0.borrow().stream.probe_when_quiet();
    }

    /// Closes the sending side.
    pub fn poll_end(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_shutdown(cx)
    }
}

/// The reason without the bytes of the handshake, which are no text.
fn tls_on_plain_port(client: &Client) -> String {
    let port = client.local.port;
    let advice = match client.config.tls_listener() {
        Some(address) => format!("the listener for TLS is {address}"),
        None => format!("write Listen {port} https, or SSLEngine On in the virtual host, with a certificate"),
    };
    format!("the client speaks TLS on the plain port {port}; {advice}")
}

impl Inner {
    fn watch(&mut self, cx: &mut Context<'_>) {
        if std::mem::take(&mut self.sleeps) {
            self.stream.watch(cx);
        }
    }

    /// Handles the end of the client's sending side. hyper would drop the response in progress, so it sees the end only
    /// after the response, unless the request ends with its client.
    fn at_end(&self) -> Poll<io::Result<()>> {
        let waits = self.is_owed_a_response() && !self.client.awaits_backend();
        if waits { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    /// Whether all requests arrived whole, and one is not answered yet.
    fn is_owed_a_response(&self) -> bool {
        self.buffer.is_between_requests() && !self.client.has_answered(self.buffer.heads())
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.buffer.give(into.remaining(), |bytes| into.put_slice(bytes)) > 0 {
                return Poll::Ready(Ok(()));
            }
            match self.buffer.violation() {
                // hyper sees a truncated body.
                Some(violation) if violation.in_body => return Poll::Ready(Ok(())),
                // An end would make hyper drop responses in progress; `drive` checks for violations itself.
                Some(_) => return Poll::Pending,
                None => {}
            }
            if self.ended {
                return self.at_end();
            }
            // The response may be sent soon, so registering for input would be wasted.
            self.sleeps = self.stream.is_drained() && self.is_owed_a_response();
            if self.sleeps {
                return Poll::Pending;
            }
            let before = into.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
            let fresh = into.filled_mut().get_mut(before..).unwrap_or_default();
            if fresh.is_empty() {
                self.ended = true;
                let may_listen = self.is_owed_a_response() && self.client.handle_hang_up();
                return if may_listen { Poll::Pending } else { Poll::Ready(Ok(())) };
            }
            let passed = self.buffer.take(fresh);
            into.set_filled(before + passed);
            if let (Some(violation), Some(evidence)) = (self.buffer.violation(), self.buffer.evidence()) {
                let cause = match evidence.is_tls_handshake() {
                    true => tls_on_plain_port(&self.client),
                    false => format!("{}{evidence}", violation.why),
                };
                self.client.log_error(&format!("the request cannot be read: {cause}"));
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

    /// Only flushes: hyper is done, but [`lingering_close`](super::lingering_close) may follow.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
