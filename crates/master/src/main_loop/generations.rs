//! Generations: begun, served, given up, forgotten.

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::{ExitReason, GenerationNumber, GenerationState, PoolId, Slot, ToFront};

use super::Master;
use super::next::{Attempt, NextConfig};
use crate::children::Mold;
use crate::children::MoldId;
use crate::configuration::CheckedConfig;
use crate::configuration::failures_folder;
use crate::generation::{GenerationAction, GenerationTimes};
use crate::logs::OpenedLogs;
use crate::sizing::PoolLimits;
use crate::sockets::listeners::BoundSocket;
use base::log;
use config::Config;

/// Descriptors of every process besides logs and listeners.
const MIN_FILES: u64 = 96;

/// Checks that all logs of a configuration can be open twice, as while they are reopened.
fn enough_files(config: &Config, limit: u64) -> anyhow::Result<()> {
    let logs = config.logs.len() + config.error_logs.len();
    let needed = MIN_FILES + config.listen.len() as u64 + 2 * logs as u64;
    if needed > limit {
        anyhow::bail!(
            "{logs} logs of hosts (CustomLog, ErrorLog) and {} listeners need {needed} open files and {limit} are allowed; \
             allow more (ulimit -Hn, systemd's LimitNOFILE), or let hosts share logs (%v names the host)",
            config.listen.len()
        );
    }
    Ok(())
}

impl Master {
    /// Binds sockets, opens logs and starts the molds. On an error the running server is unchanged.
    pub(super) fn begin_generation(&mut self, checked: Rc<CheckedConfig>) -> anyhow::Result<()> {
        let listeners = self.listeners.for_config(&checked)?;
        match self.open_and_start(&checked) {
            Ok((opened, molds)) => {
                self.add_generation(checked, molds, listeners, opened);
                Ok(())
            }
            Err(error) => {
                self.listeners.abandon(listeners);
                self.logs.keep(&self.checked.config);
                if self.logs.in_use().is_none() {
                    self.logs.give_stderr_back();
                }
                Err(error)
            }
        }
    }

    fn open_and_start(&mut self, checked: &CheckedConfig) -> anyhow::Result<(OpenedLogs, Vec<Mold>)> {
        enough_files(&checked.config, sys::file_limit())?;
        let opened = self.logs.open(&checked.config)?;
        if self.logs.in_use().is_none() {
            // The start is logged where everything else will be; the terminal gets its result.
            opened.take_stderr()?;
        }
        failures_folder::prepare(&checked.config);
        let mut molds: Vec<Mold> = Vec::new();
        for pool in checked.config.pool_numbers() {
            let id = PoolId { generation: self.generations.next_number(), pool };
            let started = self.start_mold(id, checked, &opened);
            molds.push(started.inspect_err(|_| molds.iter().for_each(Mold::kill))?);
        }
        Ok((opened, molds))
    }

    fn add_generation(
        &mut self,
        checked: Rc<CheckedConfig>,
        molds: Vec<Mold>,
        listeners: Vec<BoundSocket>,
        opened: OpenedLogs,
    ) {
        let generation = self.generations.next_number();
        let timeouts = &checked.config.timeouts;
        let times = GenerationTimes { start: timeouts.start, graceful: timeouts.graceful };
        self.announcer.notify().extend(times.start);
        let pids: Vec<i32> = molds.iter().map(|mold| mold.pid.as_raw()).collect();
        for (pool, mold) in (0..).zip(molds) {
            self.children.add_mold(MoldId { pool: PoolId { generation, pool }, refork: 0 }, mold);
        }
        self.generations.begin(checked, times, &pids, Instant::now());
        self.next = NextConfig::Starting(Attempt { generation, listeners, opened });
    }

    pub(super) fn do_generation(&mut self, action: GenerationAction) {
        match action {
            GenerationAction::Start(number) => self.start_workers(number),
            GenerationAction::GiveUp(number, why) => self.give_up(number, anyhow::Error::msg(why)),
            GenerationAction::KillWorkers(number) => self.kill_workers_of(number, "the generation should have ended"),
        }
    }

    fn start_workers(&mut self, number: GenerationNumber) {
        if let Err(error) = self.configure_front(number) {
            return self.give_up(number, error);
        }
        let Some(checked) = self.generations.get(number).map(|generation| generation.config.clone()) else { return };
        for id in self.generations.pools_of(number) {
            let start = PoolLimits::of(checked.config.pool_of(id.pool), 0).start;
            (0..start).for_each(|_| self.fork_worker(id));
        }
    }

