//! One request's time with a worker. The request's future and the worker's task share it and wake one another through
//! it; neither a task nor a channel is made for a request.
//!
//! ```text
//!   Queued ──▶ Running ──▶ Over        Over is reached by End, by a Failure, or when the client leaves the queue
//! ```
//!
//! When the client leaves while it is `Running`, the worker goes on, and what it still says is thrown away.

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
use super::pool::{ClientId, RequestId, RequestTimeouts};
use super::reply_port::ReplyPort;
use super::slow_client::Pressure;
use super::spool::{Batch, LateClose, Spool, Store};
use super::submitted::{Begun, Label};
use crate::base::failure::{Failure, Truncated};
use config::scheduling::PoolShare;

/// More informational heads than this are no help to anybody.
const MAX_INFOS: u32 = 32;
/// No program asks for more time, or sends nothing, more often than this within one request.
const MAX_IDLE: u32 = 1_000_000;

/// Shared by the request's future and what its worker says.
pub type SharedExchange = Rc<RefCell<Exchange>>;

/// See the diagram above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Waits for a worker.
    Queued,
    /// A worker has begun to answer it.
    Running,
    /// Nothing more will come.
    Over,
}

/// What is done with an exchange that is over.
pub type OnEnd = Box<dyn FnOnce(&Exchange)>;

pub struct Exchange {
    /// Answers must carry it.
    pub id: RequestId,
    /// See [`Stage`].
    pub stage: Stage,
    /// Where its answer comes, which may have to wait for the client.
    port: Option<Rc<ReplyPort>>,
    /// How it came to the worker that had it, when it is over.
    pub begun: Option<Begun>,
    /// How long that worker had it.
    pub had_for: Duration,
    /// Informational heads that were not passed on yet.
    pub infos: Vec<Head>,
    /// The response's head, until the request's future takes it.
    pub head: Option<Head>,
    /// The path of this server that the program has led the request to.
    pub moved: Option<Vec<u8>>,
    /// Where to look instead, a path of this server.
    pub elsewhere: Option<Vec<u8>>,
    /// The file to send instead of a body; the head, if there is one, has headers for it.
    pub file: Option<Vec<u8>>,
    /// Body that the client has not taken yet.
    pub spool: Spool,
    /// Of the body, as far as it has come.
    pub length: ContentLength,
    /// How it ended.
    pub outcome: Option<Result<End, Failure>>,
    /// What waits for the worker's end: the client has its whole answer before, or has left.
    pub on_end: Option<OnEnd>,
    said_infos: u32,
    /// Messages that changed nothing of the answer.
    idle: u32,
    said_head: bool,
    /// The response is all here, though its worker is not free yet.
    whole: bool,
    abandoned: bool,
    /// The client was too slow and loses the rest.
    is_cut: bool,
    /// How fast the client takes the answer.
    pressure: Pressure,
    /// The client has the body that it was promised, though more may come.
    served: bool,
    waker: Option<Waker>,
}

/// What a request is asked of a worker with.
pub struct Job<'a> {
    /// Larger than that of every job before.
    pub id: RequestId,
    /// The encoded request.
    pub frame: Vec<u8>,
    /// Its body when that is in a file.
    pub body: Option<LateClose>,
    /// For logs and status.
    pub label: Label,
    /// How long it may take.
    pub timeouts: RequestTimeouts,
    /// The share of the pool that it counts for.
    pub share: Option<&'a PoolShare>,
    /// Whom the time that it takes a worker is added to.
    pub charged_to: Option<ClientId>,
}

