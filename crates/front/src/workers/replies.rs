//! Reads the replies of workers.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wire::Malformed;
use wire::control::FromFront;
use wire::reply::{PacketMessages, Reply};

use super::exchange::SharedExchange;
use super::reply_port::ReplyPort;
use super::storing::store;
use super::worker::{ReplyPath, Worker};
use super::{Failure, RequestId, Workers};

impl Workers {
    /// Reads the replies of `worker` until it is gone. A worker that closes its socket but lives would occupy its slot,
    /// so it is discarded.
    pub async fn listen(self: &Rc<Self>, worker: Arc<Worker>, way: ReplyPath) {
        let port = match ReplyPort::new(worker, self.thread, way) {
            Ok(port) => Rc::new(port),
            Err(error) => {
                return base::log::error("front", format_args!("cannot wait for messages of a worker: {error}"));
            }
        };
        let worker = &port.worker;
        let listening = std::future::poll_fn(|cx| {
            if let Some((request, after)) = port.was_held() {
                self.pass_event(|state| state.scheduler.resumed(worker.id, request, after));
            }
            port.poll_listen(cx, &mut self.buffers.borrow_mut(), |packet| self.receive_packet(&port, packet))
        });
        match listening.await {
            Ok(()) if worker.has_ended() => {
                if worker.is_drained() {
                    self.pool.gone(worker.id);
                }
            }
            Ok(()) => self.pool.discard(worker.id, "has closed its socket", Failure::WorkerGone),
            Err(error) => self.pool.discard(worker.id, &error.to_string(), Failure::ProtocolViolation),
        }
    }

    /// Handles a packet of a worker. A worker that breaks the protocol is discarded.
    fn receive_packet(self: &Rc<Self>, port: &Rc<ReplyPort>, packet: &[u8]) {
        if let Err(malformed) = self.read(port, packet) {
            self.pool.discard(port.worker.id, &malformed.to_string(), Failure::ProtocolViolation);
        }
    }

    fn read(self: &Rc<Self>, port: &Rc<ReplyPort>, packet: &[u8]) -> Result<(), Malformed> {
        let mut current: Option<SharedExchange> = None;
        let mut more_time = Duration::ZERO;
        for message in PacketMessages::new(packet) {
            let (id, reply) = message?;
            if id == 0 {
                self.read_own(&port.worker, reply)?;
                continue;
            }
            let exchange = match &current {
                Some(exchange) if exchange.borrow().id == id => exchange,
                Some(_) => return Err(Malformed("responses to two requests in one packet")),
                None => match self.exchange_of(port, id)? {
                    Some(exchange) => current.insert(exchange),
                    // The reply is for an earlier front, which has died.
                    None => continue,
                },
            };
            if let Reply::Extend(millis) = reply {
                more_time += Duration::from_millis(millis.into());
            }
            let mut exchange = exchange.borrow_mut();
            match reply {
                Reply::Lent { block, length } => {
                    let piece = port.worker.take_block(block, length)?;
                    exchange.receive_block(piece, port.worker.is_short_of_blocks())?;
                }
                reply => exchange.receive(reply)?,
            }
        }
        if let Some(exchange) = &current {
            if !more_time.is_zero() {
                let id = exchange.borrow().id;
                self.pass_event(|state| state.scheduler.extend(id, more_time));
            }
            self.progress(port, exchange);
        }
        Ok(())
    }

    /// Handles a reply without a request.
    fn read_own(self: &Rc<Self>, worker: &Arc<Worker>, reply: Reply<'_>) -> Result<(), Malformed> {
        let broadcasts = &self.pool.front.broadcasts;
        // An adopted worker repeats its subscriptions after `Greeted`.
        let is_subscriber = self.pool.is_event() && worker.belongs_to_this_front() && !worker.is_closed();
        match reply {
            Reply::Publish(message) => return broadcasts.publish(message),
            Reply::Subscribed { channel, count } if is_subscriber => {
                return broadcasts.subscribe(worker.id, worker.socket(), channel, count);
            }
            Reply::Taken(cost) if is_subscriber => {
                broadcasts.taken(worker.id, cost);
                return Ok(());
            }
            Reply::Leaves(reason) if self.pool.is_event() => {
                self.pool.leaves(worker.id, reason);
                return Ok(());
            }
            Reply::Subscribed { .. } | Reply::Taken(_) if self.pool.is_event() => return Ok(()),
            _ => {}
        }
        match (reply, self.pool.is_adopted(worker)) {
            (Reply::Ready { fork_us }, false) | (Reply::Greeted { fork_us }, true) => self.ready(worker, fork_us),
            // The worker was being forked for the earlier front.
            (Reply::Ready { .. }, true) => Ok(()),
            _ => Err(Malformed("a response without a request")),
        }
    }

    fn ready(self: &Rc<Self>, worker: &Arc<Worker>, fork_us: u32) -> Result<(), Malformed> {
        worker.set_ours();
        self.pool.send_to_master(FromFront::Ready { worker: worker.id, fork_us });
        if !worker.set_ready() {
            return Ok(());
        }
        let ready = self.pass_event(|state| state.scheduler.ready(worker.id, Instant::now()));
        self.pool.streams.look_again();
        ready.map_err(|error| Malformed(error.0))
    }

    /// The exchange of a request that the worker replies to. `None`: the reply is for an earlier front.
    fn exchange_of(self: &Rc<Self>, port: &Rc<ReplyPort>, id: RequestId) -> Result<Option<SharedExchange>, Malformed> {
        if !port.worker.belongs_to_this_front() {
            // The earlier front counted its requests from 1, too, so ids are ambiguous.
            return Ok(None);
        }
        let exchange = self.exchange(id).ok_or(Malformed("a response without a request"))?;
        if exchange.borrow().receives_from(port) {
            return Ok(Some(exchange));
        }
        let worker = port.worker.id;
        self.pass_event(|state| state.scheduler.first_reply(worker, id, Instant::now()))
            .map_err(|error| Malformed(error.0))?;
        exchange.borrow_mut().start(port.clone());
        Ok(Some(exchange))
    }

    /// After a packet for an exchange: wakes its future, stores its spool, and reports its progress to the pool.
    fn progress(self: &Rc<Self>, port: &Rc<ReplyPort>, shared: &SharedExchange) {
        let mut exchange = shared.borrow_mut();
        exchange.wake();
        let (worker, id) = (port.worker.id, exchange.id);
        let Some(outcome) = &exchange.outcome else {
            if exchange.is_unwanted() {
                drop(exchange);
                self.abandon(shared);
                return;
            }
            if exchange.is_full() && self.pool.queued() > 0 {
                exchange.spill();
            }
            drop(exchange);
            store(shared);
            let exchange = shared.borrow();
            if exchange.is_whole() {
                drop(exchange);
                self.pass_event(|state| state.scheduler.completed(worker, id, Instant::now()));
            } else if exchange.is_full() {
                let stuck = exchange.is_stuck();
                port.pause(id);
                drop(exchange);
                self.pass_event(|state| state.scheduler.hold(worker, id, stuck));
            }
            return;
        };
        let leaving = outcome.as_ref().ok().and_then(|end| end.leaving);
        drop(exchange);
        store(shared);
        self.pass_event(|state| state.scheduler.ended(worker, id, leaving, Instant::now()));
    }
}
