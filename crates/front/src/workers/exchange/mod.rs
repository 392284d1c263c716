//! The state of one request at a worker. The request's future and the worker's task share it and wake one another
//! through it, without a task or channel for each request.
//!
//! ```text
//!   Queued ──▶ Running ──▶ Over        Over is reached by End, by a Failure, or when the client leaves the queue
//! ```
//!
//! When the client leaves while the exchange is `Running`, the worker continues, and the rest of its response is
//! discarded.

mod incoming;
mod outgoing;

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use wire::reply::{Head, OnwardRequest, RequestEnd};

use super::content_length::ContentLength;
use super::reply_port::ReplyPort;
use super::scheduler::RequestId;
use super::slow_client::Pressure;
use super::spool::{Spool, SpoolStore};
use super::submitted::RequestStart;
use crate::base::failure::Failure;

/// An exchange, shared by the request's future and the worker's task.
pub type SharedExchange = Rc<RefCell<Exchange>>;

/// State of an exchange; see the diagram above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeStage {
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
    pub stage: ExchangeStage,
    /// Port on which the response arrives; resumed when the spool has room again.
    port: Option<Rc<ReplyPort>>,
    /// When and where the request began; set when the exchange is over.
    pub begun: Option<RequestStart>,
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
    /// Headers and variables that the phases have set, for a request that a backend answers.
    pub onward: Option<OnwardRequest>,
    /// File to send as the body; `head`, if present, has its headers.
    pub file: Option<Vec<u8>>,
    /// Body bytes that the client has not read yet.
    pub spool: Spool,
    /// Bytes of the body received so far, checked against its Content-Length.
    pub length: ContentLength,
    /// End of the response, or the failure.
    pub outcome: Option<Result<RequestEnd, Failure>>,
    /// Called when the worker is done, because the client may have its whole response earlier, or has left.
    pub on_end: Option<OnEnd>,
    info_count: u32,
    /// Messages without content; limited by `MAX_IDLE`.
    idle: u32,
    has_head: bool,
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
            stage: ExchangeStage::Queued,
            port: None,
            begun: None,
            infos: Vec::new(),
            head: None,
            moved: None,
            elsewhere: None,
            refused: None,
            onward: None,
            file: None,
            spool: Spool::new(store),
            length: ContentLength::default(),
            outcome: None,
            on_end: None,
            had_for: Duration::ZERO,
            info_count: 0,
            idle: 0,
            has_head: false,
            whole: false,
            abandoned: false,
            is_cut: false,
            pressure: Pressure::default(),
            served: false,
            waker: None,
        }
    }

    /// Whether the worker still sends although the client already has all bytes of its Content-Length.
    pub fn is_unwanted(&self) -> bool {
        self.served && !self.abandoned && self.length.is_exceeded() && self.outcome.is_none()
    }

    /// Starts the exchange when the first reply arrives, on `port`.
    pub fn start(&mut self, port: Rc<ReplyPort>) {
        self.stage = ExchangeStage::Running;
        self.port = Some(port);
    }

    /// Whether the exchange was started with `port`; see [`Exchange::start`].
    pub fn receives_from(&self, port: &Rc<ReplyPort>) -> bool {
        self.port.as_ref().is_some_and(|own| Rc::ptr_eq(own, port))
    }

    /// Ends the exchange: the worker is done with the request.
    pub fn over(&mut self, begun: Option<RequestStart>) {
        self.begun = begun;
        self.had_for = begun.map(|begun| begun.since.elapsed()).unwrap_or_default();
        self.stage = ExchangeStage::Over;
        self.port = None;
        if let Some(on_end) = self.on_end.take() {
            on_end(self);
        }
    }

    /// Ends the exchange without a response, or with a truncated one.
    pub fn fail(&mut self, failure: Failure, begun: Option<RequestStart>) {
        self.outcome = Some(Err(failure));
        // The error's head replaces a head that the client has not received.
        if !self.whole {
            (self.head, self.file, self.onward) = (None, None, None);
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