impl Exchange {
    /// A request that waits.
    pub fn new(id: RequestId, store: Rc<Store>) -> Exchange {
        Exchange {
            id,
            stage: Stage::Queued,
            port: None,
            begun: None,
            infos: Vec::new(),
            head: None,
            moved: None,
            elsewhere: None,
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

    /// Takes a message of the worker; the order of messages is `Info* [Moved] Head Body* [Complete] End` or
    /// `[Moved] [Head] File [Complete] End`.
    pub fn hear(&mut self, reply: Reply<'_>) -> Result<(), Malformed> {
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
            Reply::Body(b"") if self.takes_body() => self.count_idle()?,
            Reply::Body(bytes) if self.takes_body() => self.keep(bytes.len(), || Bytes::copy_from_slice(bytes)),
            Reply::Extend(_) => self.count_idle()?,
            Reply::Complete if self.said_head => self.whole = true,
            Reply::End(end) if self.said_head => self.outcome = Some(Ok(end)),
            _ => return Err(Malformed("messages out of order")),
        }
        Ok(())
    }

    /// Takes a piece of the body that lies in the worker's memory. It stays there until it is sent, unless the worker needs the place.
    pub fn hear_block(&mut self, piece: Block, is_needed: bool) -> Result<(), Malformed> {
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
        self.said_head && self.file.is_none() && self.elsewhere.is_none()
    }

    /// Only a head that the client has not got yet can still be a file's.
    fn takes_file(&self) -> bool {
        let untouched = self.elsewhere.is_none() && self.file.is_none() && self.spool.is_empty();
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

    /// Whether its worker sends more than the client was promised, and has got.
    pub fn is_for_nobody(&self) -> bool {
        self.served && !self.abandoned && self.length.is_exceeded() && self.outcome.is_none()
    }

    /// The first word of its answer comes on `port`.
    pub fn start(&mut self, port: Rc<ReplyPort>) {
        self.stage = Stage::Running;
        self.port = Some(port);
    }

    /// Whether [`Exchange::start`] was called with that port.
    pub fn is_heard_from(&self, port: &Rc<ReplyPort>) -> bool {
        self.port.as_ref().is_some_and(|own| Rc::ptr_eq(own, port))
    }

    /// The worker has said everything.
    pub fn over(&mut self, begun: Option<Begun>) {
        self.begun = begun;
        self.had_for = begun.map(|begun| begun.since.elapsed()).unwrap_or_default();
        self.stage = Stage::Over;
        self.port = None;
        if let Some(on_end) = self.on_end.take() {
            on_end(self);
        }
    }

    /// Ends it without an answer, or without the rest of one.
    pub fn fail(&mut self, failure: Failure, begun: Option<Begun>) {
        self.outcome = Some(Err(failure));
        // A head that the client has not seen is not worth showing: it gets the error's instead.
        if !self.whole {
            (self.head, self.file) = (None, None);
        }
        self.over(begun);
        self.wake();
    }

    /// Lets the request's future look again.
    pub fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Whether the worker must wait for the client.
    pub fn is_full(&self) -> bool {
        self.spool.is_full()
    }

    /// Whether everything that will come is here, and whole.
    pub fn is_complete(&self) -> bool {
        self.whole || matches!(&self.outcome, Some(Ok(end)) if !end.truncated)
    }

    /// Whether the client has everything that will ever come, and that was whole.
    pub fn is_exhausted(&self) -> bool {
        self.spool.is_empty() && self.is_complete() && !self.length.is_exceeded()
    }

    /// What is to be written to its file next.
    pub fn next_batch(&mut self) -> Option<Batch> {
        self.spool.next_batch()
    }

    /// What came of the last batch, which had so many bytes. A worker that has waited for the disk goes on.
    pub fn written(&mut self, result: io::Result<()>, bytes: usize) {
        if result.is_ok() {
            self.pressure.taken(bytes);
        }
        self.spool.written(result);
        if !self.spool.is_full() {
            self.resume();
        }
    }

    /// Others wait for its worker: what its client does not take goes to a file.
    pub fn spill(&mut self) {
        self.spool.spill();
        if !self.spool.is_full() {
            self.resume();
        }
    }

    /// Whether the worker must wait for the client although the answer may be stored.
    pub fn is_stuck(&self) -> bool {
        self.spool.is_stuck()
    }

    /// Whether the client, for whose worker requests wait, has been too slow for so long.
    pub fn is_too_slow(&mut self, patience: Duration, now: Instant) -> bool {
        self.spool.is_stuck() && !self.abandoned && self.pressure.is_too_much(patience, now)
    }

    /// The client loses the rest of its answer. To be followed by [`Exchange::abandon`].
    pub fn cut(&mut self) {
        self.is_cut = true;
        self.wake();
    }

    /// Ready when there is a head, a file or a failure to answer with.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        if self.head.is_some() || self.file.is_some() || self.elsewhere.is_some() {
            return Poll::Ready(Ok(()));
        }
        if let Some(Err(failure)) = self.outcome {
            return Poll::Ready(Err(failure));
        }
        self.wait(cx)
    }

    /// The next piece of the body; an error when there is more that will never come.
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

    /// The client is not interested any more. A worker that has kept its promise may end in peace, but is still heard.
    pub fn abandon(&mut self) {
        self.served = self.spool.is_empty() && self.length.is_reached();
        self.abandoned = !self.served;
        self.waker = None;
        self.spool.clear();
        self.resume();
    }

    /// Whether [`Exchange::abandon`] has told that somebody lost the rest of the answer.
    pub fn is_abandoned(&self) -> bool {
        self.is_cut && self.abandoned
    }

    /// Whether the client left before it had what it was promised.
    pub fn is_owed(&self) -> bool {
        self.abandoned
    }

    /// Whether the answer is all here, though its worker may not be free yet.
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}
