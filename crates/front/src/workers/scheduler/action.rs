//! Actions that the [`Scheduler`](super::Scheduler) returns.

use std::time::Duration;

use wire::control::{ExitReason, WorkerId};
use wire::reply::LeaveReason;

use super::queue::Change;
use super::{RequestId, Stretch};
use crate::base::failure::Failure;

/// One action. Perform actions in the order in which the scheduler returns them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Send the request to the worker, which is idle or, with `ahead`, runs another request. If that fails, call
    /// [`Scheduler::not_sent`](super::Scheduler::not_sent).
    Send {
        worker: WorkerId,
        request: RequestId,
        /// The worker shall take the request after its current ones.
        ahead: bool,
    },
    /// The worker begins a request that was sent ahead.
    Begin { worker: WorkerId, request: RequestId },
    /// Take back the requests that the worker has not begun, then call
    /// [`Scheduler::taken_back`](super::Scheduler::taken_back).
    TakeBack(WorkerId),
    /// A request that was believed begun is queued again.
    WaitAgain(RequestId),
    /// The client of the running request has left: notify its worker.
    ReportAbandoned { worker: WorkerId, request: RequestId },
    /// The client of the running request sends nothing more: notify its worker.
    ReportHangup { worker: WorkerId, request: RequestId },
    /// Requests wait for the worker of this request: spool the response to a file.
    Spill(RequestId),
    /// Requests wait for the worker of this request: cut the response if its client is too slow during `patience`.
    Press { request: RequestId, patience: Duration },
    /// The request exceeds its timeout: have its worker interrupted.
    Interrupt {
        worker: WorkerId,
        request: RequestId,
        /// The stretch that exceeds the timeout; `None` if it was interrupted before.
        first: Option<Stretch>,
    },
    /// Check whether the worker's process is stopped, then call [`Scheduler::looked`](super::Scheduler::looked).
    Look(WorkerId),
    /// Check whether the worker waits for a request, then call
    /// [`Scheduler::looked_for_rest`](super::Scheduler::looked_for_rest).
    LookForRest(WorkerId),
    /// Ask the worker to leave, and notify the master.
    AskToLeave(WorkerId),
    /// The worker leaves by its own decision: notify the master.
    Leaves { worker: WorkerId, reason: LeaveReason },
    /// Have the worker killed.
    Kill {
        worker: WorkerId,
        /// Reason for the log.
        reason: String,
        /// Reason for the statistics.
        exit: ExitReason,
    },
    /// The worker no longer belongs to the pool: close its socket.
    Forget(WorkerId),
    /// The request is over: its response is complete, or its client has left.
    Over(RequestId),
    /// The request failed before or during its response.
    Fail {
        request: RequestId,
        /// Determines the client's error response.
        failure: Failure,
        /// Cause, for statistics and logs.
        cause: Cause,
    },
    /// A lane of the queue became overloaded, or has recovered.
    Overload {
        lane: usize,
        /// Begin or end of the overload.
        change: Change,
    },
}

/// Why a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The queue is full, or its lane is overloaded.
    QueueFull,
    /// The request has waited for its `QueueTimeout`.
    QueueTimeout,
    /// The request's worker has ended.
    Lost(WorkerId),
    /// The worker has ended after a complete response; only cleanups were left.
    LostCleanups(WorkerId),
    /// The request was sent ahead to a worker that has ended, and may have been begun.
    PerhapsBegun,
}
