//! Who is measured next, and when.

use std::time::{Duration, Instant};

use nix::unistd::Pid;
use wire::control::Slot;

use crate::Master;
use crate::backoff::Backoff;
use crate::children::peer::Peer;
use crate::children::{Sampler, start_sampler};
use base::log;
use machine::memory::{Bound, Sizes};
use machine::sampler::{Sampled, ToSampler};

/// Measuring takes one part in so many of the time.
const SHARE: u32 = 200;
/// Between two measurements at least.
const PAUSE: Duration = Duration::from_millis(20);
/// All processes are measured once in this time, when they are few.
const ROUND: Duration = Duration::from_secs(2);
/// A sampler that does not answer hangs in the kernel.
const PATIENCE: Duration = Duration::from_secs(60);

/// The sampler and its questions.
#[derive(Debug)]
pub struct Sampling {
    sampler: Option<Sampler>,
    backoff: Backoff,
    /// Who is being measured, and until when that may last.
    asked: Option<Instant>,
    next: Instant,
    /// Who was measured last.
    last: i32,
}

impl Sampling {
    /// Without a sampler yet.
    pub fn new(now: Instant) -> Sampling {
        Sampling { sampler: None, backoff: Backoff::default(), asked: None, next: now, last: 0 }
    }

    /// Its process, when it has one.
    pub fn pid(&self) -> Option<Pid> {
        self.sampler.as_ref().map(|sampler| sampler.pid)
    }

    /// Ends it: it has nothing to finish.
    pub fn end(&self) {
        self.sampler.iter().for_each(|sampler| sampler.kill());
    }

    /// On which it answers.
    pub fn peer(&self) -> Option<&Peer<ToSampler, Sampled>> {
        self.sampler.as_ref().map(|sampler| &sampler.peer)
    }
}

impl Master {
    /// Whether memory is to be measured: there is a budget, or a limit of workers, or molds are renewed by it.
    fn samples(&self) -> bool {
        self.stop.is_none() && self.serving().is_some() && self.wants_memory()
    }

    /// For the budget or limits, or for who looks at the server.
    fn wants_memory(&self) -> bool {
        self.budget.bytes.is_some() || self.has_memory_limits() || self.monitor.is_wanted()
    }

    /// Asks for the next measurement when it is due.
    pub(crate) fn sample(&mut self, now: Instant) {
        if !self.samples() {
            return;
        }
        if self.budget.sampling.asked.is_some_and(|by| by <= now) {
            return self.end_sampler("does not answer");
        }
        if self.budget.sampling.asked.is_some() || self.budget.sampling.next > now {
            return;
        }
        if self.budget.sampling.sampler.is_none() && !self.start_sampler(now) {
            return;
        }
        let subjects = self.subjects();
        let unmeasured = self.unmeasured();
        let sampling = &mut self.budget.sampling;
        let after = unmeasured.or_else(|| subjects.iter().copied().find(|pid| *pid > sampling.last));
        let (Some(pid), Some(sampler)) = (after.or(subjects.first().copied()), &mut sampling.sampler) else { return };
        sampling.last = pid;
        sampling.asked = Some(now + PATIENCE);
        sampler.peer.send(ToSampler::Measure { pid }, vec![]);
    }

    fn start_sampler(&mut self, now: Instant) -> bool {
        let Some(error_log) = self.opened.as_ref().map(|opened| opened.error.clone()) else { return false };
        let sampling = &mut self.budget.sampling;
        match start_sampler(&error_log) {
            Ok(sampler) => {
                log::info("master", format_args!("sampler pid={} started", sampler.pid));
                sampling.sampler = Some(sampler);
                true
            }
            Err(error) => {
                sampling.next = now + sampling.backoff.failed(now);
                log::error("master", format_args!("sampler cannot be started: {error}"));
                false
            }
        }
    }

