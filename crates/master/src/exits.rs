//! Why workers ended, reloads and reforks, counted ([`ServerCounts`]). A state machine without I/O and without a clock.

use std::time::{Duration, Instant};

use wire::control::{Exit, ExitReason, GenerationNumber, GenerationState, ServerCounts};
use wire::reply::LeaveReason;

use super::pool::worker::WorkerEntry;

/// Maximum delay between the mold's report of an exit and the front's report of its reason.
const FRONT_REPORTS: Duration = Duration::from_secs(1);

/// The counts, and the ends that have no reason yet.
#[derive(Debug, Default)]
pub struct Exits {
    counts: ServerCounts,
    unexplained: Vec<Unexplained>,
}

/// A worker that exited with 0 before the front reported its reason: the mold's report may arrive first.
#[derive(Debug)]
struct Unexplained {
    serial: u64,
    generation: GenerationNumber,
    by: Instant,
}

/// The circumstances of a worker's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances {
    /// State of the generation; `None`: all its processes have ended.
    pub generation: Option<GenerationState>,
    /// Whether the master has received a signal or command to stop.
    pub is_stopping: bool,
}

impl Circumstances {
    /// The exit reason of a worker that was not asked to leave individually.
    fn reason(self) -> ExitReason {
        match self.generation {
            _ if self.is_stopping => ExitReason::Stop,
            Some(GenerationState::Draining | GenerationState::Failed) | None => ExitReason::Reload,
            _ => ExitReason::Exit,
        }
    }

    /// The exit reason of a worker that was not asked to leave individually; `of_its_own` is the reason that the worker
    /// reported.
    pub fn reason_to_leave(self, of_its_own: Option<LeaveReason>) -> ExitReason {
        match of_its_own {
            Some(LeaveReason::Program) => ExitReason::Program,
            Some(LeaveReason::MaxRequests) => ExitReason::MaxRequests,
            Some(LeaveReason::Memory | LeaveReason::MemoryAtOnce) => ExitReason::Memory,
            Some(LeaveReason::Spoilt) => ExitReason::Spoilt,
            None if self.generation == Some(GenerationState::Serving) => ExitReason::Spare,
            None => self.reason(),
        }
    }
}

impl Exits {
    /// Counts the end of a worker. A reason known before takes precedence over the exit status. Returns whether the end
    /// was counted now.
    pub fn ended(&mut self, worker: &WorkerEntry, exit: Exit, was_out_of_memory: bool, now: Instant) -> bool {
        let reason = match exit {
            Exit::Signal(_) if worker.killed.is_some() => worker.why.unwrap_or(ExitReason::Stop),
            Exit::Signal(_) if was_out_of_memory => ExitReason::OutOfMemory,
            Exit::Signal(_) => ExitReason::Signal,
            Exit::Code(0) => match worker.why {
                Some(why) => why,
                None => {
                    let (serial, generation) = (worker.serial(), worker.mold.pool.generation);
                    self.unexplained.push(Unexplained { serial, generation, by: now + FRONT_REPORTS });
                    return false;
                }
            },
            Exit::Code(_) => ExitReason::Exit,
        };
        self.counts.exited(reason);
        true
    }

    /// Assigns the reason that the front reports to a worker that has already ended. Returns whether an end was
    /// counted.
    pub fn explained(
        &mut self,
        serial: u64,
        of_its_own: Option<LeaveReason>,
        of: impl Fn(GenerationNumber) -> Circumstances,
    ) -> bool {
        let Some(at) = self.unexplained.iter().position(|ended| ended.serial == serial) else { return false };
        let ended = self.unexplained.swap_remove(at);
        self.counts.exited(of(ended.generation).reason_to_leave(of_its_own));
        true
    }

    /// Counts the workers on which the front has not reported in time. Returns whether there were any.
    pub fn tick(&mut self, now: Instant, of: impl Fn(GenerationNumber) -> Circumstances) -> bool {
        let (late, rest): (Vec<_>, Vec<_>) = self.unexplained.drain(..).partition(|ended| ended.by <= now);
        self.unexplained = rest;
        late.iter().for_each(|ended| self.counts.exited(of(ended.generation).reason()));
        !late.is_empty()
    }

    /// When [`Self::tick`] must be called next.
    pub fn wakes(&self) -> Option<Instant> {
        self.unexplained.iter().map(|ended| ended.by).min()
    }

    /// Counts a finished reload; `is_served`: the new generation serves.
    pub fn count_reload(&mut self, is_served: bool) {
        let ServerCounts { reloads, failed_reloads, .. } = &mut self.counts;
        *(if is_served { reloads } else { failed_reloads }) += 1;
    }

    /// Counts a worker that became a mold.
    pub fn count_refork(&mut self) {
        self.counts.reforks += 1;
    }

    /// The current counts. `refork`: number of the mold that forks.
    pub fn counts(&self, refork: u32) -> ServerCounts {
        ServerCounts { refork_generation: refork, ..self.counts.clone() }
    }
}

#[cfg(test)]
mod tests {
    use wire::control::{PoolId, WorkerId};

    use super::*;
    use crate::children::MoldId;
    use crate::pool::workers::WorkerRegister;

    const SERVING: Circumstances = Circumstances { generation: Some(GenerationState::Serving), is_stopping: false };

    fn worker(workers: &mut WorkerRegister, now: Instant) -> WorkerId {
        workers.add(MoldId { pool: PoolId { generation: 1, pool: 0 }, refork: 0 }, now)
    }

    fn count(exits: &Exits, reason: ExitReason) -> u64 {
        exits.counts(0).exits.get(&reason).copied().unwrap_or(0)
    }

    #[test]
    fn an_exit_reason_received_after_the_exit_counts() {
        let (mut exits, mut workers, now) = (Exits::default(), WorkerRegister::default(), Instant::now());
        let id = worker(&mut workers, now);
        let ended = workers.remove(id.slot).expect("there");
        assert!(!exits.ended(&ended, Exit::Code(0), false, now));
        assert!(exits.explained(id.serial, Some(LeaveReason::MaxRequests), |_| SERVING));
        assert!(!exits.explained(id.serial, None, |_| SERVING), "counted once");
        assert_eq!((count(&exits, ExitReason::MaxRequests), exits.wakes()), (1, None));
    }

    #[test]
    fn an_end_without_a_reason_is_counted_after_a_second() {
        let (mut exits, mut workers, now) = (Exits::default(), WorkerRegister::default(), Instant::now());
        for circumstances in [SERVING, Circumstances { generation: None, ..SERVING }] {
            let id = worker(&mut workers, now);
            let ended = workers.remove(id.slot).expect("there");
            exits.ended(&ended, Exit::Code(0), false, now);
            assert!(!exits.tick(now, |_| circumstances));
            assert_eq!(exits.wakes(), Some(now + FRONT_REPORTS));
            assert!(exits.tick(now + FRONT_REPORTS, |_| circumstances));
        }
        assert_eq!((count(&exits, ExitReason::Exit), count(&exits, ExitReason::Reload)), (1, 1));
    }

    #[test]
    fn a_worker_that_the_master_killed_is_no_fault() {
        let (mut exits, mut workers, now) = (Exits::default(), WorkerRegister::default(), Instant::now());
        let id = worker(&mut workers, now);
        workers.note_killed(id.slot, "test", ExitReason::StartTimeout);
        let ended = workers.remove(id.slot).expect("there");
        assert!(exits.ended(&ended, Exit::Signal(9), true, now));
        assert_eq!(count(&exits, ExitReason::StartTimeout), 1);
    }
}
