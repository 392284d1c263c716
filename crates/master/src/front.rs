//! The front as the master sees it: started, configured, heard, started again.

use std::time::{Duration, Instant};

use anyhow::Context;
use wire::control::{Exit, FromFront, GenerationNumber, GenerationState, Listener, ToFront};

use super::Master;
use super::children::peer::Fd;
use super::children::start_front;
use super::configuration::address_name;
use super::watchdog::Watchdog;
use base::log;

/// Workers that a front left behind have so long to see it.
const LEAVE: Duration = Duration::from_secs(10);

impl Master {
    /// Starts it, at first or again; a new one must be told everything.
    pub(super) fn start_front(&mut self, error_log: &Fd) -> std::io::Result<()> {
        let front = start_front(error_log)?;
        log::info("master", format_args!("front pid={} started", front.pid));
        self.front = Some(front);
        self.watchdog = Watchdog::new(Instant::now());
        Ok(())
    }

    /// Says something to it, if there is one.
    pub(super) fn tell_front(&mut self, message: ToFront, fds: Vec<Fd>) {
        if let Some(front) = &mut self.front {
            front.peer.send(message, fds);
        }
    }

    /// Hands it a generation's configuration, logs and listeners.
    pub(super) fn configure_front(&mut self, number: GenerationNumber) -> anyhow::Result<()> {
        let Some(generation) = self.generations.iter().find(|g| g.number == number) else { return Ok(()) };
        let checked = &generation.checked;
        let memory = [checked.in_memory(), checked.identities_in_memory()].into_iter().collect::<Result<Vec<_>, _>>();
        let memory = memory.context("the configuration cannot be handed to the front")?;
        let Some(opened) = generation.attempt.as_ref().map(|attempt| &attempt.opened).or(self.opened.as_ref()) else {
            return Ok(());
        };
        let bound = generation.attempt.as_ref().map_or(self.listeners.all(), |attempt| &attempt.listeners);
        let listeners = bound.iter().map(|b| Listener { address: address_name(&b.address) }).collect();
        let message = ToFront::Configure {
            generation: number,
            logs: opened.access.len() + opened.hosts.len(),
            listeners,
            software: generation.software.clone(),
        };
        let logs = opened.access.iter().chain(&opened.hosts).cloned();
        let fds = memory.into_iter().chain(logs).chain(bound.iter().map(|b| b.fd.clone())).collect();
        let until = Instant::now() + generation.checked.config.timeouts.start;
        self.expect_configured(until);
        self.tell_front(message, fds);
        Ok(())
    }

    /// What it says.
    pub(super) fn hear_front(&mut self, message: FromFront) {
        match message {
            FromFront::Configured { generation } => {
                self.watchdog.has_configured();
                log::debug("master", format_args!("gen={generation} configured"));
            }
            FromFront::Refused { generation, error } => self.refused(generation, &error),
            FromFront::Alive => self.watchdog.heard(),
            FromFront::Ready { worker, fork_us } => self.worker_ready(worker, fork_us),
            FromFront::Load(load) => {
                if load.id.pool < self.checked.config.pool_count() {
                    self.tended(load.id.pool).load = load;
                }
                self.tend();
            }
            FromFront::Leaving { worker, reason } => self.worker_leaves(worker, reason),
            FromFront::Kill { worker, reason, exit } => {
                if let Some(worker) = self.workers.meant_by(worker) {
                    worker.kill(&reason, exit);
                }
            }
            FromFront::Interrupt { worker, request } => {
                if let Some(worker) = self.workers.meant_by(worker) {
                    worker.interrupt(request);
                }
            }
            FromFront::Retired { generation } => self.retired(generation),
            FromFront::Status(status) => {
                self.choose_candidate(&status);
                self.note_status(&status);
                self.pass_to_monitor(&status);
                self.answer_status(Some(*status));
            }
            FromFront::Purged { client, outcome } => self.purged(client, outcome),
            FromFront::Drained => self.drained(),
        }
    }

    /// It has ended; all that it said before was heard.
    pub(super) fn front_ended(&mut self, exit: Exit) {
        let now = Instant::now();
        self.front = None;
        let serving = self.serving().filter(|_| self.stop.is_none());
        self.workers.lose_front(serving, now + LEAVE);
        self.answer_status(None);
        self.end_refork(Err("the front ended: refork again".to_string()));
        self.end_purges();
        if self.stop.is_some() {
            return self.drained();
        }
        if serving.is_none() {
            return self.fail(anyhow::anyhow!("the front, which speaks HTTP, ended with {exit}"));
        }
        let wait = self.front_backoff.failed(now).as_secs_f32();
        log::error("master", format_args!("front ended {exit}; the next starts in {wait} s"));
        let why = self.watchdog.verdict().unwrap_or("the front ended: reload again").to_owned();
        self.give_up_young(&why);
        for generation in self.generations.iter_mut().filter(|g| g.state == GenerationState::Draining) {
            generation.retire();
        }
    }

    /// Starts it again when it has waited long enough, and hands it the workers.
    pub(super) fn restart_front(&mut self, now: Instant) {
        let (Some(serving), Some(opened)) = (self.serving(), &self.opened) else { return };
        if self.front.is_some() || self.stop.is_some() || self.front_backoff.ends(now).is_some() {
            return;
        }
        let error_log = opened.error.clone();
        if let Err(error) = self.start_front(&error_log) {
            self.front_backoff.failed(now);
            return log::error("master", format_args!("front cannot be started: {error}"));
        }
        if let Err(error) = self.configure_front(serving) {
            return self.end_front(&format!("{error:#}"));
        }
        for (pool, worker, socket, pid) in self.workers.orphans(serving) {
            self.hand_to_front(pool, worker, &socket, true);
            if let Some(pid) = pid {
                self.tell_front(ToFront::Forked { slot: worker.slot, pid: pid.as_raw() }, vec![]);
            }
        }
        self.tell_front(ToFront::Activate { generation: serving }, vec![]);
        self.tell_counts();
        self.tended.values_mut().for_each(|tended| tended.load = Default::default());
        self.tend();
    }

    /// It has understood a configuration and cannot serve it.
    fn refused(&mut self, number: GenerationNumber, error: &str) {
        self.watchdog.has_configured();
        if self.generation(number).is_some_and(|generation| generation.state == GenerationState::Serving) {
            return self.end_front(&format!("cannot serve gen={number}: {error}"));
        }
        self.give_up(number, anyhow::anyhow!("the front, which speaks HTTP: {error}"));
    }

    /// Ends it, so that another takes its place.
    pub(super) fn end_front(&mut self, why: &str) {
        let Some(front) = &self.front else { return };
        log::error("master", format_args!("front pid={} {why}, and is killed", front.pid));
        front.kill();
    }

    /// When [`Self::restart_front`] has something to do.
    pub(super) fn front_wakes(&self, now: Instant) -> Option<Instant> {
        let missing = self.front.is_none() && self.stop.is_none() && self.serving().is_some();
        missing.then(|| self.front_backoff.ends(now).unwrap_or(now))
    }

    pub(super) fn give_up_young(&mut self, why: &str) {
        let young = [GenerationState::Loading, GenerationState::Starting];
        let numbers: Vec<GenerationNumber> =
            self.generations.iter().filter(|g| young.contains(&g.state)).map(|g| g.number).collect();
        for number in numbers {
            self.give_up(number, anyhow::anyhow!("{why}"));
        }
    }
}