    /// Serves a generation as soon as a worker is ready in each of its pools that start with some.
    pub(super) fn serve_when_ready(&mut self, number: GenerationNumber) {
        let Some(generation) = self.generations.get(number) else { return };
        let starts_empty = |pool: PoolId| generation.config.config.pool_of(pool.pool).start == 0;
        let is_ready = |pool: PoolId| starts_empty(pool) || !self.workers.serving(pool).is_empty();
        let starts = self.generations.state_of(number) == Some(GenerationState::Starting);
        if starts && self.generations.pools_of(number).into_iter().all(is_ready) {
            self.activate(number);
        }
    }

    fn activate(&mut self, number: GenerationNumber) {
        let attempt = self.next.take_attempt(number);
        if let Some(attempt) = &attempt {
            // The front accepts the waiting connections of these sockets before it closes them.
            self.listeners.let_nobody_in(|ours| attempt.listeners.iter().all(|kept| kept.address != ours.address));
        }
        // Before the front answers /readyz for this generation.
        self.configure_checks(number);
        self.send_to_front(ToFront::Activate { generation: number }, vec![]);
        self.end_refork(Err("superseded by another reload".to_string()));
        self.refork.begin_generation();
        self.generations.serve(number, Instant::now());
        self.serving_since = Some(Instant::now());
        self.sizing.begin_generation();
        let is_first = self.logs.in_use().is_none();
        if let Some(attempt) = attempt {
            self.commit(attempt);
        }
        // The slow start begins, by the configuration that serves now.
        self.node_changed();
        self.begin_surveys(number);
        if is_first {
            self.announce()
        } else {
            self.end_reload(Ok(number))
        }
        self.prepare_mold();
    }

    /// Reverts the start of a generation that has failed, and reports the error to the waiting clients.
    pub(super) fn give_up(&mut self, number: GenerationNumber, error: anyhow::Error) {
        if !self.generations.fail(number) {
            return;
        }
        let (attempt, is_suspect) = (self.next.take_attempt(number), self.leaves_out_late_code(&error));
        let failed = self.generations.get(number).map(|generation| generation.config.clone());
        let molds = self.children.molds().filter(|(id, _)| id.pool.generation == number);
        molds.for_each(|(_, mold)| mold.kill());
        self.kill_workers_of(number, "the generation failed");
        if let Some(attempt) = attempt {
            self.listeners.abandon(attempt.listeners);
            self.logs.keep(&self.checked.config);
        }
        match self.generations.serving() {
            Some(_) => {
                self.end_reload(Err(format!("{error:#}")));
                self.prepare_mold();
            }
            None => match failed.filter(|_| is_suspect) {
                Some(checked) => self.begin_generation(checked).unwrap_or_else(|error| self.fail(error)),
                None => self.fail(error),
            },
        }
        self.sweep();
    }

    /// The front has no request of this generation any more.
    pub(super) fn retired(&mut self, number: GenerationNumber) {
        let Some(molds) = self.generations.drained(number) else { return };
        self.retire_molds(&molds);
        for slot in self.slots_of(number) {
            self.children.workers.let_go(slot);
        }
    }

    /// Removes generations without processes.
    pub(super) fn sweep(&mut self) {
        let workers = &self.workers;
        for number in self.generations.sweep(|number| workers.of_generation(number).next().is_some()) {
            log::info("master", format_args!("gen={number} gone"));
        }
    }

    /// Ends processes that did not load, start or leave in time.
    pub(super) fn enforce_deadlines(&mut self, now: Instant) {
        for action in self.generations.overdue(now) {
            self.do_generation(action);
        }
        let (late, _) = self.workers.late_to_start(self.start_timeout(), now);
        for slot in late {
            self.kill_worker(slot, "not ready within StartTimeout", ExitReason::StartTimeout);
        }
    }

    /// Deadline of the worker that must become ready first.
    pub(super) fn starts_wake(&self, now: Instant) -> Option<Instant> {
        self.workers.late_to_start(self.start_timeout(), now).1
    }

    pub(super) fn start_timeout(&self) -> Duration {
        self.checked.config.timeouts.start
    }

    /// Kills the workers of a generation that has failed, or should have ended.
    pub(super) fn kill_workers_of(&mut self, number: GenerationNumber, reason: &str) {
        for slot in self.slots_of(number) {
            self.kill_worker(slot, reason, ExitReason::Reload);
        }
    }

    fn slots_of(&self, number: GenerationNumber) -> Vec<Slot> {
        self.workers.of_generation(number).map(|(slot, _)| slot).collect()
    }

    /// `gen=2`, with the pool's name where there are several: `gen=2 pool=old`.
    pub(super) fn name_of(&self, id: PoolId) -> String {
        let found = self.generations.get(id.generation);
        let label = found.map(|generation| generation.config.config.pool_label(id.pool)).unwrap_or_default();
        format!("gen={}{label}", id.generation)
    }
}
