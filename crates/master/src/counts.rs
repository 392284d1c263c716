//! What the master counts ([`ServerCounts`]), and why a worker has ended.

use std::time::{Duration, Instant};

use wire::control::{Exit, ExitReason, GenerationNumber, GenerationState, ServerCounts, ToFront, WorkerId};
use wire::reply::LeaveReason;

use super::Master;
use super::pool::worker::Worker;

/// The front may say why later than that.
const FRONT_SAYS_WHY: Duration = Duration::from_secs(1);

/// A worker that has ended in order, and of which the front has not said yet that it leaves: the mold may be faster.
#[derive(Debug)]
pub struct Unexplained {
    serial: u64,
    generation: GenerationNumber,
    by: Instant,
}

impl Unexplained {
    fn new(worker: &Worker, now: Instant) -> Unexplained {
        Unexplained { serial: worker.serial(), generation: worker.mold.pool.generation, by: now + FRONT_SAYS_WHY }
    }
}

impl Master {
    /// A worker has ended. What was said of it before counts more than how: one that was asked to leave, or is killed by us, does not
    /// count as dead.
    pub(super) fn count_exit(&mut self, worker: &Worker, exit: Exit, was_out_of_memory: bool) {
        let reason = match exit {
            Exit::Signal(_) if worker.killed.is_some() => worker.why.unwrap_or(ExitReason::Stop),
            Exit::Signal(_) if was_out_of_memory => ExitReason::OutOfMemory,
            Exit::Signal(_) => ExitReason::Signal,
            Exit::Code(0) => match worker.why {
                Some(why) => why,
                None => return self.unexplained.push(Unexplained::new(worker, Instant::now())),
            },
            Exit::Code(_) => ExitReason::Exit,
        };
        self.count(reason);
    }

    fn count(&mut self, reason: ExitReason) {
        self.counts.exited(reason);
        self.tell_counts();
    }

    /// The front says why a worker leaves that has ended already.
    pub(super) fn explain_exit(&mut self, id: WorkerId, of_its_own: Option<LeaveReason>) {
        if let Some(at) = self.unexplained.iter().position(|ended| ended.serial == id.serial) {
            let ended = self.unexplained.swap_remove(at);
            self.count(self.why_leaving(ended.generation, of_its_own));
        }
    }

    /// Counts those that the front had nothing to say of.
    pub(super) fn settle_exits(&mut self, now: Instant) {
        while let Some(at) = self.unexplained.iter().position(|ended| ended.by <= now) {
            let ended = self.unexplained.swap_remove(at);
            self.count(self.why_unasked(ended.generation));
        }
    }

    /// When [`Self::settle_exits`] has something to do.
    pub(super) fn exits_settle(&self) -> Option<Instant> {
        self.unexplained.iter().map(|ended| ended.by).min()
    }

    /// Nobody has asked that worker in particular.
    fn why_unasked(&self, number: GenerationNumber) -> ExitReason {
        let state = self.generations.iter().find(|generation| generation.number == number).map(|g| g.state);
        match state {
            _ if self.stop.is_some() => ExitReason::Stop,
            Some(GenerationState::Draining | GenerationState::Failed) | None => ExitReason::Reload,
            _ => ExitReason::Exit,
        }
    }

    /// Why a worker leaves that the front has not been told to let go by name.
    pub(super) fn why_leaving(&self, number: GenerationNumber, of_its_own: Option<LeaveReason>) -> ExitReason {
        match of_its_own {
            Some(LeaveReason::Program) => ExitReason::Program,
            Some(LeaveReason::MaxRequests) => ExitReason::MaxRequests,
            Some(LeaveReason::Memory | LeaveReason::MemoryAtOnce) => ExitReason::Memory,
            Some(LeaveReason::Spoilt) => ExitReason::Spoilt,
            None if self.serving() == Some(number) => ExitReason::Spare,
            None => self.why_unasked(number),
        }
    }

    pub(super) fn count_reload(&mut self, is_served: bool) {
        let ServerCounts { reloads, failed_reloads, .. } = &mut self.counts;
        *(if is_served { reloads } else { failed_reloads }) += 1;
        self.tell_counts();
    }

    pub(super) fn count_refork(&mut self) {
        self.counts.reforks += 1;
        self.tell_counts();
    }

    /// The front's own pages show it, too.
    pub(super) fn tell_counts(&mut self) {
        self.tell_front(ToFront::Counts(self.counted()), vec![]);
    }

    /// Up to now.
    pub(super) fn counted(&self) -> ServerCounts {
        let serving = self.serving_pool().and_then(|own| self.mold_pool(own));
        let refork = serving.and_then(|pool| pool.molds.forking()).map(|member| member.refork);
        ServerCounts { refork_generation: refork.unwrap_or(0), ..self.counts.clone() }
    }
}
