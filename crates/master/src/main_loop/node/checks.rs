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
    /// The memory into which the child writes its result.
    into: Fd,
    /// Read end of a pipe that is closed at the end of the child.
    pub done: OwnedFd,
}

impl Master {
    /// Begins the checks that are due, and gives up those that have no result in time.
    pub(in crate::main_loop) fn run_checks(&mut self, now: Instant) {
        for number in self.checks.late(now) {
            self.check_ended(number, Err("no result; the mold or the check hangs".to_owned()));
        }
        // Before the first generation serves, /readyz says that the server starts.
        if self.generations.serving().is_none() {
            return;
        }
        for number in self.checks.begin(now) {
            if let Err(error) = self.begin_check(number) {
                self.check_ended(number, Err(format!("the check cannot be started: {error}")));
            }
        }
    }

    /// When [`Self::run_checks`] must be called next.
    pub(in crate::main_loop) fn checks_wake(&self) -> Option<Instant> {
        self.generations.serving().and_then(|_| self.checks.wakes())
    }

    fn begin_check(&mut self, number: u16) -> io::Result<()> {
        let unavailable = || io::Error::other("no mold runs");
        let pool = self.generations.serving_pool().ok_or_else(unavailable)?;
        let refork = self.generations.forking(pool).map(|member| member.refork).ok_or_else(unavailable)?;
        let mold = self.children.mold(MoldId { pool, refork }).ok_or_else(unavailable)?;
        let (done, theirs) = pipe()?;
        let into = Fd::new(in_memory("readiness", b"")?.into());
        mold.peer.send(ToMold::Check { check: number }, vec![into.clone(), theirs]);
        self.running_checks.push(RunningCheck { number, into, done });
        Ok(())
    }

    /// The child of a check has ended.
    pub(in crate::main_loop) fn read_check(&mut self, number: u16) {
        let Some(at) = self.running_checks.iter().position(|running| running.number == number) else { return };
        let result = match read_report(self.running_checks.swap_remove(at).into.as_fd()) {
            Ok(text) if text == "ok" => Ok(()),
            Ok(text) if text.is_empty() => Err("the check died".to_owned()),
            // The site's code may have written it.
            Ok(text) => Err(printable::line(text.lines().next().unwrap_or_default())),
            Err(error) => Err(format!("the check has an invalid result: {error}")),
        };
        self.check_ended(number, result);
    }

    fn check_ended(&mut self, number: u16, result: Result<(), String>) {
        self.running_checks.retain(|running| running.number != number);
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
        self.checks.configure(&checked.config.node.checks, Instant::now());
        self.node_changed();
    }
}
