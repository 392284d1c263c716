//! The simulated world of a pool: sockets that hold what was sent, workers that take it at their own pace, and clients.
//! The world performs every action at once, and checks the scheduler's statements.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use wire::control::WorkerId;
use wire::reply::LeaveReason;

use super::super::prefetch::Pace;
use super::super::queue::Sizes;
use super::super::request::RequestStage;
use super::super::{Action, ClientId, NewRequest, RequestId, RequestTimeouts, Scheduler};
use super::op::Op;
use crate::base::failure::Failure;
use config::scheduling::{LimitPlace, PoolShare, Rate, ShareSize, SpeedLimit};

const MAX_WORKERS: usize = 6;
const QUEUE_LENGTH: usize = 20;
/// Maximum number of requests in a worker's socket: the current one, which it may not have begun, and those sent ahead.
const MAX_SENT: usize = wire::memory::orders::SLOTS;
/// Id and limit of the `MaxConcurrentReqs` line.
pub(super) const LINE: u32 = 7;
const MAX_UNDER_WAY: u32 = 5;
/// Maximum number of rounds until all requests have ended in a world without faults; far more than needed.
const ROUNDS: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct SimWorker {
    /// Requests in the worker's socket.
    inbox: VecDeque<RequestId>,
    /// The request that the worker runs.
    begun: Option<RequestId>,
    /// Replies that no thread has read yet, for each of two threads: the request, and whether the worker leaves.
    replies: [VecDeque<(RequestId, bool)>; 2],
    ready: bool,
    stopped: bool,
    broken: bool,
    dead: bool,
    /// The worker was asked to leave, or has announced it.
    leaves: bool,
}

pub struct World {
    pub(super) scheduler: Scheduler,
    now: Instant,
    pub(super) workers: BTreeMap<WorkerId, SimWorker>,
    joined: u64,
    submitted: RequestId,
    /// Admitted requests that have not ended, with their lanes.
    pub(super) open: BTreeMap<RequestId, usize>,
    ended: BTreeSet<RequestId>,
    /// Requests whose clients have left.
    left: BTreeSet<RequestId>,
    /// Requests that count for `MaxConcurrentReqs`.
    pub(super) turns: BTreeSet<RequestId>,
    /// Whether shares were resized, possibly below their use.
    pub(super) was_resized: bool,
    /// Whether a request came back from a worker since the last event.
    came_back: bool,
}

impl World {
    pub fn new() -> World {
        let now = Instant::now();
        let share = |id, workers| PoolShare { id, place: String::new(), size: ShareSize::Workers(workers) };
        let sizes = Sizes { workers: MAX_WORKERS as u32, length: QUEUE_LENGTH, stale: Duration::from_millis(500) };
        World {
            scheduler: Scheduler::new(sizes, [share(1, 1), share(2, 2)].iter(), now),
            now,
            workers: BTreeMap::new(),
            joined: 0,
            submitted: 0,
            open: BTreeMap::new(),
            ended: BTreeSet::new(),
            left: BTreeSet::new(),
            turns: BTreeSet::new(),
            was_resized: false,
            came_back: false,
        }
    }

