//! `MaxClients auto` at work: once a second the front says what workers did, the kernel says what processors did for them, and
//! the number that follows ([`AutoSize`]) holds for the pool and, at once, for how many workers have a request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wire::control::{FrontStatus, ToFront};

use super::Master;
use super::pool::auto::{AutoSize, Bounds, Seen};
use base::log;
use config::Pool;
use machine::capacity::{CpuTimes, Share, cores};

/// What is seen in less says nothing.
const SHORTEST: Duration = Duration::from_millis(800);

/// The number, and the last look.
#[derive(Debug)]
pub struct Following {
    size: AutoSize,
    last: Option<Look>,
}

/// What has been counted until a moment.
#[derive(Debug)]
struct Look {
    at: Instant,
    answered: u64,
    worked_us: u64,
    cpu: BTreeMap<i32, CpuTimes>,
}

impl Following {
    /// Of a pool that says `auto`; one that follows already goes on.
    pub fn of(pool: &Pool, before: Option<Following>) -> Option<Following> {
        let start = pool.start.max(2 * cores() as u32).min(pool.max_clients);
        pool.auto.then(|| before.unwrap_or(Following { size: AutoSize::new(start), last: None }))
    }

    /// How many workers there should be.
    pub fn workers(&self) -> u32 {
        self.size.workers()
    }

    /// What was seen since the last look, when that is long enough ago.
    fn seen(&mut self, look: Look, waits: bool, alive: u32) -> Option<Seen> {
        let is_new = |last: &Look| look.answered < last.answered || look.worked_us < last.worked_us;
        let Some(last) = self.last.take_if(|last| is_new(last) || look.at - last.at >= SHORTEST) else {
            if self.last.is_none() {
                self.last = Some(look);
            }
            return None;
        };
        let times = look.cpu.iter().filter_map(|(pid, times)| Some(*times - *last.cpu.get(pid)?));
        let times = times.fold(CpuTimes::default(), |sum, times| sum + times);
        let seen = Seen {
            seconds: (look.at - last.at).as_secs_f64(),
            answered: look.answered.saturating_sub(last.answered) as f64,
            share: Share {
                busy: look.worked_us.saturating_sub(last.worked_us) as f64 / 1e6,
                cpu: times.cpu,
                queued: times.queued,
            },
            waits,
            alive,
        };
        self.last = Some(look);
        Some(seen)
    }
}

impl Master {
    /// The front has said what its workers did.
    pub(super) fn follow_load(&mut self, status: &FrontStatus) {
        let Some(serving) = self.serving_pool() else { return };
        let (now, most) = (Instant::now(), self.limits_without_auto().max_clients);
        let counts = self.counts(serving);
        let Some(following) = &mut self.following else { return };
        let pids = status.workers.iter().map(|worker| worker.pid).filter(|pid| *pid > 0);
        let cpu = pids.filter_map(|pid| Some((pid, CpuTimes::of(pid)?))).collect();
        let look = Look { at: now, answered: status.worker_requests, worked_us: status.worked_us, cpu };
        let Some(seen) = following.seen(look, status.queued > 0, counts.alive) else { return };
        let before = following.workers();
        if let Some(workers) = following.size.look(&seen, cores(), Bounds { least: 1, most }, now) {
            log::info("master", format_args!("MaxClients auto: {before} workers, from now on {workers}"));
        }
        // Said each time: a front, or a generation, may be new.
        let most = self.limits(serving).max_clients;
        self.tell_front(ToFront::Admit { pool: serving.pool, most }, vec![]);
        self.tend();
    }
}
