//! The front: started, configured, read, started again.

use std::time::{Duration, Instant};

use anyhow::Context;
use wire::control::{Exit, FromFront, GenerationNumber, GenerationState, Listener, ToFront};

use super::Master;
use crate::children::peer::Fd;
use crate::children::start_front;
use crate::configuration::address_name;
use crate::front::{FrontAction, FrontProcess};
use base::log;

/// Time for workers of a previous front to notice its end.
const LEAVE: Duration = Duration::from_secs(10);

impl Master {
    /// Starts a front without a configuration.
    pub(super) fn start_front(&mut self, error_log: &Fd) -> std::io::Result<()> {
        let front = start_front(error_log)?;
        log::info("master", format_args!("front pid={} started", front.pid));
        self.children.front = Some(front);
        self.front.started(Instant::now());
        Ok(())
    }

    /// Sends a message to the front, if there is one.
    pub(super) fn send_to_front(&mut self, message: ToFront, fds: Vec<Fd>) {
        if let Some(front) = &mut self.children.front {
            front.peer.send(message, fds);
        }
    }

    /// Sends the front a generation's configuration, logs and listeners.
    pub(super) fn configure_front(&mut self, number: GenerationNumber) -> anyhow::Result<()> {
        let Some(generation) = self.generations.get(number) else { return Ok(()) };
        let checked = &generation.config;
        let memory = [checked.in_memory(), checked.identities_in_memory()].into_iter().collect::<Result<Vec<_>, _>>();
        let memory = memory.context("the configuration cannot be sent to the front")?;
        let attempt = self.next.attempt().filter(|attempt| attempt.generation == number);
        let Some(opened) = attempt.map(|attempt| &attempt.opened).or(self.logs.in_use()) else { return Ok(()) };
        let bound = attempt.map_or(self.listeners.all(), |attempt| &attempt.listeners);
        let listeners = bound.iter().map(|b| Listener { address: address_name(&b.address) }).collect();
        let message = ToFront::Configure {
            generation: number,
            logs: opened.access.len() + opened.hosts.len(),
            listeners,
            software: generation.software.clone(),
        };
        let logs = opened.access.iter().chain(&opened.hosts).cloned();
        let fds = memory.into_iter().chain(logs).chain(bound.iter().map(|b| b.fd.clone())).collect();
        let until = Instant::now() + checked.config.timeouts.start;
        let pid = self.front_pid();
        let asks = self.front.configures(until, front_process(pid));
        self.do_front(asks);
        self.send_to_front(message, fds);
        Ok(())
    }

    /// Process id of the front; 0: no front runs.
    pub(super) fn front_pid(&self) -> i32 {
        self.children.front.as_ref().map_or(0, |front| front.pid.as_raw())
    }

    /// Handles up to `most` messages of the front.
    pub(super) fn read_front(&mut self, most: usize) {
        for _ in 0..most {
            let Some(front) = &mut self.children.front else { return };
            front.peer.flush();
            match front.peer.receive() {
                Ok(Some(message)) => self.front_reports(message),
                Ok(None) => return,
                Err(error) => return self.end_front(&format!("sent an invalid control message ({error})")),
            }
        }
    }

    fn front_reports(&mut self, message: FromFront) {
        match message {
            FromFront::Configured { generation } => {
                self.front.has_configured();
                log::debug("master", format_args!("gen={generation} configured"));
            }
            FromFront::Refused { generation, error } => self.refused(generation, &error),
            FromFront::Alive => self.front.answered(),
            FromFront::Ready { worker, fork_us } => self.worker_ready(worker, fork_us),
            FromFront::Load(load) => {
                if load.id.pool < self.checked.config.pool_count() {
                    self.sizing.note_load(load);
                }
                self.tend();
            }
            FromFront::Leaving { worker, reason } => self.worker_leaves(worker, reason),
            FromFront::Kill { worker, reason, exit } => {
                if self.workers.find(worker).is_some() {
                    self.kill_worker(worker.slot, &reason, exit);
                }
            }
            FromFront::Interrupt { worker, request } => {
                if self.workers.find(worker).is_some() {
                    self.children.workers.interrupt(worker.slot, request);
                }
            }
            FromFront::Retired { generation } => self.retired(generation),
            FromFront::Status(status) => {
                self.choose_candidate(&status);
                self.note_status(&status);
                self.pass_to_monitor(&status);
                self.answer_status(Some(*status));
            }
            FromFront::Challenged { serial } => self.challenged(serial),
            FromFront::Purged { client, outcome } => self.purged(client, outcome),
            FromFront::Drained => self.drained(),
            FromFront::Waited(wait) => self.show_wait(*wait),
        }
    }

