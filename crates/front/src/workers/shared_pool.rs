//! A pool of a generation as all threads drive it: whoever brings an event locks it, and does what the pool wants before
//! the next event: in workers' sockets and by word to the master at once, for requests by [`Notice`] to their threads.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wire::control::{FromFront, Load, PoolId, WorkerId};
use wire::transport::MAX_ORDER;

use super::mailbox::{Mailboxes, Notice, Notices};
use super::pool::queue::Sizes;
use super::pool::{ClientId, NewRequest, Pool, RequestId, TooFast};
use super::ring;
use super::submitted::{Begun, Label, Submitted};
use super::worker::Worker;
use crate::base::failure::Failure;
use crate::base::lock::lock;
use crate::base::shared;
use config::Config;
use config::access::Throttle;
use config::scheduling::{PoolShare, SpeedLimit};

pub struct SharedPool {
    /// Whose workers these are.
    pub id: PoolId,
    /// Its configuration has no other.
    pub(super) is_alone: bool,
    /// What all parts of the front share.
    pub front: Arc<shared::Shared>,
    mailboxes: Mailboxes,
    state: Mutex<State>,
}

pub(super) struct State {
    pub pool: Pool,
    pub workers: BTreeMap<WorkerId, Arc<Worker>>,
    pub requests: FxHashMap<RequestId, Submitted>,
    /// The request that each worker has ended last, and how long that had waited: for the status.
    pub last: FxHashMap<WorkerId, (Label, Duration)>,
    /// For what is taken back.
    pub buffer: Box<[u8]>,
}

/// A place among the requests that are under way, given back when this goes.
pub struct Turn {
    /// Of which line.
    pub line: u32,
    pool: Arc<SharedPool>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        lock(&self.pool.state).pool.give_turn_back(self.line);
    }
}

impl SharedPool {
    /// Without workers yet; they come by [`SharedPool::add`].
    pub fn new(front: &Arc<shared::Shared>, mailboxes: &Mailboxes, id: PoolId, config: &Config) -> SharedPool {
        let pool = config.pool_of(id.pool);
        let sizes = Sizes { workers: pool.max_clients, length: pool.queue_length, stale: pool.queue_stale };
        // A place may have its share from one section and its pool from another.
        let shares = config.sections.iter().filter_map(|section| section.said.scheduling.share.as_ref());
        let state = State {
            pool: Pool::new(sizes, shares, Instant::now()),
            workers: BTreeMap::new(),
            requests: FxHashMap::default(),
            last: FxHashMap::default(),
            buffer: vec![0; MAX_ORDER].into(),
        };
        SharedPool {
            id,
            is_alone: config.more_pools.is_empty(),
            front: front.clone(),
            mailboxes: mailboxes.clone(),
            state: Mutex::new(state),
        }
    }

    /// How many workers it has.
    pub fn count(&self) -> usize {
        lock(&self.state).workers.len()
    }

