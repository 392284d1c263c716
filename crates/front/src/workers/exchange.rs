//! The state of one request at a worker. The request's future and the worker's task share it and wake one another
//! through it, without a task or channel for each request.
//!
//! ```text
//!   Queued ──▶ Running ──▶ Over        Over is reached by End, by a Failure, or when the client leaves the queue
//! ```
//!
//! When the client leaves while the exchange is `Running`, the worker continues, and the rest of its response is
//! discarded.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use wire::Malformed;
use wire::memory::blocks::Block;
use wire::reply::{End, Head, Reply};

use super::content_length::ContentLength;
use super::pool::RequestId;
use super::reply_port::ReplyPort;
use super::slow_client::Pressure;
use super::spool::{Batch, Spool, SpoolStore};
use super::submitted::Begun;
use crate::base::failure::{Failure, Truncated};

/// Most informational (1xx) heads of one response.
const MAX_INFOS: u32 = 32;
/// Most messages of one request without content (empty body, more time); no real program sends as many.
const MAX_IDLE: u32 = 1_000_000;

/// An exchange, shared by the request's future and the worker's task.
pub type SharedExchange = Rc<RefCell<Exchange>>;

/// State of an exchange; see the diagram above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The request waits for a worker.
    Queued,
    /// A worker has begun to answer the request.
    Running,
    /// No further reply will arrive.
    Over,
}

/// Called with an exchange when it is over.
pub type OnEnd = Box<dyn FnOnce(&Exchange)>;

pub struct Exchange {
    /// Identifies the request in the worker's replies.
    pub id: RequestId,
    /// State of the exchange.
    pub stage: Stage,
    /// Port on which the response arrives; resumed when the spool has room again.
    port: Option<Rc<ReplyPort>>,
    /// When and where the request began; set when the exchange is over.
    pub begun: Option<Begun>,
    /// Time from the request's start at the worker to its end; set when the exchange is over.
    pub had_for: Duration,
    /// Informational (1xx) heads that are not passed on yet.
    pub infos: Vec<Head>,
    /// The response's head, until the request's future takes it.
    pub head: Option<Head>,
    /// Path to which an internal redirect of the program has led the request; its response follows.
    pub moved: Option<Vec<u8>>,
    /// Path of this server that the front serves instead: a local redirect of CGI (RFC 3875, section 6.2.2).
    pub elsewhere: Option<Vec<u8>>,
    /// Status of an error that the front answers, with variables for its ErrorDocument.
    pub refused: Option<(u16, Vec<u8>)>,
    /// File to send as the body; `head`, if present, has its headers.
    pub file: Option<Vec<u8>>,
    /// Body bytes that the client has not read yet.
    pub spool: Spool,
    /// Bytes of the body received so far, checked against its Content-Length.
    pub length: ContentLength,
    /// End of the response, or the failure.
    pub outcome: Option<Result<End, Failure>>,
    /// Called when the worker is done, because the client may have its whole response earlier, or has left.
    pub on_end: Option<OnEnd>,
    said_infos: u32,
    /// Messages without content; limited by `MAX_IDLE`.
    idle: u32,
    said_head: bool,
    /// The response is complete, but its worker still cleans up.
    whole: bool,
    abandoned: bool,
    /// The client was too slow and loses the rest of its response.
    is_cut: bool,
    /// How fast the client reads the response.
    pressure: Pressure,
    /// The client has the whole body as promised by its Content-Length, although the worker may send more.
    served: bool,
    waker: Option<Waker>,
}

impl Exchange {
    /// Creates the exchange of a queued request.
    pub fn new(id: RequestId, store: Rc<SpoolStore>) -> Exchange {
        Exchange {
            id,
            stage: Stage::Queued,
            port: None,
            begun: None,
            infos: Vec::new(),
            head: None,
            moved: None,
            elsewhere: None,
            refused: None,
            file: None,
            spool: Spool::new(store),
            length: ContentLength::default(),
            outcome: None,
            on_end: None,
            had_for: Duration::ZERO,
            said_infos: 0,
            idle: 0,
            said_head: false,
            whole: false,
            abandoned: false,
            is_cut: false,
            pressure: Pressure::default(),
            served: false,
            waker: None,
        }
    }

