//! One request's time with a worker. The request's future and the worker's task share it and wake one another through
//! it; neither a task nor a channel is made for a request.
//!
//! ```text
//!   Queued ──▶ Running ──▶ Over        Over is reached by End, by a Failure, or when the client leaves the queue
//! ```
//!
//! When the client leaves while it is `Running`, the worker goes on, and what it still says is thrown away.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use wire::Malformed;
use wire::control::Slot;
use wire::frame::Frame;
use wire::reply::{End, Head, Reply};

use super::base::failure::{Failure, Truncated};
use super::length::Length;
use super::limits::rate::Charge;
use super::request::context::Record;
use super::routing::Route;
use super::spool::Spool;
use super::worker::Worker;
use crate::config::Spooling;

/// More informational heads than this are no help to anybody.
const MAX_INFOS: u32 = 32;

/// Shared by the request's future, the worker's task and the pool's queue.
pub type Shared = Rc<RefCell<Exchange>>;

/// See the diagram above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Waits for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// Nothing more will come.
    Over,
}

/// How long a request may wait and run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// `QueueTimeout`
    pub queue: Duration,
    /// `RequestTimeout`; zero is unlimited.
    pub run: Duration,
    /// `RequestTimeoutGrace`
    pub grace: Duration,
}

/// See the module's text.
pub struct Exchange {
    /// Answers must carry it.
    pub id: u64,
    /// See [`Stage`].
    pub stage: Stage,
    /// The encoded request; taken when it is sent.
    pub frame: Vec<u8>,
    /// The request's body when it is in a file.
    pub body: Option<File>,
    /// For logs and status.
    pub method: Method,
    /// For logs and status.
    pub route: Rc<Route>,
    /// See [`Limits`].
    pub limits: Limits,
    /// Its place in the queue.
    pub lane: usize,
    /// What the time that it takes a worker is added to.
    charge: Option<Charge>,
    /// When it was submitted.
    pub queued_at: Instant,
    /// When a worker got it, moved on by the time that a slow client held it up.
    pub started_at: Instant,
    /// How often its worker was told that it takes too long.
    pub interrupts: u8,
    /// How long it waited for a worker.
    pub waited: Duration,
    /// The worker that has it.
    pub worker: Option<Rc<Worker>>,
    /// Slot and process of the worker that has or had it.
    pub served_by: Option<(Slot, i32)>,
    /// Informational heads that were not passed on yet.
    pub infos: Vec<Head>,
    /// The response's head, until the request's future takes it.
    pub head: Option<Head>,
    /// Where to look instead, a path of this server.
    pub elsewhere: Option<Vec<u8>>,
    /// The file to send instead of a body; the head, if there is one, has headers for it.
    pub file: Option<Vec<u8>>,
    /// Body that the client has not taken yet.
    pub spool: Spool,
    /// Of the body, as far as it has come.
    pub length: Length,
    /// How it ended.
    pub outcome: Option<Result<End, Failure>>,
    /// The log record of a client that has its whole answer, or has left, before the worker's end.
    pub record: Option<Rc<Record>>,
    said_infos: u32,
    said_head: bool,
    /// The response is all here, though its worker is not free yet.
    whole: bool,
    abandoned: bool,
    /// The client has the body that it was promised, though more may come.
    served: bool,
    waker: Option<Waker>,
}

/// What a request is asked of a worker with.
pub struct Job {
    /// Unique.
    pub id: u64,
    /// The encoded request.
    pub frame: Vec<u8>,
    /// Its body when that is in a file.
    pub body: Option<File>,
    /// Its method.
    pub method: Method,
    /// Where it leads.
    pub route: Rc<Route>,
    /// How long it may take.
    pub limits: Limits,
    /// What the time that it takes a worker is added to.
    pub charge: Option<Charge>,
}

impl Exchange {
    /// A job that waits in that lane of the queue.
    pub fn new(job: Job, lane: usize, spooling: Rc<Spooling>) -> Exchange {
        let now = Instant::now();
        Exchange {
            id: job.id,
            stage: Stage::Queued,
            frame: job.frame,
            body: job.body,
            method: job.method,
            route: job.route,
            limits: job.limits,
            lane,
            charge: job.charge,
            queued_at: now,
            started_at: now,
            interrupts: 0,
            waited: Duration::ZERO,
            worker: None,
            served_by: None,
            infos: Vec::new(),
            head: None,
            elsewhere: None,
            file: None,
            spool: Spool::new(spooling),
            length: Length::default(),
            outcome: None,
            record: None,
            said_infos: 0,
            said_head: false,
            whole: false,
            abandoned: false,
            served: false,
            waker: None,
        }
    }

