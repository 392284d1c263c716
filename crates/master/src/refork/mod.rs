//! Refork: a worker that has served becomes the mold, and the pool is renewed from it, so that all workers share the
//! code that its requests have loaded. A state machine without I/O and without a clock.
//!
//! ```text
//!   asked ─▶ Choosing ─▶ Promoting ─▶ promoted: it forks ─▶ Renewing: older workers leave, a tenth at a time ─▶ done
//!               └────────────┴─▶ no worker fits, it refuses, ends, or is late: only that one worker was lost
//! ```

mod auto;
mod due;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use wire::control::{FrontStatus, PoolId, PoolNumber, WorkerId, WorkerState, WorkerStatus};

use super::children::MoldId;
use super::pool::workers::WorkerRegister;
use super::sockets::control_socket::ControlClient;

pub use due::ReforkView;

/// Number of workers for each one that may be away at the same time.
const PART: u32 = 10;

/// An action for the loop.
#[derive(Debug, PartialEq, Eq)]
pub enum ReforkAction {
    /// Ask the front for its status, which shows the worker with the most requests.
    AskFront,
    /// Ask this worker to become a mold of its pool.
    Promote(WorkerId, PoolId),
    /// Ask this worker of an older mold to leave when it has no request.
    Leave(WorkerId),
    /// Log that all workers of this mold's pool are its children now, after this time.
    Renewed(MoldId, Duration),
    /// The refork has ended: drop the channel to the candidate, log a failure, and send the result to these clients.
    Over(Result<(), String>, Vec<ControlClient>),
}

/// The refork under way, and the clients that wait for it.
#[derive(Debug, Default)]
pub struct Reforking {
    phase: ReforkPhase,
    waiting: Vec<ControlClient>,
    /// Pools that are reforked after the current one.
    next: VecDeque<PoolNumber>,
    /// Whether a pool of the same request is already reforked.
    is_one_done: bool,
    auto: BTreeMap<PoolNumber, auto::AutoRefork>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ReforkPhase {
    #[default]
    Rest,
    /// The front's status is requested, to find the worker of this pool with the most requests.
    Choosing(PoolNumber),
    /// A worker was asked to become a mold.
    Promoting(MoldCandidate),
    /// The mold forks, and workers of earlier molds are being replaced.
    Renewing(MoldId, Instant),
}

/// A worker that is to become a mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoldCandidate {
    pub worker: WorkerId,
    pub pool: PoolId,
    /// Deadline for the promotion.
    by: Instant,
}

impl Reforking {
    /// Resets the results of earlier reforks, because a new generation has other code.
    pub fn begin_generation(&mut self) {
        self.auto.clear();
    }

    /// Requests a refork of all pools for a client or a signal. The error is for the client.
    pub fn request(
        &mut self,
        client: Option<ControlClient>,
        pools: impl Iterator<Item = PoolNumber>,
        now: Instant,
    ) -> Result<Option<ReforkAction>, String> {
        if let ReforkPhase::Renewing(mold, since) = self.phase {
            let after = now.saturating_duration_since(since);
            return Err(format!("refork={} still renews the pool, for {after:.1?} now", mold.refork));
        }
        self.waiting.extend(client);
        if self.phase != ReforkPhase::Rest {
            return Ok(None);
        }
        self.next = pools.collect();
        Ok(self.begin_next())
    }

    /// Begins the refork of a pool for which `Refork` makes one due.
    pub fn begin(&mut self, pool: PoolNumber) -> Option<ReforkAction> {
        self.next = VecDeque::from([pool]);
        self.begin_next()
    }

    /// Pools are reforked one after the other, so that only one pool lacks workers at a time.
    fn begin_next(&mut self) -> Option<ReforkAction> {
        let pool = self.next.pop_front()?;
        self.phase = ReforkPhase::Choosing(pool);
        Some(ReforkAction::AskFront)
    }

    /// Whether no refork is under way.
    pub fn is_at_rest(&self) -> bool {
        self.phase == ReforkPhase::Rest
    }

