//! What workers say to their pool.

use std::rc::Rc;

use wire::Malformed;
use wire::control::{FromFront, WorkerState};
use wire::reply::{Packet, Reply};

use super::base::failure::Failure;
use super::exchange::Shared;
use super::pool::Pool;
use super::worker::{Next, Worker};

impl Pool {
    /// Takes a packet of `worker`. A worker that breaks the protocol is as good as dead.
    pub fn hear(&self, worker: &Rc<Worker>, packet: &[u8]) -> Next {
        match self.read(worker, packet) {
            Ok(next) => next,
            Err(malformed) => {
                self.discard_as(worker, &malformed.to_string(), Failure::WorkerLied);
                Next::Nothing
            }
        }
    }

    fn read(&self, worker: &Rc<Worker>, packet: &[u8]) -> Result<Next, Malformed> {
        if worker.adopted.get() {
            return self.await_greeting(worker, packet);
        }
        let exchange = worker.exchange.borrow().clone();
        for message in Packet::new(packet) {
            match (message?, &exchange) {
                ((0, Reply::Ready { fork_us }), None) => self.ready(worker, fork_us)?,
                ((id, reply), Some(exchange)) if id == exchange.borrow().id => exchange.borrow_mut().hear(reply)?,
                _ => return Err(Malformed("an answer to no request")),
            }
        }
        match exchange {
            Some(exchange) => Ok(self.progress(worker, &exchange)),
            None => Ok(Next::Nothing),
        }
    }

    pub(super) fn ready(&self, worker: &Rc<Worker>, fork_us: u32) -> Result<(), Malformed> {
        if worker.booted.replace(true) {
            return Err(Malformed("ready twice"));
        }
        self.say(FromFront::Ready { worker: worker.id, fork_us });
        if matches!(worker.state(), WorkerState::Starting | WorkerState::Busy) {
            self.free(worker);
        }
        Ok(())
    }

    /// After a packet for `exchange`: the client may go on, and at the end the worker too.
    fn progress(&self, worker: &Rc<Worker>, exchange: &Shared) -> Next {
        let mut heard = exchange.borrow_mut();
        heard.wake();
        let Some(outcome) = &heard.outcome else {
            if heard.is_for_nobody() {
                drop(heard);
                self.abandon(exchange);
                return Next::Packet;
            }
            if heard.is_full() && self.queued.get() > 0 {
                heard.spill();
            }
            if heard.is_full() {
                worker.pause();
            }
            return Next::Packet;
        };
        let leaving = outcome.as_ref().is_ok_and(|end| end.leaving);
        let (took, lane) = (heard.started_at.elapsed(), heard.lane);
        heard.over();
        drop(heard);
        self.remember(took);
        self.queue.borrow_mut().release(lane, Some(took));
        worker.requests.set(worker.requests.get() + 1);
        self.vacate(worker);
        if leaving && worker.state() == WorkerState::Busy {
            worker.set_state(WorkerState::Retiring);
            self.say(FromFront::Leaving { worker: worker.id });
            self.take_back(worker);
        } else if worker.state() == WorkerState::Busy && !self.go_on(worker) {
            self.free(worker);
        }
        self.changed();
        if worker.exchange.borrow().is_some() { Next::Packet } else { Next::Nothing }
    }
}
