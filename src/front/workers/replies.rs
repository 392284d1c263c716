//! What workers say.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::Malformed;
use wire::control::FromFront;
use wire::reply::{Packet, Reply};

use super::exchange::SharedExchange;
use super::worker::{Next, Worker};
use super::{Failure, Workers};

impl Workers {
    /// Hears `worker` until it has gone. One that falls silent and lives is of no use to anybody, and would keep its place in
    /// the pool. `packet` is where its packets are received, one after the other.
    pub async fn listen(&self, worker: &Rc<Worker>, packet: &RefCell<Vec<u8>>) {
        let heard = std::future::poll_fn(|cx| {
            if let Some(after) = worker.was_held() {
                self.tell(|pool| pool.resumed(worker.id, after));
            }
            worker.poll_listen(cx, &mut packet.borrow_mut(), |heard| self.hear(worker, heard))
        });
        match heard.await {
            Ok(()) if worker.has_ended() => self.gone(worker),
            Ok(()) => self.discard(worker, "has closed its socket", Failure::WorkerGone),
            Err(error) => self.discard(worker, &error.to_string(), Failure::WorkerLied),
        }
    }

    /// Takes a packet of `worker`. A worker that breaks the protocol is as good as dead.
    fn hear(&self, worker: &Rc<Worker>, packet: &[u8]) -> Next {
        match self.read(worker, packet) {
            Ok(next) => next,
            Err(malformed) => {
                self.discard(worker, &malformed.to_string(), Failure::WorkerLied);
                Next::Nothing
            }
        }
    }

    fn read(&self, worker: &Rc<Worker>, packet: &[u8]) -> Result<Next, Malformed> {
        if self.pool.borrow().is_adopted(worker.id) {
            return self.await_greeting(worker, packet);
        }
        let current = self.pool.borrow().current(worker.id);
        let exchange = current.and_then(|id| self.exchange(id));
        for message in Packet::new(packet) {
            match (message?, &exchange) {
                ((0, Reply::Ready { fork_us }), None) => self.ready(worker, fork_us)?,
                ((id, reply), Some(exchange)) if Some(id) == current => {
                    if let Reply::Extend(millis) = reply {
                        self.tell(|pool| pool.extend(id, Duration::from_millis(millis.into())));
                    }
                    exchange.borrow_mut().hear(reply)?;
                }
                _ => return Err(Malformed("an answer to no request")),
            }
        }
        match exchange {
            Some(exchange) => Ok(self.progress(worker, &exchange)),
            None => Ok(Next::Nothing),
        }
    }

    pub(super) fn ready(&self, worker: &Rc<Worker>, fork_us: u32) -> Result<(), Malformed> {
        self.say(FromFront::Ready { worker: worker.id, fork_us });
        self.tell(|pool| pool.ready(worker.id, Instant::now())).map_err(|said| Malformed(said.0))
    }

    /// After a packet for `exchange`: the client may go on, and at the end the worker too.
    fn progress(&self, worker: &Rc<Worker>, exchange: &SharedExchange) -> Next {
        let mut heard = exchange.borrow_mut();
        heard.wake();
        let Some(outcome) = &heard.outcome else {
            if heard.is_for_nobody() {
                drop(heard);
                self.abandon(exchange);
                return Next::Packet;
            }
            if heard.is_full() && self.queued() > 0 {
                heard.spill();
            }
            if heard.is_full() {
                worker.pause();
                self.tell(|pool| pool.hold(worker.id));
            }
            return Next::Packet;
        };
        let leaving = outcome.as_ref().is_ok_and(|end| end.leaving);
        drop(heard);
        self.tell(|pool| pool.ended(worker.id, leaving, Instant::now()));
        self.changed();
        if self.pool.borrow().current(worker.id).is_some() { Next::Packet } else { Next::Nothing }
    }
}
