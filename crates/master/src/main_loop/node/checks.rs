//! The checks of services that the server depends on: children of the mold run them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use wire::control::{DependencyStatus, GenerationNumber, ToMold};
use wire::transport::{in_memory, read_report};

use crate::children::MoldId;
use crate::children::peer::Fd;
use crate::inspections::pipe;
use crate::main_loop::Master;
use base::{log, printable};

/// A check that runs.
#[derive(Debug)]
pub(in crate::main_loop) struct RunningCheck {
    pub number: u16,
    /// The mold that runs it.
    mold: MoldId,
    /// The master has given it up, and ignores its result.
    is_given_up: bool,
    /// The memory into which the child writes its result.
    into: Fd,
    /// Read end of a pipe that is closed at the end of the child.
    pub done: OwnedFd,
}

impl Master {
    /// Begins the checks that are due, and gives up those that have no result in time.
    pub(in crate::main_loop) fn run_checks(&mut self, now: Instant) {
        for number in self.checks.late(now) {
            let of_number = self.running_checks.iter_mut().filter(|running| running.number == number);
            of_number.for_each(|running| running.is_given_up = true);
            self.check_ended(number, Err("no result; the mold or the check hangs".to_owned()));
        }
        // Before the first generation serves, /readyz says that the server starts.
        if self.generations.serving().is_none() {
            return;
        }
        for number in self.checks.begin(now) {
            if self.running_checks.iter().any(|running| running.number == number) {
                // Processes that do not end must not become more.
                self.check_ended(number, Err("the check before has not ended".to_owned()));
                continue;
            }
            match self.checking_mold() {
                None => self.checks.postpone(number, now),
                Some(mold) => {
                    if let Err(error) = self.begin_check(number, mold) {
                        self.check_ended(number, Err(format!("the check cannot be started: {error}")));
                    }
                }
            }
        }
    }

    /// The mold that runs checks; `None` while it loads, or another one takes its place.
    fn checking_mold(&self) -> Option<MoldId> {
        let pool = self.generations.serving_pool().filter(|pool| self.generations.can_fork(*pool))?;
        let id = MoldId { pool, refork: self.generations.forking(pool)?.refork };
        self.children.molds().any(|(known, _)| known == id).then_some(id)
    }

    /// When [`Self::run_checks`] must be called next.
    pub(in crate::main_loop) fn checks_wake(&self) -> Option<Instant> {
        self.generations.serving().and_then(|_| self.checks.wakes())
    }

    fn begin_check(&mut self, number: u16, id: MoldId) -> io::Result<()> {
        let (done, theirs) = pipe()?;
        let into = Fd::new(in_memory("readiness", b"")?.into());
        let mold = self.children.mold(id).ok_or_else(|| io::Error::other("no mold runs"))?;
        mold.peer.send(ToMold::Check { check: number }, vec![into.clone(), theirs]);
        self.running_checks.push(RunningCheck { number, mold: id, is_given_up: false, into, done });
        Ok(())
    }

    /// The child of a check has ended.
    pub(in crate::main_loop) fn read_check(&mut self, number: u16) {
        let Some(at) = self.running_checks.iter().position(|running| running.number == number) else { return };
        let ended = self.running_checks.swap_remove(at);
        if ended.is_given_up {
            return;
        }
        let result = match read_report(ended.into.as_fd()) {
            Ok(text) if text == "ok" => Ok(()),
            // The check has ended with its mold, as after a refork.
            Ok(text) if text.is_empty() && self.checking_mold() != Some(ended.mold) => {
                return self.checks.postpone(number, Instant::now());
            }
            Ok(text) if text.is_empty() => Err("the check died".to_owned()),
            // The site's code may have written it.
            Ok(text) => Err(printable::line(text.lines().next().unwrap_or_default())),
            Err(error) => Err(format!("the check has an invalid result: {error}")),
        };
        self.check_ended(number, result);
    }

    fn check_ended(&mut self, number: u16, result: Result<(), String>) {
        let before = self.checks.status();
        match self.checks.ended(number, result) {
            Some(DependencyStatus { name, failure: None }) => {
                log::warn("master", format_args!("ReadinessCheck {name}: ready"));
            }
            Some(DependencyStatus { name, failure: Some(why) }) => {
                log::warn("master", format_args!("ReadinessCheck {name}: not ready: {why}"));
            }
            None => {}
        }
        if self.checks.status() != before {
            self.node_changed();
        }
    }

    /// Begins the checks of a generation that is to serve.
    pub(in crate::main_loop) fn configure_checks(&mut self, number: GenerationNumber) {
        let Some(checked) = self.generations.get(number).map(|generation| generation.config.clone()) else { return };
        self.running_checks.clear();
        let serves = self.generations.serving().is_some();
        self.checks.configure(&checked.config.node.checks, serves, Instant::now());
        self.node_changed();
    }
}
