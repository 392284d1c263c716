//! A generation: one configuration, and for each of its pools a mold and its workers.
//!
//! ```text
//!   Loading ──mold ready──▶ Starting ──first worker ready──▶ Serving ──a newer one serves──▶ Draining ──▶ Gone
//!      └──────────────────────┴── error, or StartTimeout ──▶ Failed ─────────────────────────────────────▶ Gone
//! ```

mod mold;
pub mod molds;
pub mod pools;

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::{ExitReason, GenerationNumber, GenerationState, PoolId, PoolNumber, ToFront};

use molds::Member;
use pools::MoldPool;

use super::Master;
use super::children::Mold;
use super::configuration::CheckedConfig;
use super::logs::Opened;
use super::sockets::listeners::Bound;
use base::log;
use config::Config;

/// A mold may be stopped for so long: Ctrl-Z and `fg` stop and continue all of us one after the other.
const STOPPED: Duration = Duration::from_secs(1);
/// What every process has open besides logs and listeners.
const FEWEST_FILES: u64 = 96;

/// One generation.
#[derive(Debug)]
pub struct Generation {
    /// Counted from 1.
    pub number: GenerationNumber,
    /// What it serves.
    pub checked: Rc<CheckedConfig>,
    /// Drawn above.
    pub state: GenerationState,
    /// By their numbers.
    pub pools: Vec<MoldPool>,
    /// What the mold of the server's own pool said that the server is.
    pub software: String,
    /// What it brings along until it serves.
    pub attempt: Option<Attempt>,
    /// `Loading`, `Starting` or `Draining` must be over by then; `None`: whenever it is.
    pub deadline: Option<Instant>,
}

/// What a generation needs beside its processes; the server's own when the generation serves.
#[derive(Debug)]
pub struct Attempt {
    /// Its configuration.
    pub checked: Rc<CheckedConfig>,
    /// Its sockets, those that the server has already among them.
    pub listeners: Vec<Bound>,
    /// Its logs.
    pub opened: Opened,
}

impl Generation {
    /// Those whose workers nobody can fork although it serves.
    fn without_mold(&self) -> impl Iterator<Item = (PoolId, &MoldPool)> {
        let serves = self.state == GenerationState::Serving;
        let pools = (0..).zip(&self.pools).filter(move |(_, pool)| serves && pool.molds.forking().is_none());
        pools.map(|(number, pool)| (PoolId { generation: self.number, pool: number }, pool))
    }

    /// All molds of all its pools.
    pub fn molds(&self) -> impl Iterator<Item = (PoolNumber, &Member)> {
        (0..).zip(&self.pools).flat_map(|(number, pool)| pool.molds.iter().map(move |member| (number, member)))
    }

    /// Tells them to fork no more, and to end after their last workers.
    pub fn retire(&mut self) {
        self.pools.iter_mut().for_each(|pool| pool.molds.retire());
    }

    fn is_young(&self) -> bool {
        matches!(self.state, GenerationState::Loading | GenerationState::Starting)
    }

    fn serve(&mut self) {
        (self.state, self.deadline) = (GenerationState::Serving, None);
    }

    fn drain(&mut self) {
        let allowed = self.checked.config.timeouts.graceful;
        self.state = GenerationState::Draining;
        self.deadline = (!allowed.is_zero()).then(|| Instant::now() + allowed);
    }

    fn is_late(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|at| at <= now)
    }

    /// Whether nothing of it will come back.
    fn is_over(&self) -> bool {
        self.pools.iter().all(|pool| pool.molds.is_empty())
            && matches!(self.state, GenerationState::Draining | GenerationState::Failed)
    }
}

/// Whether the logs of a configuration can be open at once, and once more while they are opened anew.
fn enough_files(config: &Config, limit: u64) -> anyhow::Result<()> {
    let logs = config.logs.len() + config.error_logs.len();
    let needed = FEWEST_FILES + config.listen.len() as u64 + 2 * logs as u64;
    if needed > limit {
        anyhow::bail!(
            "{logs} logs of hosts (CustomLog, ErrorLog) and {} listeners need {needed} open files and {limit} are allowed: \
             allow more (ulimit -Hn, systemd's LimitNOFILE), or let hosts share logs (%v names the host)",
            config.listen.len()
        );
    }
    Ok(())
}

impl Master {
    /// Binds, opens and starts the mold. What fails leaves everything as it was.
    pub(super) fn begin_generation(&mut self, checked: Rc<CheckedConfig>) -> anyhow::Result<()> {
        let listeners = self.listeners.for_config(&checked)?;
        match self.open_and_start(&checked) {
            Ok((opened, molds)) => {
                let attempt = Attempt { checked: checked.clone(), listeners, opened };
                self.add_generation(checked, molds, attempt);
                Ok(())
            }
            Err(error) => {
                self.listeners.abandon(listeners);
                self.logs.keep(&self.checked.config);
                if self.opened.is_none() {
                    self.logs.give_stderr_back();
                }
                Err(error)
            }
        }
    }

    fn open_and_start(&mut self, checked: &CheckedConfig) -> anyhow::Result<(Opened, Vec<Mold>)> {
        enough_files(&checked.config, sys::file_limit())?;
        let opened = self.logs.open(&checked.config)?;
        if self.opened.is_none() {
            // The start is logged where all else will be; the terminal is told how it ends.
            opened.take_stderr()?;
        }
        let mut molds: Vec<Mold> = Vec::new();
        for pool in checked.config.pool_numbers() {
            let id = PoolId { generation: self.last_generation + 1, pool };
            let started = self.start_mold(id, checked, &opened);
            molds.push(started.inspect_err(|_| molds.iter().for_each(Mold::kill))?);
        }
        Ok((opened, molds))
    }