    pub fn play(&mut self, op: Op) {
        self.came_back = false;
        match op {
            Op::Submit { lane, small, limited } => self.submit(lane, small, limited),
            Op::Join { adopted } => self.join(adopted),
            Op::Ready(n) => self.at(n, Self::ready),
            Op::Take(n) => self.at(n, Self::take),
            Op::Answer { worker, leaving } => self.at(worker, |world, id| world.answer(id, leaving)),
            Op::Hear { worker, thread } => self.at(worker, |world, id| world.hear(id, usize::from(thread))),
            Op::Die(n) => self.at(n, |world, id| world.worker(id).dead = true),
            Op::Stop(n) => self.at(n, |world, id| world.worker(id).stopped = true),
            Op::Continue(n) => self.at(n, |world, id| world.worker(id).stopped = false),
            Op::Break(n) => self.at(n, |world, id| world.worker(id).broken = true),
            Op::Leave { request, owed, unfinished } => self.leave(request, owed, unfinished),
            Op::HangUp(n) => self.hang_up(n),
            Op::Hold(n) => self.at(n, |world, id| {
                if let Some(request) = world.scheduler.current(id) {
                    world.scheduler.hold(id, request, false);
                }
            }),
            Op::Resume(n) => self.at(n, |world, id| {
                if let Some(request) = world.scheduler.current(id) {
                    world.scheduler.resumed(id, request, Duration::from_millis(50));
                }
            }),
            Op::Extend(n) => {
                let chosen = self.choose(n);
                chosen.into_iter().for_each(|id| self.scheduler.extend(id, Duration::from_millis(300)));
            }
            Op::Lie(n) => self.at(n, |world, id| {
                let now = world.now;
                world.scheduler.discard(id, "lies", Failure::ProtocolViolation, now);
            }),
            Op::Wait(millis) => {
                self.now += Duration::from_millis(millis);
                self.scheduler.tick(self.now);
            }
            Op::LeaveIdle(count) => self.scheduler.leave_idle(count, self.now),
            Op::Admit(most) => {
                self.scheduler.admit(most.into(), self.now);
                self.was_resized = true;
            }
            Op::Dismiss(n) => self.at(n, |world, id| {
                let now = world.now;
                world.scheduler.dismiss(id, now);
            }),
            Op::Quick => self.scheduler.pace = Pace::quick(),
            Op::Short => self.scheduler.pace = Pace::short(),
            Op::Drain => self.scheduler.drain(self.now),
        }
        self.perform();
    }

    fn at(&mut self, n: u8, act: impl FnOnce(&mut World, WorkerId)) {
        let count = self.workers.len().max(1);
        let chosen = self.workers.keys().nth(usize::from(n) % count).copied();
        if let Some(id) = chosen {
            act(self, id);
        }
        self.perform();
    }

    fn choose(&self, n: u8) -> Option<RequestId> {
        self.open.keys().nth(usize::from(n) % self.open.len().max(1)).copied()
    }

    fn worker(&mut self, id: WorkerId) -> &mut SimWorker {
        self.workers.get_mut(&id).expect("it was chosen")
    }

    fn submit(&mut self, lane: usize, small: bool, limited: bool) {
        if self.scheduler.is_draining() {
            return;
        }
        self.submitted += 1;
        let id = self.submitted;
        let Some(charged_to) = self.admit(id, limited) else { return };
        self.open.insert(id, lane);
        let millis = Duration::from_millis;
        let timeouts =
            RequestTimeouts { queue: millis(3_000), run: millis(1_000), most: millis(5_000), grace: millis(500) };
        let waited = self.scheduler.queue().lanes()[lane].len();
        let share = [None, Some(1), Some(2)][lane];
        if self.scheduler.submit(NewRequest { id, share, timeouts, small, charged_to }, self.now).is_err() {
            self.open.remove(&id);
            self.give_turn_back(id);
            let length = [QUEUE_LENGTH, QUEUE_LENGTH.div_ceil(MAX_WORKERS), (2 * QUEUE_LENGTH).div_ceil(MAX_WORKERS)];
            assert!(waited >= length[lane], "{waited} wait in lane {lane}, and {id} found no place");
        }
    }

    /// The client charged, if the request is limited. `None`: the request is refused.
    fn admit(&mut self, id: RequestId, limited: bool) -> Option<Option<ClientId>> {
        if !limited {
            return Some(None);
        }
        let rate = Rate { amount: 2, period: Duration::from_secs(1) };
        let limit = SpeedLimit {
            id: 1,
            place: LimitPlace { host: 0, section: "".into() },
            requests: None,
            worker_seconds: Some(rate),
        };
        let client = self.scheduler.keep_pace(&limit, [192, 0, 2, 1].into(), self.now).ok()?;
        if self.scheduler.take_turn(LINE, MAX_UNDER_WAY).is_none() {
            assert_eq!(self.turns.len(), MAX_UNDER_WAY as usize, "a turn is refused");
            return None;
        }
        self.turns.insert(id);
        Some(Some(client))
    }

