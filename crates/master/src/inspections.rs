//! Inspections under way: processes report on themselves. Each process writes into its own memfd. All of them hold the
//! write end of a pipe; its end of file shows that all reports are complete.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use wire::control::Slot;
use wire::transport::{in_memory, read_report};

use super::children::peer::Fd;
use super::sockets::control_socket::{ControlClient, SelfReport};
use base::log;

/// A process that reports.
#[derive(Debug)]
pub struct Reporter {
    /// Slot; `None` if it is no worker.
    slot: Option<Slot>,
    pid: i32,
    into: Fd,
}

impl Reporter {
    /// Creates the memory for the report of the process `pid`, which gets the descriptor.
    pub fn new(slot: Option<Slot>, pid: i32) -> io::Result<(Reporter, Fd)> {
        let into = Fd::new(in_memory("report", b"")?.into());
        Ok((Reporter { slot, pid, into: into.clone() }, into))
    }

    fn report(self) -> Option<SelfReport> {
        let Reporter { slot, pid, into } = self;
        match read_report(into.as_fd()) {
            Ok(text) => Some(SelfReport { worker: slot, pid, text }),
            Err(error) => {
                log::warn("master", format_args!("pid={pid} sent an invalid report: {error}"));
                None
            }
        }
    }
}

/// The pipe of an inspection: the end that the master watches, and the end that the processes hold.
pub fn pipe() -> io::Result<(OwnedFd, Fd)> {
    let (ours, theirs) = pipe2(OFlag::O_CLOEXEC)?;
    Ok((ours, Fd::new(theirs)))
}

#[derive(Debug)]
pub struct PendingInspection {
    /// The waiting client; `None`: a reload, which needs the list of code for its molds to load.
    pub client: Option<ControlClient>,
    /// The processes.
    pub reporters: Vec<Reporter>,
    /// Read end of a pipe that is closed when all processes have reported or ended.
    pub done: OwnedFd,
    /// When the inspection is answered with the reports that have arrived.
    pub by: Instant,
}

impl PendingInspection {
    pub fn reports(self) -> Vec<SelfReport> {
        self.reporters.into_iter().filter_map(Reporter::report).collect()
    }
}

/// All inspections under way.
#[derive(Debug, Default)]
pub struct Inspections {
    pending: Vec<PendingInspection>,
}

impl Inspections {
    pub fn add(&mut self, inspection: PendingInspection) {
        self.pending.push(inspection);
    }

    /// The client of each inspection, and a descriptor that is readable when all processes have reported.
    pub fn watched(&self) -> impl Iterator<Item = (Option<ControlClient>, BorrowedFd<'_>)> {
        self.pending.iter().map(|inspection| (inspection.client, inspection.done.as_fd()))
    }

    /// Takes the first inspection of a client.
    pub fn take(&mut self, client: Option<ControlClient>) -> Option<PendingInspection> {
        let at = self.pending.iter().position(|inspection| inspection.client == client)?;
        Some(self.pending.swap_remove(at))
    }

    /// The clients of the inspections whose time is over.
    pub fn late(&self, now: Instant) -> Vec<Option<ControlClient>> {
        self.pending.iter().filter(|inspection| inspection.by <= now).map(|inspection| inspection.client).collect()
    }

    /// When the next inspection is late.
    pub fn wakes(&self) -> Option<Instant> {
        self.pending.iter().map(|inspection| inspection.by).min()
    }
}