    /// The front has ended; all its messages were read.
    pub(super) fn front_ended(&mut self, exit: Exit) {
        let now = Instant::now();
        self.children.front = None;
        let wait = self.front.ended(now).as_secs_f32();
        let serving = self.generations.serving().filter(|_| !self.stop.is_under_way());
        for slot in self.workers.lose_front(serving, now + LEAVE) {
            self.children.workers.let_go(slot);
        }
        self.answer_status(None);
        self.end_refork(Err("the front ended: refork again".to_string()));
        self.end_purges();
        if self.stop.is_under_way() {
            return self.drained();
        }
        if serving.is_none() {
            return self.fail(anyhow::anyhow!("the front (the process that serves HTTP) ended with {exit}"));
        }
        log::error("master", format_args!("front ended with {exit}; the next one starts in {wait} s"));
        self.give_up_young(self.front.verdict().unwrap_or("the front ended; reload again"));
        let molds = self.generations.lose_front();
        self.retire_molds(&molds);
    }

    /// Pings the front, kills one that does not answer, and starts the next one.
    pub(super) fn supervise_front(&mut self, now: Instant) {
        let timeout = self.checked.config.timeouts.front;
        let (wanted, pid) = (self.wants_front(), self.front_pid());
        let action = self.front.tick(wanted, timeout, || front_process(pid), now);
        self.do_front(action);
    }

    /// When [`Self::supervise_front`] must be called next.
    pub(super) fn next_front_check(&self, now: Instant) -> Option<Instant> {
        self.front.wakes(self.wants_front(), self.checked.config.timeouts.front, now)
    }

    fn wants_front(&self) -> bool {
        !self.stop.is_under_way() && self.generations.serving().is_some() && self.logs.in_use().is_some()
    }

    fn do_front(&mut self, action: Option<FrontAction>) {
        match action {
            None => {}
            Some(FrontAction::Start) => self.restart_front(),
            Some(FrontAction::Ask) => self.send_to_front(ToFront::Ping, vec![]),
            Some(FrontAction::Kill) => {
                let timeout = self.checked.config.timeouts.front.as_secs_f32();
                self.end_front(&format!("has not answered for {timeout} s (FrontTimeout)"));
            }
        }
    }

    /// Starts the next front, and hands it the workers.
    fn restart_front(&mut self) {
        let (Some(serving), Some(opened)) = (self.generations.serving(), self.logs.in_use()) else { return };
        let error_log = opened.error.clone();
        if let Err(error) = self.start_front(&error_log) {
            self.front.not_started(Instant::now());
            return log::error("master", format_args!("front cannot be started: {error}"));
        }
        if let Err(error) = self.configure_front(serving) {
            return self.end_front(&format!("{error:#}"));
        }
        for (pool, worker, pid) in self.workers.orphans(serving) {
            let Some(socket) = self.children.workers.socket(worker.slot) else { continue };
            self.hand_to_front(pool, worker, &socket, true);
            if let Some(pid) = pid {
                self.send_to_front(ToFront::Forked { slot: worker.slot, pid }, vec![]);
            }
        }
        // Before the front answers /readyz.
        self.node_changed();
        self.send_to_front(ToFront::Activate { generation: serving }, vec![]);
        self.send_counts();
        if self.children.acme.is_some() {
            self.send_challenges();
        }
        self.sizing.forget_load();
        self.tend();
    }

    /// The front has understood a configuration and cannot serve it.
    fn refused(&mut self, number: GenerationNumber, error: &str) {
        self.front.has_configured();
        if self.generations.state_of(number) == Some(GenerationState::Serving) {
            return self.end_front(&format!("cannot serve gen={number}: {error}"));
        }
        self.give_up(number, anyhow::anyhow!("the front (the process that serves HTTP): {error}"));
    }

    /// Kills the front, so that another takes its place.
    fn end_front(&mut self, why: &str) {
        let Some(front) = &self.children.front else { return };
        log::error("master", format_args!("front pid={} {why}, and is killed", front.pid));
        front.kill();
    }

    /// Kills processes to which a message could not be sent: they would go on without it.
    pub(super) fn end_unreachable(&mut self) {
        if let Some(error) = self.children.front.as_mut().and_then(|front| front.peer.take_failure()) {
            let why = format!("cannot be reached over its control channel ({error})");
            self.end_front(&why);
            self.give_up_young(&format!("the front {why}"));
        }
        for id in self.children.molds().map(|(id, _)| id).collect::<Vec<_>>() {
            let Some(error) = self.children.mold(id).and_then(|mold| mold.peer.take_failure()) else { continue };
            let why = format!("cannot be reached over its control channel ({error})");
            self.end_mold(id, &why);
            self.give_up(
                id.pool.generation,
                anyhow::anyhow!("the mold (the process that loads the site's Perl) {why}"),
            );
        }
    }

    fn give_up_young(&mut self, why: &str) {
        for action in self.generations.give_up_young(why) {
            self.do_generation(action);
        }
    }
}

fn front_process(pid: i32) -> FrontProcess {
    FrontProcess { delayed: sys::run_delay(pid), is_traced: sys::is_traced(pid) }
}