    /// Handles a message of the worker. Messages arrive in the order `Info* [Moved] Head Body* [Complete] End` or
    /// `[Moved] [Head] File [Complete] End` or `Refused End`.
    pub fn receive(&mut self, reply: Reply<'_>) -> Result<(), Malformed> {
        if self.outcome.is_some() || (self.whole && !matches!(reply, Reply::End(_) | Reply::Extend(_))) {
            return Err(Malformed("a message after the end"));
        }
        match reply {
            Reply::Info(_) if self.said_infos == MAX_INFOS => return Err(Malformed("too many informational heads")),
            Reply::Info(head) if !self.said_head => {
                self.said_infos += 1;
                self.infos.push(head);
            }
            Reply::Moved(path) if !self.said_head && self.moved.is_none() => self.moved = Some(path.to_vec()),
            Reply::Head(head) if !self.said_head => {
                self.said_head = true;
                self.head = Some(head);
            }
            Reply::File(path) if self.takes_file() => {
                self.said_head = true;
                self.file = Some(path.to_vec());
            }
            Reply::Elsewhere(target) if !self.said_head => {
                self.said_head = true;
                self.elsewhere = Some(target.to_vec());
            }
            Reply::Refused { status, variables } if !self.said_head && self.moved.is_none() => {
                self.said_head = true;
                self.refused = Some((status, variables.to_vec()));
            }
            Reply::Body(b"") if self.takes_body() => self.count_idle()?,
            Reply::Body(bytes) if self.takes_body() => self.keep(bytes.len(), || Bytes::copy_from_slice(bytes)),
            Reply::Extend(_) => self.count_idle()?,
            Reply::Complete if self.said_head => self.whole = true,
            Reply::End(end) if self.said_head => self.outcome = Some(Ok(end)),
            _ => return Err(Malformed("messages out of order")),
        }
        Ok(())
    }

    /// Handles a piece of the body in the worker's memory. The piece stays there until it is sent, or is copied if the
    /// worker is short of blocks (`is_needed`).
    pub fn receive_block(&mut self, piece: Block, is_needed: bool) -> Result<(), Malformed> {
        if self.outcome.is_some() || self.whole || !self.takes_body() {
            return Err(Malformed("messages out of order"));
        }
        if piece.as_ref().is_empty() {
            return self.count_idle();
        }
        self.keep(piece.as_ref().len(), || match is_needed {
            true => {
                let mut copied = Vec::new();
                piece.copy_to(&mut copied);
                copied.into()
            }
            false => Bytes::from_owner(piece),
        });
        Ok(())
    }

    fn count_idle(&mut self) -> Result<(), Malformed> {
        self.idle += 1;
        if self.idle > MAX_IDLE { Err(Malformed("too many messages without content")) } else { Ok(()) }
    }

    fn takes_body(&self) -> bool {
        self.said_head && self.file.is_none() && self.elsewhere.is_none() && self.refused.is_none()
    }

    /// A file may replace the body only while the client has neither the head nor any of the body.
    fn takes_file(&self) -> bool {
        let untouched =
            self.elsewhere.is_none() && self.refused.is_none() && self.file.is_none() && self.spool.is_empty();
        !self.said_head || (self.head.is_some() && untouched)
    }

    fn keep(&mut self, length: usize, bytes: impl FnOnce() -> Bytes) {
        if self.abandoned || length == 0 {
            return;
        }
        let is_wanted = !self.served && !self.length.is_exceeded();
        self.length.add(length);
        if is_wanted {
            self.spool.push(bytes());
        }
    }

    /// Whether the worker still sends although the client already has all bytes of its Content-Length.
    pub fn is_for_nobody(&self) -> bool {
        self.served && !self.abandoned && self.length.is_exceeded() && self.outcome.is_none()
    }

    /// Starts the exchange when the first reply arrives, on `port`.
    pub fn start(&mut self, port: Rc<ReplyPort>) {
        self.stage = Stage::Running;
        self.port = Some(port);
    }

    /// Whether the exchange was started with `port`; see [`Exchange::start`].
    pub fn receives_from(&self, port: &Rc<ReplyPort>) -> bool {
        self.port.as_ref().is_some_and(|own| Rc::ptr_eq(own, port))
    }

    /// Ends the exchange: the worker is done with the request.
    pub fn over(&mut self, begun: Option<Begun>) {
        self.begun = begun;
        self.had_for = begun.map(|begun| begun.since.elapsed()).unwrap_or_default();
        self.stage = Stage::Over;
        self.port = None;
        if let Some(on_end) = self.on_end.take() {
            on_end(self);
        }
    }

