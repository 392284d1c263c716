//! Requests that wait for a worker: how they get into the queue, and out of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use wire::control::ShareStatus;

use super::base::failure::Failure;
use super::count;
use super::exchange::{Exchange, Job, Shared, Stage};
use super::pool::Pool;
use super::queue::{Change, Lane, Waiting};
use super::worker::Worker;
use crate::log;

impl Pool {
    /// Gives the job to a worker, or puts it into the queue.
    pub fn submit(&self, job: Job) -> Result<Shared, Failure> {
        let lane = self.queue.borrow().lane(job.route.settings.admission.share.as_ref());
        let exchange = Exchange::new(job, lane, self.spooling.clone());
        let now = exchange.queued_at;
        let exchange = Rc::new(RefCell::new(exchange));
        let may_start = self.queue.borrow_mut().arrives(lane);
        if may_start && self.start(&exchange) {
            self.queue.borrow_mut().occupy(lane);
        } else {
            self.wait(&exchange, now)?;
        }
        self.changed();
        Ok(exchange)
    }

    fn wait(&self, exchange: &Shared, now: Instant) -> Result<(), Failure> {
        let lane = exchange.borrow().lane;
        let waits = self.queue.borrow_mut().push(lane, waiting(exchange));
        if waits.is_err() {
            self.count_turned_away();
            return Err(self.busy(lane));
        }
        self.queued.update(|n| n + 1);
        self.release_held();
        self.turn_away(now);
        Ok(())
    }

    /// Somebody waits: no worker has to wait for a slow client.
    fn release_held(&self) {
        for worker in self.workers().iter().filter(|worker| worker.is_paused()) {
            if let Some(exchange) = &*worker.exchange.borrow() {
                exchange.borrow_mut().spill();
            }
        }
    }

    /// A request that was taken out of the queue gets no worker yet.
    pub(super) fn wait_again(&self, exchange: &Shared) {
        let (lane, stage) = (exchange.borrow().lane, exchange.borrow().stage);
        match stage {
            Stage::Queued => self.queue.borrow_mut().put_back(lane, waiting(exchange)),
            Stage::Running | Stage::Over => self.queue.borrow_mut().release(lane, None),
        }
    }

    /// Gives idle workers what waits.
    pub(super) fn serve_queue(&self) {
        self.turn_away(Instant::now());
        while !self.idle.borrow().is_empty() {
            let Some(exchange) = self.queue.borrow_mut().pop() else { return };
            if !self.start(&exchange) {
                return self.wait_again(&exchange);
            }
            self.queued.update(|n| n - 1);
        }
    }

    /// A client that left: a request that waits will not be started.
    pub fn abandon(&self, exchange: &Shared) {
        let (lane, id, stage) = {
            let exchange = exchange.borrow();
            (exchange.lane, exchange.id, exchange.stage)
        };
        let working = exchange.borrow_mut().abandon();
        if let Some(worker) = working {
            // What was sent ahead would lie before the word that nobody waits.
            self.take_back(&worker);
            worker.tell_abandoned(id);
        }
        if stage == Stage::Queued {
            self.queued.update(|n| n - 1);
            if self.queue.borrow_mut().remove(lane, id) {
                return;
            }
        }
        if self.ahead.count.get() > 0 {
            let holds = |worker: &&Rc<Worker>| worker.ahead.borrow().iter().any(|ahead| Rc::ptr_eq(ahead, exchange));
            let holder = self.workers().iter().find(holds).cloned();
            holder.inspect(|worker| self.take_back(worker));
        }
    }

    /// The client of `exchange` sends nothing more. Says whether it can be given its answer all the same: one that waits
    /// for a worker is taken for gone, as nginx does, since most are, and an overload is no time to work for nobody.
    pub fn hang_up(&self, exchange: &Shared) -> bool {
        let worker = match &*exchange.borrow() {
            running if running.stage == Stage::Running => running.worker.clone(),
            _ => None,
        };
        // What was sent ahead would lie before the word. It may turn out that this request was not begun either.
        worker.iter().for_each(|worker| self.take_back(worker));
        let (id, stage) = (exchange.borrow().id, exchange.borrow().stage);
        if stage == Stage::Running {
            worker.inspect(|worker| worker.tell_hung_up(id));
        }
        stage != Stage::Queued
    }

    /// Answers those at once that an overload leaves no place for.
    fn turn_away(&self, now: Instant) {
        let late = self.queue.borrow_mut().expired(now);
        late.iter().for_each(|_| self.count_turned_away());
        self.end(late);
    }

    fn count_turned_away(&self) {
        self.front.upgrade().inspect(|front| count(&front.counters.turned_away));
    }

    /// Ends what has waited for its QueueTimeout.
    pub(super) fn time_out(&self, now: Instant) {
        let late = self.queue.borrow_mut().timed_out(|exchange, age| age >= exchange.borrow().limits.queue, now);
        late.iter().for_each(|_| drop(self.front.upgrade().inspect(|front| count(&front.counters.queue_timeouts))));
        self.end(late);
    }

    fn end(&self, late: Vec<Shared>) {
        for exchange in late {
            self.queued.update(|n| n - 1);
            let failure = self.busy(exchange.borrow().lane);
            exchange.borrow_mut().fail(failure);
        }
    }

    fn busy(&self, lane: usize) -> Failure {
        Failure::Busy(self.queue.borrow().retry_after(lane))
    }

    /// Whether more requests come than are answered.
    pub fn is_overloaded(&self) -> bool {
        self.queue.borrow().lanes().iter().any(Lane::is_overloaded)
    }

    /// What the requests of each `PoolShare` have, for a status.
    pub fn shares(&self) -> Vec<ShareStatus> {
        let status = |lane: &Lane<Shared>| {
            lane.share.as_ref().map(|(_, place)| ShareStatus {
                place: place.clone(),
                most: lane.most,
                busy: lane.busy,
                queued: lane.len() as u32,
                overloaded: lane.is_overloaded(),
                turned_away: lane.turned_away,
            })
        };
        self.queue.borrow().lanes().iter().filter_map(status).collect()
    }

    /// Finds out whether more requests come than are answered.
    pub(super) fn watch_load(&self, now: Instant) {
        let workers = self.worker_count() as u32;
        for (lane, change) in self.queue.borrow_mut().watch(workers, now) {
            tell(lane, change);
        }
    }
}

fn waiting(exchange: &Shared) -> Waiting<Shared> {
    let (order, since) = (exchange.borrow().id, exchange.borrow().queued_at);
    Waiting { order, since, item: exchange.clone() }
}

fn tell(lane: &Lane<Shared>, change: Change) {
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
            format_args!("{place} is overloaded no more, after {after:.1?}; {turned_away} requests were turned away"),
        ),
    }
}
