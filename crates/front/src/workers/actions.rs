//! Performs the scheduler's actions on workers' sockets, towards the master, and as notices to the threads of requests.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Instant;

use nix::sys::socket::{Shutdown, shutdown};
use wire::control::{FromFront, WorkerId};
use wire::transport::{OrderDelivery, WorkerOrder};

use super::mailbox::Notice;
use super::ring::owe_bell;
use super::scheduler::queue::Change;
use super::scheduler::{Action, Cause, RequestId, Stretch};
use super::shared_pool::{SharedPool, State};
use super::spool::LateClose;
use super::submitted::RequestStart;
use crate::base::shared::count;
use base::log;
use sys::is_stopped;

impl SharedPool {
    /// Performs all actions of the scheduler; `tell` sends a notice to the thread with this index.
    pub(super) fn perform(&self, state: &mut State, tell: &mut dyn FnMut(u8, Notice)) {
        while let Some(action) = state.scheduler.next_action() {
            match action {
                Action::Send { worker, request, ahead } => self.send(state, worker, request, ahead),
                Action::Begin { worker, request } => self.begin(state, worker, request),
                Action::TakeBack(worker) => take_back(state, worker),
                Action::WaitAgain(request) => {
                    // The request's exchange has not received any reply yet, so only `begun` is reset.
                    if let Some(waiting) = state.requests.get_mut(&request) {
                        waiting.begun = None;
                    }
                }
                Action::ReportAbandoned { worker, request } => {
                    state.workers.get(&worker).inspect(|worker| worker.notify(&WorkerOrder::Abandoned { request }));
                }
                Action::ReportHangup { worker, request } => {
                    state.workers.get(&worker).inspect(|worker| worker.notify(&WorkerOrder::HungUp { request }));
                }
                Action::Spill(request) => {
                    state.requests.get(&request).inspect(|spilling| tell(spilling.thread, Notice::Spill(request)));
                }
                Action::Press { request, patience } => {
                    state.requests.get(&request).inspect(|slow| tell(slow.thread, Notice::Press(request, patience)));
                }
                Action::Interrupt { worker, request, first } => self.interrupt(state, worker, request, first),
                Action::Look(worker) => {
                    let is_stopped = state.workers.get(&worker).is_some_and(|worker| is_stopped(worker.pid()));
                    state.scheduler.looked(worker, is_stopped, Instant::now());
                }
                Action::LookForRest(worker) => {
                    let waits = state.workers.get(&worker).is_some_and(|worker| worker.waits());
                    state.scheduler.looked_for_rest(worker, waits, Instant::now());
                }
                Action::AskToLeave(worker) => {
                    state.workers.get(&worker).inspect(|worker| worker.order_to_leave());
                    self.send_to_master(FromFront::Leaving { worker, reason: None });
                }
                Action::Leaves { worker, reason } => {
                    self.send_to_master(FromFront::Leaving { worker, reason: Some(reason) })
                }
                Action::Kill { worker, reason, exit } => {
                    log::error("front", format_args!("{} {reason}", state.name(worker)));
                    self.send_to_master(FromFront::Kill { worker, reason, exit });
                }
                Action::Forget(worker) => {
                    state.last.remove(&worker);
                    state.workers.remove(&worker).inspect(|worker| worker.close());
                    self.front.broadcasts.gone(worker);
                }
                Action::Over(request) => {
                    if let Some(over) = state.requests.remove(&request) {
                        self.front.spare_frame(over.frame);
                        tell(over.thread, Notice::Over(request, over.begun));
                        state.remember(over.label, over.begun);
                    }
                }
                Action::Fail { request, failure, cause } => {
                    if let Some((thread, begun)) = self.fail(state, request, cause) {
                        tell(thread, Notice::Failed(request, failure, begun));
                    }
                }
                Action::Overload { lane, change } => log_overload(state, lane, change),
            }
        }
    }