    /// Chooses the worker with the most requests from the front's report: it has loaded most of the site. `by` is
    /// when StartTimeout will be over.
    pub fn choose(
        &mut self,
        status: &FrontStatus,
        workers: &WorkerRegister,
        serving: &[PoolId],
        by: Instant,
    ) -> Option<ReforkAction> {
        let ReforkPhase::Choosing(pool) = self.phase else { return None };
        let chosen = serving.iter().find(|id| id.pool == pool).and_then(|id| Some((best(status, workers, *id)?, *id)));
        if let Some((worker, pool)) = chosen {
            self.phase = ReforkPhase::Promoting(MoldCandidate { worker, pool, by });
            return Some(ReforkAction::Promote(worker, pool));
        }
        // A refork of several pools succeeds if one of them was reforked.
        match self.begin_next() {
            Some(action) => Some(action),
            None if self.is_one_done => self.end(Ok(())),
            None => self.end(Err("no worker has answered a request yet".to_string())),
        }
    }

    /// The worker that is to become a mold.
    pub fn candidate(&self) -> Option<MoldCandidate> {
        if let ReforkPhase::Promoting(candidate) = self.phase { Some(candidate) } else { None }
    }

    /// Notes that the candidate became this mold.
    pub fn promoted(&mut self, mold: MoldId, now: Instant) {
        self.phase = ReforkPhase::Renewing(mold, now);
    }

    /// Asks further workers of earlier molds to leave, a tenth of the pool at a time. Called after workers have started
    /// or ended.
    pub fn renew(&mut self, workers: &WorkerRegister, now: Instant) -> Vec<ReforkAction> {
        let ReforkPhase::Renewing(mold, since) = self.phase else { return Vec::new() };
        let (serving, others) = workers.outdated(mold);
        let starting = workers.starting(mold.pool);
        if serving.is_empty() && others + starting == 0 {
            let renewed = ReforkAction::Renewed(mold, now.saturating_duration_since(since));
            self.is_one_done = true;
            let next = self.begin_next().or_else(|| self.end(Ok(())));
            return std::iter::once(renewed).chain(next).collect();
        }
        let most = workers.alive(mold.pool).div_ceil(PART).saturating_sub(others.max(starting));
        serving.into_iter().take(most as usize).map(ReforkAction::Leave).collect()
    }

    /// A worker that is busy for longer than StartTimeout does not become a mold.
    pub fn tick(&mut self, now: Instant) -> Option<ReforkAction> {
        let late = self.candidate().filter(|candidate| candidate.by <= now)?;
        self.end(Err(format!("worker={} was busy with a request for longer than StartTimeout", late.worker.slot)))
    }

    /// When [`Self::tick`] must be called next.
    pub fn wakes(&self) -> Option<Instant> {
        self.candidate().map(|candidate| candidate.by)
    }

    /// Ends the refork under way, if there is one.
    pub fn end(&mut self, result: Result<(), String>) -> Option<ReforkAction> {
        if std::mem::take(&mut self.phase) == ReforkPhase::Rest {
            return None;
        }
        (self.is_one_done, self.next) = Default::default();
        Some(ReforkAction::Over(result, std::mem::take(&mut self.waiting)))
    }
}