    fn give_turn_back(&mut self, id: RequestId) {
        if self.turns.remove(&id) {
            self.scheduler.give_turn_back(LINE);
        }
    }

    fn join(&mut self, adopted: bool) {
        if self.workers.len() == MAX_WORKERS {
            return;
        }
        self.joined += 1;
        let id = WorkerId { slot: self.workers.len() as u32, serial: self.joined };
        self.workers.insert(id, SimWorker::default());
        self.scheduler.add(id, adopted, self.now);
    }

    fn ready(&mut self, id: WorkerId) {
        if !std::mem::replace(&mut self.worker(id).ready, true) {
            let outcome = self.scheduler.ready(id, self.now);
            assert!(outcome.is_ok(), "{outcome:?}");
        }
    }

    fn take(&mut self, id: WorkerId) {
        let worker = self.worker(id);
        if !worker.dead && !worker.stopped && worker.begun.is_none() {
            worker.begun = worker.inbox.pop_front();
        }
    }

    fn answer(&mut self, id: WorkerId, leaving: bool) {
        let worker = self.worker(id);
        if worker.dead || worker.stopped {
            return;
        }
        if let Some(request) = worker.begun.take() {
            worker.replies[(request % 2) as usize].push_back((request, leaving));
            worker.leaves |= leaving;
            worker.dead |= leaving;
        }
    }

    /// Reads a reply on `thread`. When both threads have read all replies of a dead worker, reports its end.
    fn hear(&mut self, id: WorkerId, thread: usize) {
        let now = self.now;
        let worker = self.worker(id);
        match worker.replies[thread].front().copied() {
            Some((request, leaving)) => {
                let outcome = self.scheduler.first_reply(id, request, now);
                assert!(outcome.is_ok(), "{request} is answered: {outcome:?}");
                self.perform();
                self.worker(id).replies[thread].pop_front();
                self.scheduler.ended(id, request, leaving.then_some(LeaveReason::Program), now);
            }
            None if worker.dead && worker.replies.iter().all(VecDeque::is_empty) => self.scheduler.gone(id, now),
            None => {}
        }
    }

    fn leave(&mut self, n: u8, owed: bool, unfinished: bool) {
        if let Some(id) = self.choose(n)
            && self.left.insert(id)
        {
            self.scheduler.client_gone(id, owed, unfinished);
        }
    }

    fn hang_up(&mut self, n: u8) {
        let Some(id) = self.choose(n) else { return };
        self.scheduler.client_hung_up(id);
        self.perform();
        let may_stay = self.scheduler.told_hung_up(id);
        if !may_stay && self.left.insert(id) {
            self.perform();
            self.scheduler.client_gone(id, true, true);
        }
    }