    fn send(&self, state: &mut State, worker: WorkerId, request: RequestId, ahead: bool) {
        let (Some(to), Some(sent)) = (state.workers.get(&worker), state.requests.get(&request)) else { return };
        let body = sent.body.as_ref().and_then(LateClose::get).map(AsFd::as_fd);
        match to.socket().send(&WorkerOrder::Request { frame: &sent.frame, body, reply_to: sent.thread }) {
            Ok(sent) => {
                if sent == OrderDelivery::Left {
                    owe_bell(to);
                }
                if !ahead {
                    self.begin(state, worker, request);
                }
            }
            Err(error) => state.scheduler.not_sent(worker, request, &error.to_string(), Instant::now()),
        }
    }

    fn begin(&self, state: &mut State, worker: WorkerId, request: RequestId) {
        let pid = state.workers.get(&worker).map_or(0, |worker| worker.pid());
        let Some(begun) = state.requests.get_mut(&request) else { return };
        let since = Instant::now();
        begun.begun = Some(RequestStart { waited: since.saturating_duration_since(begun.at), since, worker, pid });
        count(&self.front.counters.worker_requests);
    }

    fn interrupt(&self, state: &State, worker: WorkerId, request: RequestId, first: Option<Stretch>) {
        // A handler that waits for the client of its connection is woken by the end of the stream, not by the signal.
        // `shutdown` fails harmlessly on a body file.
        let interrupted = state.requests.get(&request).and_then(|interrupted| interrupted.body.as_ref());
        if let Some(body) = interrupted.and_then(LateClose::get) {
            let _ = shutdown(body.as_raw_fd(), Shutdown::Both);
        }
        if let Some(stretch) = first {
            log_late(state, worker, request, stretch);
        }
        self.send_to_master(FromFront::Interrupt { worker, request });
    }

    /// Removes a failed request, and counts or logs the cause. Returns its thread, and where it began.
    fn fail(&self, state: &mut State, request: RequestId, cause: Cause) -> Option<(u8, Option<RequestStart>)> {
        let failed = state.requests.remove(&request)?;
        match cause {
            Cause::QueueFull => count(&self.front.counters.shed.queue_full),
            Cause::QueueTimeout => count(&self.front.counters.shed.queue_timeout),
            Cause::Lost(worker) => {
                log::error("front", format_args!("{} lost {}", state.name(worker), failed.label));
            }
            Cause::LostCleanups(worker) => {
                log::error("front", format_args!("{} lost the cleanups of {}", state.name(worker), failed.label));
            }
            Cause::PerhapsBegun => {}
        }
        Some((failed.thread, failed.begun))
    }
}

fn log_late(state: &State, worker: WorkerId, request: RequestId, stretch: Stretch) {
    let label =
        state.requests.get(&request).map(|late| &late.label).or(state.last.get(&worker).map(|(label, _)| label));
    let Some(label) = label else { return };
    let what = match stretch {
        Stretch::Response => "",
        Stretch::Cleanups => "the cleanups of ",
        Stretch::Rest => "destructors that run after ",
    };
    log::warn("front", format_args!("{} RequestTimeout has passed for {what}{label}", state.name(worker)));
}

fn take_back(state: &mut State, worker: WorkerId) {
    let Some(from) = state.workers.get(&worker).cloned() else { return };
    let requests = from.take_back(&mut state.buffer);
    state.scheduler.taken_back(worker, &requests, Instant::now());
}

fn log_overload(state: &State, lane: usize, change: Change) {
    let Some(lane) = state.scheduler.queue().lanes().get(lane) else { return };
    let place = lane.share.as_ref().map_or("the pool", |(_, place)| place);
    match change {
        Change::Begins => log::warn(
            "front",
            format_args!(
                "{place} is overloaded: {} requests wait for {} busy workers; from now on the newest is served first, and requests that \
                 have waited too long get 503 (QueueStale); raise MaxClients or the PoolShare, or find out what is slow",
                lane.len(),
                lane.busy
            ),
        ),
        Change::Ends { shed, after } => log::warn(
            "front",
            format_args!("{place} is no longer overloaded, after {after:.1?}; {shed} requests were refused"),
        ),
    }
}