    /// Ends the exchange without a response, or with a truncated one.
    pub fn fail(&mut self, failure: Failure, begun: Option<Begun>) {
        self.outcome = Some(Err(failure));
        // The error's head replaces a head that the client has not received.
        if !self.whole {
            (self.head, self.file) = (None, None);
        }
        self.over(begun);
        self.wake();
    }

    /// Wakes the request's future.
    pub fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Whether the worker must wait until the client reads more.
    pub fn is_full(&self) -> bool {
        self.spool.is_full()
    }

    /// Whether the whole response is here.
    pub fn is_complete(&self) -> bool {
        self.whole || matches!(&self.outcome, Some(Ok(end)) if !end.truncated)
    }

    /// Whether the client has read the whole response, and its length was right.
    pub fn is_exhausted(&self) -> bool {
        self.spool.is_empty() && self.is_complete() && !self.length.is_exceeded()
    }

    /// The next batch to write to the response's file.
    pub fn next_batch(&mut self) -> Option<Batch> {
        self.spool.next_batch()
    }

    /// Handles the result of writing the last batch, of `bytes` bytes. Resumes a worker that waited for the disk.
    pub fn written(&mut self, result: io::Result<()>, bytes: usize) {
        if result.is_ok() {
            self.pressure.taken(bytes);
        }
        self.spool.written(result);
        if !self.spool.is_full() {
            self.resume();
        }
    }

    /// Lets the spool use a file, because requests wait for the worker.
    pub fn spill(&mut self) {
        self.spool.spill();
        if !self.spool.is_full() {
            self.resume();
        }
    }

    /// Whether the worker must wait for the client although the response may be stored in a file.
    pub fn is_stuck(&self) -> bool {
        self.spool.is_stuck()
    }

    /// Whether the client reads too slowly, measured over `patience`, while requests wait for its worker.
    pub fn is_too_slow(&mut self, patience: Duration, now: Instant) -> bool {
        self.spool.is_stuck() && !self.abandoned && self.pressure.is_too_much(patience, now)
    }

    /// Truncates the response. Call [`Exchange::abandon`] afterwards.
    pub fn cut(&mut self) {
        self.is_cut = true;
        self.wake();
    }

    /// Ready with a head, a file, a redirect or a refusal, or with the failure.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        if self.head.is_some() || self.file.is_some() || self.elsewhere.is_some() || self.refused.is_some() {
            return Poll::Ready(Ok(()));
        }
        if let Some(Err(failure)) = self.outcome {
            return Poll::Ready(Err(failure));
        }
        self.wait(cx)
    }

    /// The next piece of the body; an error if the body is truncated.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Truncated>>> {
        if self.is_cut {
            return Poll::Ready(Some(Err(Truncated)));
        }
        let Poll::Ready(chunk) = self.spool.poll(cx) else { return self.wait(cx) };
        let Ok(chunk) = chunk else { return Poll::Ready(Some(Err(Truncated))) };
        if let Some(chunk) = chunk {
            self.pressure.taken(chunk.len());
            if !self.spool.is_full() {
                self.resume();
            }
            return Poll::Ready(Some(Ok(chunk)));
        }
        match &self.outcome {
            _ if self.whole => Poll::Ready(None),
            None => self.wait(cx),
            Some(Ok(end)) if !end.truncated => Poll::Ready(None),
            Some(_) => Poll::Ready(Some(Err(Truncated))),
        }
    }

    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn resume(&mut self) {
        self.port.iter().for_each(|port| port.resume());
    }

    /// Handles a client that left. A worker that has sent its whole Content-Length is not abandoned; its further
    /// messages are still read.
    pub fn abandon(&mut self) {
        self.served = self.spool.is_empty() && self.length.is_reached();
        self.abandoned = !self.served;
        self.waker = None;
        self.spool.clear();
        self.resume();
    }

    /// Whether the response was cut and [`Exchange::abandon`] was called.
    pub fn is_abandoned(&self) -> bool {
        self.is_cut && self.abandoned
    }

    /// Whether the client left before it had all of its response.
    pub fn is_owed(&self) -> bool {
        self.abandoned
    }

    /// Whether the response is complete, although its worker may still clean up.
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}
