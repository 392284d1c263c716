//! What the [`Pool`](super::Pool) wants done.

use std::time::Duration;

use wire::control::{ExitReason, WorkerId};
use wire::reply::LeaveReason;

use super::queue::Change;
use super::{RequestId, Stretch};
use crate::base::failure::Failure;

/// One thing to do, in the order that they are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Send the request to the worker, which has nothing else or, with `ahead`, is at another request. When that cannot
    /// be done: [`Pool::not_sent`](super::Pool::not_sent).
    Send {
        worker: WorkerId,
        request: RequestId,
        /// The worker is to take it when it has done with what it has.
        ahead: bool,
    },
    /// The worker begins with a request that was sent ahead.
    Begin { worker: WorkerId, request: RequestId },
    /// Take back what the worker has not begun: answered by [`Pool::taken_back`](super::Pool::taken_back).
    TakeBack(WorkerId),
    /// A request that was thought to be begun waits in the queue again.
    WaitAgain(RequestId),
    /// Nobody waits for the request any more: tell the worker, which has it.
    TellAbandoned { worker: WorkerId, request: RequestId },
    /// The client of the request sends nothing more: tell the worker, which has it.
    TellHungUp { worker: WorkerId, request: RequestId },
    /// Others wait for the worker: what the client of this request does not take goes to a file.
    Spill(RequestId),
    /// Requests wait, and the client of this one holds a worker: it loses the rest of its answer when it was too slow for so long.
    Press { request: RequestId, patience: Duration },
    /// The request has taken too long: have its worker interrupt it.
    Interrupt {
        worker: WorkerId,
        request: RequestId,
        /// What takes so long, if it was not interrupted before.
        first: Option<Stretch>,
    },
    /// Find out whether the worker's process is stopped: answered by [`Pool::looked`](super::Pool::looked).
    Look(WorkerId),
    /// Find out whether the worker waits for a request: answered by [`Pool::looked_for_rest`](super::Pool::looked_for_rest).
    LookForRest(WorkerId),
    /// Ask the worker to leave, and tell the master.
    AskToLeave(WorkerId),
    /// The worker leaves of its own will: tell the master.
    Leaves { worker: WorkerId, reason: LeaveReason },
    /// Have the worker killed.
    Kill {
        worker: WorkerId,
        /// Why, for the log.
        reason: String,
        /// Why, for the count.
        exit: ExitReason,
    },
    /// The worker is no longer of this pool: close its socket.
    Forget(WorkerId),
    /// The request has its whole answer, or nobody waits for one.
    Over(RequestId),
    /// The request will not be answered, or not whole.
    Fail {
        request: RequestId,
        /// What its client is told.
        failure: Failure,
        /// How it came to that.
        cause: Cause,
    },
    /// A lane of the queue became overloaded, or is so no more.
    Overload {
        lane: usize,
        /// What has changed.
        change: Change,
    },
}

/// Why a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The queue is full, or the pool overloaded.
    QueueFull,
    /// It has waited for its QueueTimeout.
    QueueTimeout,
    /// Its worker has ended.
    Lost(WorkerId),
    /// The same, and it had answered: only cleanups were left.
    LostCleanups(WorkerId),
    /// It was sent ahead to a worker that has ended, and may have been begun.
    PerhapsBegun,
}