    /// Takes a message of the worker; the order of messages is `Info* Head Body* [Complete] End` or
    /// `[Head] File [Complete] End`.
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
            Reply::Body(bytes) if self.said_head && self.file.is_none() && self.elsewhere.is_none() => self.keep(bytes),
            Reply::Extend(millis) => self.extend(Duration::from_millis(millis.into())),
            Reply::Complete if self.said_head => self.whole = true,
            Reply::End(end) if self.said_head => self.outcome = Some(Ok(end)),
            _ => return Err(Malformed("messages out of order")),
        }
        Ok(())
    }

    /// The program asked for more time.
    fn extend(&mut self, more: Duration) {
        if !self.limits.run.is_zero() {
            self.limits.run = self.limits.run.saturating_add(more);
        }
        self.interrupts = 0;
    }

    /// Only a head that the client has not got yet can still be a file's.
    fn takes_file(&self) -> bool {
        let untouched = self.elsewhere.is_none() && self.file.is_none() && self.spool.is_empty();
        !self.said_head || (self.head.is_some() && untouched)
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.abandoned || bytes.is_empty() {
            return;
        }
        let is_wanted = !self.served && !self.length.is_exceeded();
        self.length.add(bytes.len());
        if is_wanted {
            self.spool.push(bytes);
        }
    }

    /// Whether its worker sends more than the client was promised, and has got.
    pub fn is_for_nobody(&self) -> bool {
        self.served && !self.abandoned && self.length.is_exceeded() && self.outcome.is_none()
    }

    /// `worker` begins to work on it.
    pub fn start(&mut self, worker: Rc<Worker>) {
        self.stage = Stage::Running;
        self.started_at = Instant::now();
        self.waited = self.started_at.duration_since(self.queued_at);
        self.served_by = Some((worker.id.slot, worker.pid.get()));
        self.worker = Some(worker);
        self.body = None;
        if let Some(charge) = &mut self.charge {
            charge.begin(self.started_at);
        }
    }

    /// The worker had not begun with it. Says whether it was taken for running.
    pub fn wait_again(&mut self, frame: Frame, body: Option<OwnedFd>) -> bool {
        self.frame = frame.into_buffer();
        self.body = body.map(File::from);
        self.worker = None;
        let was_running = self.stage == Stage::Running;
        if let Some(charge) = &mut self.charge {
            charge.end(Instant::now());
        }
        if was_running && self.abandoned {
            self.over();
        } else if was_running {
            self.stage = Stage::Queued;
        }
        was_running && !self.abandoned
    }

    /// The worker has said everything.
    pub fn over(&mut self) {
        self.stage = Stage::Over;
        self.worker = None;
        self.charge = None;
        if let Some(record) = self.record.take() {
            record.write(Some(self));
        }
    }

    /// Ends it without an answer, or without the rest of one.
    pub fn fail(&mut self, failure: Failure) {
        self.outcome = Some(Err(failure));
        // A head that the client has not seen is not worth showing: it gets the error's instead.
        if !self.whole {
            (self.head, self.file) = (None, None);
        }
        self.over();
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

    /// Others wait for its worker: what its client does not take goes to a file.
    pub fn spill(&mut self) {
        self.spool.spill();
        self.resume();
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
        let Ok(chunk) = self.spool.pop() else { return Poll::Ready(Some(Err(Truncated))) };
        if let Some(chunk) = chunk {
            if self.spool.has_room() {
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
        if let Some(waited) = self.worker.as_ref().and_then(|worker| worker.resume()) {
            self.started_at += waited;
        }
    }

    /// The client is not interested any more. Returns the worker that still makes something for it: one that has kept its
    /// promise may end in peace, but is still heard.
    pub fn abandon(&mut self) -> Option<Rc<Worker>> {
        self.served = self.spool.is_empty() && self.length.is_reached();
        self.abandoned = !self.served;
        self.waker = None;
        self.spool.clear();
        match self.stage {
            Stage::Queued => self.stage = Stage::Over,
            Stage::Running => self.resume(),
            Stage::Over => {}
        }
        self.worker.clone().filter(|_| self.abandoned && self.stage == Stage::Running && !self.whole)
    }
}