    /// A process of which nothing is known: a mold first, since without that nothing follows from what workers have.
    fn unmeasured(&self) -> Option<i32> {
        let mold = self.molds().map(|(_, mold)| mold.pid.as_raw()).find(|pid| !self.budget.others.contains_key(pid));
        let of = self.workers.iter().filter(|(_, worker)| worker.sizes.is_none());
        mold.or_else(|| of.filter_map(|(_, worker)| Some(worker.process.as_ref()?.pid.as_raw())).next())
    }

    /// All processes of the server but this one, by their numbers.
    fn subjects(&self) -> Vec<i32> {
        let molds = self.molds().map(|(_, mold)| mold.pid.as_raw());
        let front = self.front.iter().map(|front| front.pid.as_raw());
        let workers = self.workers.iter().filter_map(|(_, worker)| Some(worker.process.as_ref()?.pid.as_raw()));
        let mut all: Vec<i32> = molds.chain(front).chain(workers).collect();
        all.sort_unstable();
        all
    }

    /// The sampler has answered.
    pub(crate) fn listen_to_sampler(&mut self) {
        let Some(sampler) = &mut self.budget.sampling.sampler else { return };
        match sampler.peer.receive() {
            Ok(Some(sampled)) => self.sampled(sampled),
            Ok(None) => {}
            Err(error) => self.end_sampler(&format!("talks nonsense: {error}")),
        }
    }

    fn sampled(&mut self, sampled: Sampled) {
        let now = Instant::now();
        let subjects = self.subjects();
        let round = ROUND / u32::try_from(subjects.len()).unwrap_or(u32::MAX).max(1);
        let sampling = &mut self.budget.sampling;
        // The new ones first: nothing is known of them.
        let round = if self.workers.has_unmeasured() { PAUSE } else { round };
        let pause = (Duration::from_micros(sampled.took_us) * SHARE).max(round);
        (sampling.asked, sampling.next) = (None, now + pause);
        self.budget.others.retain(|pid, _| subjects.contains(pid));
        let in_group = sampled.available.filter(|available| available.bound == Bound::ControlGroup);
        self.budget.room = in_group.map(|available| available.bytes);
        let Some(sizes) = sampled.sizes else { return };
        match self.workers.slot_of(Pid::from_raw(sampled.pid)) {
            Some(slot) => self.worker_measured(slot, sizes),
            None => drop(self.budget.others.insert(sampled.pid, sizes)),
        }
        self.keep_budget();
        self.keep_limits(now);
        self.tend();
    }

    /// With swap, pages that a worker shares look private: workers are not sent away for that.
    fn worker_measured(&mut self, slot: Slot, sizes: Sizes) {
        let id = self.workers.get_mut(slot).map(|worker| worker.mold);
        let mold = id.and_then(|id| self.mold(id)).map(|mold| mold.pid);
        let mold = mold.and_then(|pid| self.budget.memory_of(pid)).copied().unwrap_or_default();
        if let Some(worker) = self.workers.get_mut(slot) {
            worker.measured(sizes.without_swap(&mold));
        }
    }

    /// It has ended; another is started when it is wanted.
    pub(crate) fn sampler_ended(&mut self) {
        let now = Instant::now();
        let sampling = &mut self.budget.sampling;
        (sampling.sampler, sampling.asked) = (None, None);
        sampling.next = now + sampling.backoff.failed(now);
        if self.stop.is_none() {
            log::error("master", "the sampler, which measures memory, ended; another is started when it is wanted");
        }
    }

    fn end_sampler(&mut self, why: &str) {
        if let Some(sampler) = &self.budget.sampling.sampler {
            log::error("master", format_args!("sampler pid={} {why}, and is killed", sampler.pid));
            sampler.kill();
        }
        self.budget.sampling.asked = None;
        self.budget.sampling.next = Instant::now() + PATIENCE;
    }

    /// When [`Self::sample`] has something to do.
    pub(crate) fn sampling_wakes(&self) -> Option<Instant> {
        self.samples().then(|| self.budget.sampling.asked.unwrap_or(self.budget.sampling.next))
    }
}