/// The worker of a pool that has answered most.
fn best(status: &FrontStatus, workers: &WorkerRegister, pool: PoolId) -> Option<WorkerId> {
    let is_its = |worker: &&WorkerStatus| {
        worker.requests > 0 && workers.get(worker.slot).is_some_and(|known| known.mold.pool == pool)
    };
    let fit = status.workers.iter().filter(is_its);
    let fit = fit.filter(|worker| matches!(worker.state, WorkerState::Idle | WorkerState::Busy));
    let best = fit.max_by_key(|worker| (worker.requests, worker.state == WorkerState::Idle))?;
    workers.with_pid(best.slot, best.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(60);

    fn pool(number: PoolNumber) -> PoolId {
        PoolId { generation: 1, pool: number }
    }

    /// `count` serving workers of the first mold, and the front's report on them.
    fn serving(count: u32, now: Instant) -> (WorkerRegister, FrontStatus) {
        let (mut workers, mut status) = (WorkerRegister::default(), FrontStatus::default());
        for slot in 0..count {
            let id = workers.add(MoldId { pool: pool(0), refork: 0 }, now);
            let worker = workers.find_mut(id).expect("there");
            (worker.state, worker.pid) = (WorkerState::Idle, Some(500 + slot as i32));
            let (pid, requests) = (500 + slot as i32, u64::from(slot));
            status.workers.push(WorkerStatus {
                slot,
                pid,
                requests,
                state: WorkerState::Idle,
                ..WorkerStatus::default()
            });
        }
        (workers, status)
    }

    #[test]
    fn the_worker_with_the_most_requests_becomes_the_mold_and_the_pool_is_renewed_by_tenths() {
        let (mut refork, now) = (Reforking::default(), Instant::now());
        let (mut workers, status) = serving(30, now);
        assert_eq!(refork.request(Some(7), [0].into_iter(), now), Ok(Some(ReforkAction::AskFront)));
        assert_eq!(refork.request(Some(8), [0].into_iter(), now), Ok(None), "it waits for the same");
        let promote = refork.choose(&status, &workers, &[pool(0)], now + START);
        let Some(ReforkAction::Promote(best, _)) = promote else { panic!("{promote:?}") };
        assert_eq!(best.slot, 29);
        assert_eq!(refork.choose(&status, &workers, &[pool(0)], now + START), None, "chosen once");
        workers.remove(best.slot);
        let mold = MoldId { pool: pool(0), refork: 1 };
        refork.promoted(mold, now);
        assert!(refork.request(Some(9), [0].into_iter(), now).is_err());
        let mut steps = 0;
        loop {
            let actions = refork.renew(&workers, now + START);
            if let [ReforkAction::Renewed(renewed, after), over] = &actions[..] {
                assert_eq!((*renewed, *after), (mold, START));
                assert_eq!(over, &ReforkAction::Over(Ok(()), vec![7, 8]));
                break;
            }
            assert!((1..=3).contains(&actions.len()), "a tenth at a time: {actions:?}");
            for action in actions {
                let ReforkAction::Leave(worker) = action else { panic!("{action:?}") };
                workers.remove(worker.slot);
                let new = workers.add(mold, now);
                workers.find_mut(new).expect("there").state = WorkerState::Idle;
            }
            steps += 1;
        }
        assert!(steps >= 10 && refork.is_at_rest());
    }

    #[test]
    fn a_refork_replaces_no_worker_while_a_tenth_of_them_is_starting() {
        let (mut refork, now) = (Reforking::default(), Instant::now());
        let (mut workers, _) = serving(10, now);
        let mold = MoldId { pool: pool(0), refork: 1 };
        refork.promoted(mold, now);
        workers.add(mold, now);
        workers.add(mold, now);
        assert_eq!(refork.renew(&workers, now), [], "two are starting");
    }

    #[test]
    fn a_candidate_that_is_late_or_refuses_ends_the_refork() {
        let (mut refork, now) = (Reforking::default(), Instant::now());
        let (workers, status) = serving(3, now);
        for why in ["late", "refused"] {
            assert_eq!(refork.begin(0), Some(ReforkAction::AskFront));
            refork.choose(&status, &workers, &[pool(0)], now + START);
            assert_eq!((refork.tick(now), refork.wakes()), (None, Some(now + START)));
            let over = if why == "late" { refork.tick(now + START) } else { refork.end(Err(why.to_owned())) };
            assert!(matches!(over, Some(ReforkAction::Over(Err(_), _))), "{over:?}");
            assert!(refork.is_at_rest() && refork.wakes().is_none());
        }
        assert_eq!(refork.end(Ok(())), None, "nothing is under way");
    }

    #[test]
    fn pools_have_their_turns_and_one_without_requests_is_left_out() {
        let (mut refork, now) = (Reforking::default(), Instant::now());
        let (mut workers, status) = serving(2, now);
        let serving = [pool(0), pool(1)];
        assert_eq!(refork.request(None, [0, 1].into_iter(), now), Ok(Some(ReforkAction::AskFront)));
        let promote = refork.choose(&status, &workers, &serving, now + START);
        assert!(matches!(promote, Some(ReforkAction::Promote(..))));
        workers.remove(1);
        workers.remove(0);
        refork.promoted(MoldId { pool: pool(0), refork: 1 }, now);
        assert_eq!(refork.renew(&workers, now)[1..], [ReforkAction::AskFront], "the next pool");
        assert_eq!(
            refork.choose(&status, &workers, &serving, now + START),
            Some(ReforkAction::Over(Ok(()), vec![])),
            "nobody of it has answered anything"
        );
    }
}