    fn perform(&mut self) {
        while let Some(action) = self.scheduler.next_action() {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Send { worker, request, ahead } => self.send(worker, request, ahead),
            Action::Begin { worker, request } => {
                let worker = &self.workers[&worker];
                let has = worker.begun == Some(request) || worker.inbox.contains(&request);
                let was_replied = worker.replies.iter().flatten().any(|(id, _)| *id == request);
                assert!(has || was_replied, "a request begins that was not sent");
            }
            Action::TakeBack(id) => {
                let worker = self.worker(id);
                let back: Vec<RequestId> = worker.inbox.drain(..).collect();
                self.came_back |= !back.is_empty();
                self.scheduler.taken_back(id, &back, self.now);
            }
            Action::ReportAbandoned { request, .. } => assert!(self.left.contains(&request)),
            Action::WaitAgain(request) => assert!(self.open.contains_key(&request), "what is over waits again"),
            Action::AskToLeave(id) => {
                let worker = self.worker(id);
                assert!(worker.begun.is_none() && worker.inbox.is_empty(), "a worker is sent away that has something");
                worker.leaves = true;
                worker.dead = true;
            }
            Action::Look(id) => {
                let stopped = self.worker(id).stopped;
                self.scheduler.looked(id, stopped, self.now);
            }
            Action::LookForRest(id) => {
                let worker = self.worker(id);
                let waits = worker.begun.is_none() && !worker.stopped;
                self.scheduler.looked_for_rest(id, waits, self.now);
            }
            Action::Forget(id) => {
                let worker = self.workers.remove(&id).expect("it was there");
                let kept = worker.inbox.iter().chain(&worker.begun).find(|request| self.open.contains_key(request));
                assert_eq!(kept, None, "lost with its worker");
            }
            Action::Over(request) => self.end(request),
            Action::Fail { request, .. } => self.end(request),
            Action::Spill(_)
            | Action::Press { .. }
            | Action::Leaves { .. }
            | Action::Kill { .. }
            | Action::Interrupt { .. }
            | Action::ReportHangup { .. }
            | Action::Overload { .. } => {}
        }
    }

    fn send(&mut self, id: WorkerId, request: RequestId, ahead: bool) {
        for (other, worker) in &self.workers {
            let has = worker.inbox.contains(&request) || worker.begun == Some(request);
            assert!(!has, "request {request} is sent to {id:?} and {other:?} has it");
        }
        assert!(self.open.contains_key(&request), "what is over is sent");
        self.check_order(request);
        let now = self.now;
        let worker = self.worker(id);
        if worker.broken {
            self.came_back = true;
            return self.scheduler.not_sent(id, request, "broken", now);
        }
        assert!(!worker.leaves || worker.dead, "a worker that has left is sent something");
        assert!(ahead || (worker.inbox.is_empty() && worker.begun.is_none()), "a worker gets a second request");
        worker.inbox.push_back(request);
        assert!(worker.inbox.len() <= MAX_SENT, "{} requests lie in a worker's socket", worker.inbox.len());
    }

    /// Checks that without an overload each lane is served in order, except for requests that came back from a worker
    /// during this event.
    fn check_order(&self, sent: RequestId) {
        let lane = self.open[&sent];
        if !self.came_back && !self.scheduler.queue.lanes()[lane].is_overloaded() {
            let earlier = self
                .scheduler
                .requests
                .iter()
                .find(|(id, request)| **id < sent && request.lane == lane && request.stage == RequestStage::Queued);
            assert!(earlier.is_none(), "{sent} is served before {earlier:?}");
        }
    }

    fn end(&mut self, request: RequestId) {
        assert!(self.open.remove(&request).is_some(), "request {request} ends that had ended, or never came");
        assert!(self.ended.insert(request));
        self.give_turn_back(request);
    }

    /// Plays a world without further faults, in which all requests must end.
    pub fn come_to_rest(mut self) {
        for _ in 0..ROUNDS {
            if self.scheduler.is_quiet() && self.open.is_empty() {
                return self.check();
            }
            // In a draining pool, a new worker leaves at once, which would shift the indices of the others.
            if !self.scheduler.is_draining() {
                self.play(Op::Join { adopted: false });
            }
            for n in 0..self.workers.len() as u8 {
                self.play(Op::Continue(n));
                self.play(Op::Ready(n));
                self.play(Op::Take(n));
                self.play(Op::Answer { worker: n, leaving: false });
                self.play(Op::Hear { worker: n, thread: false });
                self.play(Op::Hear { worker: n, thread: true });
                self.play(Op::Resume(n));
            }
            self.play(Op::Wait(20));
            self.check();
        }
        panic!("after {ROUNDS} rounds {:?} are still open: {:?}", self.open, self.scheduler);
    }
}