    /// Looks at it.
    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&lock(&self.state))
    }

    /// Brings an event that the clock or the master brings.
    fn tell(&self, event: impl FnOnce(&mut Pool)) {
        let mut state = lock(&self.state);
        event(&mut state.pool);
        self.perform_all(&mut state, |thread, notice| self.mail(thread, notice));
    }

    /// Brings an event from a thread. What that is to do about its own requests it is given, for when the lock is free again.
    pub(super) fn tell_from<T>(&self, thread: u8, event: impl FnOnce(&mut State) -> T) -> (T, Notices) {
        let mut own = Notices::new();
        let mut state = lock(&self.state);
        let told = event(&mut state);
        self.perform_all(&mut state, |to, notice| match to == thread {
            true => own.push(notice),
            false => self.mail(to, notice),
        });
        let load = load(self.id, &state.pool);
        let slack = state.pool.slack();
        drop(state);
        self.front.pool_changed(load);
        ring::coalesce(slack);
        (told, own)
    }

    /// The same from no thread in particular, when workers come or go.
    fn tell_of_worker(&self, event: impl FnOnce(&mut Pool)) {
        self.tell(event);
        self.front.pool_changed(self.load());
    }

    fn mail(&self, thread: u8, notice: Notice) {
        self.mailboxes.tell(thread, self.id, notice);
    }

    /// Counts a request of `client` where its speed is limited, or refuses it.
    pub fn keep_pace(&self, limit: &SpeedLimit, client: IpAddr) -> Result<ClientId, TooFast> {
        lock(&self.state).pool.keep_pace(limit, client, Instant::now())
    }

    /// Counts a request where only some may be under way; `None`: as many as may be are.
    pub fn take_turn(self: &Arc<Self>, throttle: &Throttle) -> Option<Turn> {
        let taken = lock(&self.state).pool.take_turn(throttle.id, throttle.most);
        taken.then(|| Turn { line: throttle.id, pool: self.clone() })
    }

    /// Takes a worker in that was asked of the mold.
    pub fn add(&self, worker: Arc<Worker>, adopted: bool) {
        let id = worker.id;
        lock(&self.state).workers.insert(id, worker);
        self.tell_of_worker(|pool| pool.add(id, adopted, Instant::now()));
    }

    /// `worker` has ended: a request that it had is lost.
    pub fn gone(&self, worker: WorkerId) {
        self.tell_of_worker(|pool| pool.gone(worker, Instant::now()));
    }

    /// `worker` is beyond help: have it killed.
    pub fn discard(&self, worker: WorkerId, reason: &str, failure: Failure) {
        self.tell_of_worker(|pool| pool.discard(worker, reason, failure, Instant::now()));
    }

    /// Asks up to `count` idle workers to leave, those first that were idle longest.
    pub fn leave_idle(&self, count: usize) {
        self.tell(|pool| pool.leave_idle(count, Instant::now()));
    }

    /// From now on at most so many workers have a request at one time.
    pub fn admit(&self, most: u32) {
        self.tell_of_worker(|pool| pool.admit(most, Instant::now()));
    }

    /// From now on a worker may work that was ready before the master had said which process it is.
    pub fn employ(&self, worker: WorkerId) {
        self.tell_of_worker(|pool| {
            let _ = pool.ready(worker, Instant::now());
        });
    }

    /// Asks `worker` to leave as soon as it has no request.
    pub fn dismiss(&self, worker: WorkerId) {
        self.tell_of_worker(|pool| pool.dismiss(worker, Instant::now()));
    }

    /// The same, and to become a mold first, which has this control channel to the master.
    pub fn promote(&self, worker: WorkerId, control: OwnedFd) {
        let found = self.look(|state| state.workers.get(&worker).cloned());
        if let Some(found) = found {
            found.will_be_promoted(control);
            self.dismiss(worker);
        }
    }

    /// No new requests will come: workers leave as soon as nothing waits.
    pub fn drain(&self) {
        self.tell(|pool| pool.drain(Instant::now()));
    }

    /// Ends what has waited or run for too long. Called by the clock.
    pub fn expire(&self, now: Instant) {
        self.tell(|pool| pool.tick(now));
    }

    /// Closes the sockets of workers that were asked to leave; what was sent to them they still receive.
    pub fn close(&self) {
        self.tell(|pool| pool.close(Instant::now()));
    }

    /// What lies in the socket of a worker that had another front is for nobody.
    pub(super) fn empty(&self, worker: &Worker) {
        drop(worker.take_back(&mut lock(&self.state).buffer));
    }

    /// All workers.
    pub fn all(&self) -> Vec<Arc<Worker>> {
        self.look(|state| state.workers.values().cloned().collect())
    }

    /// Whether it is one of them.
    pub fn has(&self, worker: WorkerId) -> bool {
        self.look(|state| state.workers.contains_key(&worker))
    }

    /// Tells all workers of new error logs; the first one's number is given.
    pub fn reopen_logs(&self, first: u16, logs: &[BorrowedFd<'_>]) {
        self.look(|state| state.workers.values().for_each(|worker| worker.reopen_logs(first, logs)));
    }

    pub(super) fn say(&self, message: FromFront) {
        self.front.master.say(message);
    }

    /// How busy they are.
    pub fn load(&self) -> Load {
        self.look(|state| load(self.id, &state.pool))
    }
}

fn load(id: PoolId, pool: &Pool) -> Load {
    Load {
        id,
        idle: pool.idle(),
        busy: pool.busy(),
        queued: pool.queued().saturating_sub(pool.queue().held_back() as u32),
    }
}

impl State {
    /// A request has come, which counts for that share.
    pub fn submit(
        &mut self,
        new: NewRequest,
        share: Option<&PoolShare>,
        submitted: Submitted,
        now: Instant,
    ) -> Result<(), Failure> {
        let lane = self.pool.queue().lane(share);
        let accepted = self.pool.submit(NewRequest { lane, ..new }, now);
        if accepted.is_ok() {
            self.requests.insert(new.id, submitted);
        }
        accepted
    }

    /// For the status, what a worker was at last.
    pub fn remember(&mut self, label: Label, begun: Option<Begun>) {
        if let Some(begun) = begun
            && self.workers.contains_key(&begun.worker)
        {
            self.last.insert(begun.worker, (label, begun.waited));
        }
    }

    /// `worker=3 pid=4711`
    pub fn name(&self, id: WorkerId) -> String {
        format!("worker={} pid={}", id.slot, self.workers.get(&id).map_or(0, |worker| worker.pid()))
    }
}
