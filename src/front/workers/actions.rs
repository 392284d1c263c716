//! Does what the pool wants: in workers' sockets, in the exchanges of requests, and by word to the master.

use std::fs::File;
use std::os::fd::AsFd;
use std::time::Instant;

use wire::control::{FromFront, WorkerId};

use super::pool::queue::Change;
use super::pool::{Action, Cause, RequestId};
use super::{Workers, count};
use crate::front::base::failure::Failure;
use crate::log;
use crate::sys::is_stopped;

impl Workers {
    pub(super) fn perform(&self, action: Action) {
        match action {
            Action::Send { worker, request, ahead } => self.send(worker, request, ahead),
            Action::Begin { worker, request } => self.begin(worker, request),
            Action::TakeBack(worker) => self.take_back(worker),
            Action::WaitAgain(request) => self.exchange(request).iter().for_each(|job| job.borrow_mut().wait_again()),
            Action::TellAbandoned { worker, request } => {
                self.worker(worker).iter().for_each(|worker| worker.tell_abandoned(request));
            }
            Action::TellHungUp { worker, request } => {
                self.worker(worker).iter().for_each(|worker| worker.tell_hung_up(request));
            }
            Action::Spill(request) => self.exchange(request).iter().for_each(|exchange| exchange.borrow_mut().spill()),
            Action::Interrupt { worker, request, first } => self.interrupt(worker, request, first),
            Action::Look(worker) => {
                let is_stopped = self.worker(worker).is_some_and(|worker| is_stopped(worker.pid.get()));
                self.pool.borrow_mut().looked(worker, is_stopped, Instant::now());
            }
            Action::AskToLeave(worker) => {
                self.worker(worker).iter().for_each(|worker| worker.ask_to_leave());
                self.say(FromFront::Leaving { worker });
            }
            Action::Leaves(worker) => self.say(FromFront::Leaving { worker }),
            Action::Kill { worker, reason } => {
                log::error("front", format_args!("{} {reason}", self.name(worker)));
                self.say(FromFront::Kill { worker, reason });
            }
            Action::Forget(worker) => {
                let forgotten = self.by_id.borrow_mut().remove(&worker);
                forgotten.iter().for_each(|worker| worker.close());
            }
            Action::Over(request) => self.take(request).iter().for_each(|exchange| exchange.borrow_mut().over()),
            Action::Fail { request, failure, cause } => self.fail(request, failure, cause),
            Action::Overload { lane, change } => self.tell_overload(lane, change),
        }
    }

    fn send(&self, worker: WorkerId, request: RequestId, ahead: bool) {
        let (Some(to), Some(exchange)) = (self.worker(worker), self.exchange(request)) else { return };
        let sent = {
            let job = exchange.borrow();
            to.send(&job.frame, job.body.as_ref().map(|file| file.as_fd()))
        };
        match sent {
            Ok(()) if ahead => {}
            Ok(()) => self.begin(worker, request),
            Err(error) => self.pool.borrow_mut().not_sent(worker, request, &error.to_string(), Instant::now()),
        }
    }

    fn begin(&self, worker: WorkerId, request: RequestId) {
        let (Some(worker), Some(exchange)) = (self.worker(worker), self.exchange(request)) else { return };
        let frame = exchange.borrow_mut().start(worker, Instant::now());
        self.front.spare_frame(frame);
        count(&self.front.counters.worker_requests);
    }

    fn take_back(&self, worker: WorkerId) {
        let Some(from) = self.worker(worker) else { return };
        let back = from.take_back(&mut self.buffer.borrow_mut());
        let mut requests = Vec::with_capacity(back.len());
        for (frame, body) in back {
            requests.push(frame.id());
            if let Some(exchange) = self.exchange(frame.id()) {
                exchange.borrow_mut().give_back(frame, body.map(File::from));
            }
        }
        self.pool.borrow_mut().taken_back(worker, &requests, Instant::now());
    }

    fn interrupt(&self, worker: WorkerId, request: RequestId, first: bool) {
        if first && let Some(exchange) = self.exchange(request) {
            let what = &exchange.borrow().label;
            log::warn("front", format_args!("{} RequestTimeout has passed for {what}", self.name(worker)));
        }
        self.say(FromFront::Interrupt { worker, request });
    }

    fn fail(&self, request: RequestId, failure: Failure, cause: Cause) {
        let Some(exchange) = self.take(request) else { return };
        match cause {
            Cause::TurnedAway => count(&self.front.counters.turned_away),
            Cause::QueueTimeout => count(&self.front.counters.queue_timeouts),
            Cause::Lost(worker) => {
                log::error("front", format_args!("{} lost {}", self.name(worker), exchange.borrow().label));
            }
            Cause::PerhapsBegun => {}
        }
        exchange.borrow_mut().fail(failure);
    }

    fn tell_overload(&self, lane: usize, change: Change) {
        let pool = self.pool.borrow();
        let Some(lane) = pool.queue().lanes().get(lane) else { return };
        let place = lane.share.as_ref().map_or("the pool", |(_, place)| place);
        match change {
            Change::Begins => log::warn(
                "front",
                format_args!(
                    "{place} is overloaded: {} requests wait for {} busy workers and more come; now the newest is served first, and who waits \
                     too long gets 503 at once (QueueStale): raise MaxClients or the PoolShare, or find out what is slow",
                    lane.len(),
                    lane.busy
                ),
            ),
            Change::Ends { turned_away, after } => log::warn(
                "front",
                format_args!(
                    "{place} is overloaded no more, after {after:.1?}; {turned_away} requests were turned away"
                ),
            ),
        }
    }
}
