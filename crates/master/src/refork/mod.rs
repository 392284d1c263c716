//! Refork: a worker that has served becomes the mold, and the pool is renewed from it, so that all share what its requests
//! have loaded.
//!
//! ```text
//!   asked ─▶ Choosing ─▶ Promoting ─▶ Promoted: it forks ─▶ Renewing: older workers leave, a tenth at a time ─▶ done
//!               └────────────┴─▶ nobody fit, refused, dead, too late: nothing has changed but that one worker
//! ```

mod auto;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use wire::control::{
    ExitReason, FromMold, FrontStatus, PoolId, PoolNumber, ToFront, ToMold, WorkerId, WorkerState, WorkerStatus,
};

use super::Master;
use super::children::peer::Peer;
use super::children::{Child, MoldId};
use super::pool::is_our_child;
use super::sockets::control_socket::{Client, ControlReply};
use base::log;
use config::budget::ReforkWhen;

/// One of so many workers may be away at once.
const PART: u32 = 10;

/// What is under way, and who waits for it.
#[derive(Debug, Default)]
pub struct Reforking {
    phase: Phase,
    waiting: Vec<Client>,
    /// Pools whose turn comes when this one is done.
    next: VecDeque<PoolNumber>,
    /// One of those that were asked for together is done.
    is_one_done: bool,
    auto: BTreeMap<PoolNumber, auto::Auto>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Rest,
    /// The front is asked who has answered most of this pool.
    Choosing(PoolNumber),
    Promoting(Candidate),
    /// This mold forks, and workers of earlier ones are left.
    Renewing(MoldId, Instant),
}

/// A worker that is to become a mold.
#[derive(Debug)]
struct Candidate {
    worker: WorkerId,
    pool: PoolId,
    peer: Peer<ToMold, FromMold>,
    by: Instant,
}

impl Reforking {
    /// The code is another: what was learnt of the last one does not count.
    pub fn begin_anew(&mut self) {
        self.auto.clear();
    }

    /// On which a worker that is to become a mold says whether it does.
    pub fn candidate_peer(&self) -> Option<&Peer<ToMold, FromMold>> {
        if let Phase::Promoting(candidate) = &self.phase { Some(&candidate.peer) } else { None }
    }

    /// When [`Master::enforce_refork`] has something to do.
    pub fn wakes(&self) -> Option<Instant> {
        if let Phase::Promoting(candidate) = &self.phase { Some(candidate.by) } else { None }
    }
}

impl Master {
    /// URG, or `cameleer refork` by `client`.
    pub(super) fn ask_refork(&mut self, client: Option<Client>) {
        if self.stop.is_some() || self.serving().is_none() || self.front.is_none() {
            return self.tell(client, &ControlReply::failed("the server does not serve now"));
        }
        if let Phase::Renewing(mold, since) = self.refork.phase {
            let why = format!("refork={} still renews the pool, for {:.1?} now", mold.refork, since.elapsed());
            return self.tell(client, &ControlReply::failed(why));
        }
        self.refork.waiting.extend(client);
        if matches!(self.refork.phase, Phase::Rest) {
            self.refork.next = self.serving_pools().into_iter().map(|id| id.pool).collect();
            self.refork_next();
        }
    }

    /// Pools have their turns one after the other: a part of the workers of one is away at a time. Says whether there is one.
    fn refork_next(&mut self) -> bool {
        let Some(pool) = self.refork.next.pop_front() else { return false };
        self.refork.phase = Phase::Choosing(pool);
        self.tell_front(ToFront::Status, vec![]);
        true
    }

    /// `Refork`, when it is more than asked for.
    pub(super) fn refork_when_due(&mut self) {
        if !matches!(self.refork.phase, Phase::Rest) {
            return;
        }
        let checked = self.checked.clone();
        let is_due = |master: &mut Master, id: PoolId| match &checked.config.pool_of(id.pool).refork {
            ReforkWhen::Off => false,
            ReforkWhen::After(requests) => master.has_answered(id, requests),
            ReforkWhen::Auto => master.repays_refork(id),
        };
        if let Some(due) = self.serving_pools().into_iter().find(|id| is_due(self, *id))
            && self.front.is_some()
        {
            self.refork.next = VecDeque::from([due.pool]);
            self.refork_next();
        }
    }

    /// Whether a worker of the mold that forks now has answered what the list says for it.
    fn has_answered(&self, id: PoolId, requests: &[u64]) -> bool {
        let Some(pool) = self.mold_pool(id) else { return false };
        let wanted = requests.get(pool.reforks as usize);
        wanted.is_some_and(|wanted| self.workers.of(id).any(|(_, worker)| worker.requests >= *wanted))
    }

    /// The front says what the workers are at. The one with the most requests knows most of the site.
    pub(super) fn choose_candidate(&mut self, status: &FrontStatus) {
        let Phase::Choosing(pool) = self.refork.phase else { return };
        let serving = self.serving().map(|generation| PoolId { generation, pool });
        let is_its = |worker: &&WorkerStatus| {
            let known = self.workers.get(worker.slot);
            worker.requests > 0 && known.is_some_and(|known| Some(known.mold.pool) == serving)
        };
        let fit = status.workers.iter().filter(is_its);
        let fit = fit.filter(|worker| matches!(worker.state, WorkerState::Idle | WorkerState::Busy));
        let best = fit.max_by_key(|worker| (worker.requests, worker.state == WorkerState::Idle));
        let chosen = best.and_then(|best| self.workers.with_pid(best.slot, Pid::from_raw(best.pid)));
        match (chosen, serving) {
            (Some(worker), Some(pool)) => self.promote(worker, pool),
            // Of several pools one may have had nothing to do.
            _ if self.refork_next() => {}
            _ if self.refork.is_one_done => self.end_refork(Ok(())),
            _ => self.end_refork(Err("no worker has answered a request yet".to_string())),
        }
    }