    fn add_generation(&mut self, checked: Rc<CheckedConfig>, molds: Vec<Mold>, attempt: Attempt) {
        self.last_generation += 1;
        let allowed = checked.config.timeouts.start;
        self.notify.extend(allowed);
        self.generations.push(Generation {
            number: self.last_generation,
            checked,
            state: GenerationState::Loading,
            pools: molds.into_iter().map(MoldPool::new).collect(),
            software: String::new(),
            attempt: Some(attempt),
            deadline: Some(Instant::now() + allowed),
        });
    }

    /// The one that serves.
    pub(super) fn serving(&self) -> Option<GenerationNumber> {
        self.generations.iter().find(|g| g.state == GenerationState::Serving).map(|g| g.number)
    }

    pub(super) fn generation(&mut self, number: GenerationNumber) -> Option<&mut Generation> {
        self.generations.iter_mut().find(|g| g.number == number)
    }

    pub(super) fn activate(&mut self, number: GenerationNumber) {
        let attempt = self.generation(number).and_then(|g| g.attempt.take());
        if let Some(attempt) = &attempt {
            // Before the front lets go of those that the new generation does not want: it empties them first.
            self.listeners.let_nobody_in(|ours| attempt.listeners.iter().all(|kept| kept.address != ours.address));
        }
        self.tell_front(ToFront::Activate { generation: number }, vec![]);
        self.end_refork(Err("a reload came between".to_string()));
        self.refork.begin_anew();
        for generation in &mut self.generations {
            match generation.state {
                _ if generation.number == number => generation.serve(),
                GenerationState::Serving => generation.drain(),
                _ => {}
            }
        }
        for tended in self.tended.values_mut() {
            (tended.policy, tended.load) = Default::default();
        }
        let is_first = self.opened.is_none();
        if let Some(attempt) = attempt {
            self.commit(attempt);
        }
        if is_first { self.announce() } else { self.end_reload(Ok(number)) }
    }

    /// A generation that does not come to serve: undone, and whoever waits for it is told why.
    pub(super) fn give_up(&mut self, number: GenerationNumber, error: anyhow::Error) {
        let Some(generation) = self.generation(number).filter(|g| g.is_young()) else { return };
        generation.state = GenerationState::Failed;
        generation.deadline = None;
        let attempt = generation.attempt.take();
        generation.molds().for_each(|(_, member)| member.mold.kill());
        self.kill_workers_of(number, "its generation failed");
        if let Some(attempt) = attempt {
            self.listeners.abandon(attempt.listeners);
            self.logs.keep(&self.checked.config);
        }
        match self.serving() {
            Some(_) => self.end_reload(Err(format!("{error:#}"))),
            None => self.fail(error),
        }
        self.sweep();
    }

    /// The front has no request of this generation any more.
    pub(super) fn retired(&mut self, number: GenerationNumber) {
        if let Some(generation) = self.generation(number).filter(|g| g.state == GenerationState::Draining) {
            generation.retire();
            self.workers.let_go(Some(number));
        }
    }

    /// Forgets generations of which nothing is left.
    pub(super) fn sweep(&mut self) {
        let workers = &self.workers;
        self.generations.retain(|generation| {
            let gone = generation.is_over() && workers.of_generation(generation.number).next().is_none();
            if gone {
                log::info("master", format_args!("gen={} gone", generation.number));
            }
            !gone
        });
    }

    /// Those that did not load, boot or leave in time.
    pub(super) fn enforce_deadlines(&mut self, now: Instant) {
        let late = self.generations.iter_mut().filter(|g| g.is_late(now));
        let late: Vec<(GenerationNumber, GenerationState, u64)> = late
            .map(|generation| {
                generation.deadline = None;
                (generation.number, generation.state, generation.checked.config.timeouts.start.as_secs())
            })
            .collect();
        for (number, state, allowed) in late {
            match state {
                GenerationState::Draining => self.kill_workers_of(number, "its generation should have ended"),
                _ => {
                    self.give_up(number, anyhow::anyhow!("still {state:?} after {allowed} s; StartTimeout allows more"))
                }
            }
        }
        let (late, _) = self.workers.overdue(self.checked.config.timeouts.start, now);
        for slot in late {
            if let Some(worker) = self.workers.get_mut(slot) {
                worker.kill("not ready within StartTimeout", ExitReason::StartTimeout);
            }
        }
    }

    /// When [`Self::enforce_deadlines`] or [`Self::restart_mold`] has something to do; a stop has its own deadline.
    pub(super) fn generations_wake(&self, now: Instant) -> Option<Instant> {
        if self.stop.is_some() {
            return None;
        }
        let deadlines = self.generations.iter().filter_map(|g| g.deadline);
        let moldless = self.generations.iter().flat_map(Generation::without_mold);
        let restarts = moldless.map(|(_, pool)| pool.backoff.ends(now).unwrap_or(now));
        let (_, overdue) = self.workers.overdue(self.checked.config.timeouts.start, now);
        let pools = self.generations.iter().flat_map(|g| &g.pools);
        let stopped = pools.filter_map(|pool| pool.stopped).map(|since| since + STOPPED);
        deadlines.chain(restarts).chain(overdue).chain(stopped).min()
    }
}
