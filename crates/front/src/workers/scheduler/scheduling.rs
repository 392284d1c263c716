//! Scheduling: how requests enter and leave the queue.

use std::time::Instant;

use wire::control::WorkerId;

use super::queue::Waiting;
use super::request::{NewRequest, Request, RequestId, RequestStage};
use super::{Action, Cause, Scheduler};
use crate::base::failure::Failure;

impl Scheduler {
    /// Submits a request: sends it to a worker, or queues it in its lane.
    pub fn submit(&mut self, new: NewRequest, now: Instant) -> Result<(), Failure> {
        let (id, lane) = (new.id, self.queue.lane(new.share));
        self.requests.insert(id, Request::new(new, lane, now));
        let may_start = self.queue.arrives(lane);
        let Some(idle) = self.next_idle().filter(|_| may_start) else { return self.wait(id, lane, now) };
        self.queue.occupy(lane);
        match self.joins(now).filter(|_| new.small) {
            Some(worker) => {
                self.queued += 1;
                self.put_ahead(worker, id);
            }
            None => {
                self.idle.pop();
                self.assign(idle, id, now);
                self.latest = Some((idle, now));
            }
        }
        Ok(())
    }

    fn wait(&mut self, id: RequestId, lane: usize, now: Instant) -> Result<(), Failure> {
        if self.queue.push(lane, Waiting { order: id, since: now, item: id }).is_err() {
            self.requests.remove(&id);
            return Err(self.too_busy(lane));
        }
        self.queued += 1;
        self.release_held();
        self.turn_away(now);
        Ok(())
    }

    fn assign(&mut self, worker: WorkerId, request: RequestId, now: Instant) {
        self.occupy(worker, request, now);
        self.act(Action::Send { worker, request, ahead: false });
    }

    /// Handles a failed send. An idle worker that cannot be sent a request is broken and discarded; a busy one may be
    /// out of room. The request is queued again.
    pub fn not_sent(&mut self, worker: WorkerId, id: RequestId, why: &str, now: Instant) {
        match self.requests.get(&id).map(|request| request.stage) {
            Some(RequestStage::Running(_)) => {
                self.vacate(worker, now);
                self.wait_again(id);
                self.discard(worker, format!("cannot receive a request: {why}"), Failure::WorkerGone, now);
            }
            Some(RequestStage::Ahead(_)) if self.forget_ahead(worker, id) => {
                self.wait_again(id);
                // The request gives its place in the share back, so an idle worker may serve another one.
                self.serve_queue(now);
            }
            _ => {}
        }
    }

    /// Queues a request again at its old place, or ends it if it was abandoned.
    pub(super) fn wait_again(&mut self, id: RequestId) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        let lane = request.lane;
        if request.abandoned {
            self.requests.remove(&id);
            self.queue.release(lane, None);
            return self.act(Action::Over(id));
        }
        if matches!(std::mem::replace(&mut request.stage, RequestStage::Queued), RequestStage::Running(_)) {
            self.queued += 1;
        }
        self.queue.put_back(lane, Waiting { order: id, since: request.queued_at, item: id });
        self.act(Action::WaitAgain(id));
    }

    /// Assigns queued requests to idle workers.
    pub(super) fn serve_queue(&mut self, now: Instant) {
        self.turn_away(now);
        let mut served = Vec::new();
        while let Some(worker) = self.next_idle() {
            let Some(id) = self.queue.pop() else { break };
            self.idle.pop();
            self.queued -= 1;
            self.assign(worker, id, now);
            served.push(worker);
        }
        served.into_iter().for_each(|worker| self.send_ahead(worker));
    }

    /// Handles a client that left. `owed`: it did not get its whole response. `unfinished`: the worker still produces
    /// the response.
    pub fn client_gone(&mut self, id: RequestId, owed: bool, unfinished: bool) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        let (lane, stage) = (request.lane, request.stage);
        let was_abandoned = request.abandoned;
        match stage {
            RequestStage::Queued => {
                self.queued -= 1;
                self.queue.remove(lane, id);
                self.requests.remove(&id);
                self.act(Action::Over(id));
            }
            RequestStage::Ahead(worker) => {
                request.abandoned = true;
                self.queued -= u32::from(!was_abandoned);
                self.take_back(worker);
            }
            RequestStage::Running(worker) => {
                request.abandoned |= owed;
                if owed && unfinished {
                    // The worker would read prefetched requests before the notice, so they are taken back.
                    self.take_back(worker);
                    self.act(Action::ReportAbandoned { worker, request: id });
                }
            }
            RequestStage::Ending => request.abandoned |= owed,
        }
    }

    /// Handles a client that sends nothing more. Perform all actions before calling [`Scheduler::told_hung_up`],
    /// because the request may turn out not to be begun.
    pub fn client_hung_up(&mut self, id: RequestId) {
        if let Some(Request { stage: RequestStage::Running(worker), .. }) = self.requests.get(&id) {
            // The worker would read prefetched requests before the notice, so they are taken back.
            let worker = *worker;
            self.take_back(worker);
        }
    }

    /// Whether a client that sends nothing more can still get its response. A client in the queue counts as gone, as in
    /// nginx: most are, and an overload leaves no time for lost work.
    pub fn told_hung_up(&mut self, id: RequestId) -> bool {
        match self.requests.get(&id).map(|request| request.stage) {
            Some(RequestStage::Running(worker)) => self.act(Action::ReportHangup { worker, request: id }),
            Some(RequestStage::Queued | RequestStage::Ahead(_)) => return false,
            Some(RequestStage::Ending) | None => {}
        }
        true
    }

    /// Refuses the requests that an overload leaves no time for.
    fn turn_away(&mut self, now: Instant) {
        let late = self.queue.expired(now);
        self.refuse(late, Cause::QueueFull);
    }

    /// Fails requests that have waited for their `QueueTimeout`.
    pub(super) fn time_out(&mut self, now: Instant) {
        let requests = &self.requests;
        let allowed = |id: &RequestId| requests.get(id).map(|request| request.timeouts.queue);
        let late = self.queue.timed_out(|id, age| allowed(id).is_some_and(|allowed| age >= allowed), now);
        self.refuse(late, Cause::QueueTimeout);
    }

    fn refuse(&mut self, late: Vec<RequestId>, cause: Cause) {
        for id in late {
            self.queued -= 1;
            let lane = self.requests.remove(&id).map_or(0, |request| request.lane);
            let failure = self.too_busy(lane);
            self.act(Action::Fail { request: id, failure, cause });
        }
    }

    fn too_busy(&self, lane: usize) -> Failure {
        Failure::Busy(self.queue.retry_after(lane))
    }

    /// Updates the overload state of all lanes.
    pub(super) fn watch_load(&mut self, now: Instant) {
        let workers = self.workers.len() as u32;
        for (lane, change) in self.queue.watch(workers, now) {
            self.act(Action::Overload { lane, change });
        }
    }
}