    fn promote(&mut self, worker: WorkerId, pool: PoolId) {
        let by = Instant::now() + self.checked.config.timeouts.start;
        let pair = wire::channel::pair().and_then(|(ours, theirs)| Ok((Peer::new(ours)?, theirs)));
        match pair {
            Ok((peer, theirs)) => {
                self.tell_front(ToFront::Promote { worker }, vec![theirs.into()]);
                self.workers.dismiss(worker, ExitReason::Refork);
                self.refork.phase = Phase::Promoting(Candidate { worker, pool, peer, by });
            }
            Err(error) => self.end_refork(Err(format!("no channel for a mold: {error}"))),
        }
    }

    pub(super) fn listen_to_candidate(&mut self) {
        let Phase::Promoting(candidate) = &mut self.refork.phase else { return };
        let slot = candidate.worker.slot;
        match candidate.peer.receive() {
            Ok(None) if !candidate.peer.is_gone() => {}
            Ok(Some(FromMold::Promoted { pid, fork_us, requests })) => {
                self.promoted(Pid::from_raw(pid), Duration::from_micros(u64::from(fork_us)), requests);
            }
            Ok(Some(FromMold::Failed { error })) => {
                self.end_refork(Err(format!("worker={slot} cannot become a mold: {error}")));
            }
            Ok(None) => self.end_refork(Err(format!("worker={slot} ended before it was a mold"))),
            Ok(Some(_)) => self.end_refork(Err(format!("worker={slot} talks nonsense"))),
            Err(error) => self.end_refork(Err(format!("worker={slot} talks nonsense: {error}"))),
        }
    }

    fn promoted(&mut self, pid: Pid, took: Duration, requests: u64) {
        // The site's code runs there: the number that it names may be any process.
        let is_new = is_our_child(pid) && !self.has_started(pid) && self.workers.slot_of(pid).is_none();
        if !is_new {
            return self.end_refork(Err(format!("pid={pid} calls itself a mold and is no child of ours")));
        }
        let Phase::Promoting(candidate) = std::mem::take(&mut self.refork.phase) else { return };
        let Candidate { worker: WorkerId { slot, .. }, pool: id, peer, .. } = candidate;
        let name = self.name_of(id);
        let Some(pool) = self.mold_pool_mut(id) else { return };
        pool.reforks += 1;
        let mold = MoldId { pool: id, refork: pool.reforks };
        pool.molds.add_promoted(mold.refork, Child { pid, peer });
        log::notice(
            "master",
            format_args!(
                "mold pid={pid} {name} refork={} from worker={slot}, {requests} requests, in {took:.1?}",
                mold.refork
            ),
        );
        self.refork.phase = Phase::Renewing(mold, Instant::now());
        self.count_refork();
        self.tend();
    }

    /// Asks workers of earlier molds to leave, as soon as they have no request, and never so many that it is felt.
    pub(super) fn renew_pool(&mut self) {
        let Phase::Renewing(mold, since) = self.refork.phase else { return };
        let (serving, others) = self.workers.outdated(mold);
        if serving.is_empty() && others + self.workers.starting(mold.pool) == 0 {
            let after = since.elapsed();
            log::notice(
                "master",
                format_args!("{} refork={} renewed in {after:.1?}", self.name_of(mold.pool), mold.refork),
            );
            self.refork.is_one_done = true;
            if self.refork_next() {
                return;
            }
            return self.end_refork(Ok(()));
        }
        let away = others.max(self.workers.starting(mold.pool));
        let most = self.workers.alive(mold.pool).div_ceil(PART);
        for worker in serving.into_iter().take(most.saturating_sub(away) as usize) {
            self.workers.dismiss(worker, ExitReason::Refork);
            self.tell_front(ToFront::Leave { worker }, vec![]);
        }
    }

    /// A worker that does not come to its end in time does not become a mold.
    pub(super) fn enforce_refork(&mut self, now: Instant) {
        if let Phase::Promoting(Candidate { worker, by, .. }) = &self.refork.phase
            && *by <= now
        {
            let why = format!("worker={} was at a request for longer than StartTimeout", worker.slot);
            self.end_refork(Err(why));
        }
    }

    /// It is over, if it was under way.
    pub(super) fn end_refork(&mut self, result: Result<(), String>) {
        if matches!(std::mem::take(&mut self.refork.phase), Phase::Rest) {
            return;
        }
        (self.refork.is_one_done, self.refork.next) = Default::default();
        if let Err(error) = &result {
            log::warn("master", format_args!("no refork: {error}"));
        }
        let answer = result.map_or_else(ControlReply::failed, |()| ControlReply::ok());
        for client in std::mem::take(&mut self.refork.waiting) {
            self.tell(Some(client), &answer);
        }
    }
}
