//! The work that all molds share: they fork workers at the master's orders, and reap them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getppid};
use wire::channel::Channel;
use wire::control::{Exit, FromMold, GenerationNumber, Slot, ToMold};

use super::{Wire, WorkerIdentity};
use base::log;

/// The channel to the master, from the mold's side.
pub type MasterChannel = Channel<FromMold, ToMold>;

/// Time that children have for END blocks after the master has gone; then they get SIGKILL.
const LAST_WORDS: Duration = Duration::from_secs(1);

struct Child {
    slot: Slot,
    pid: Pid,
    /// pidfd, readable when the process has ended. Without one (pidfd_open failed), the child is polled every
    /// `ASKED_EVERY` ms.
    process: Option<OwnedFd>,
}

/// Polling interval, in ms, for children without a pidfd.
const ASKED_EVERY: u16 = 100;

impl Child {
    /// Waits until the child has ended, or until `by`. Does not reap the child. An error of `waitid` ends the wait.
    fn wait(&self, by: Instant) {
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while Instant::now() < by && waitid(Id::Pid(self.pid), ended) == Ok(WaitStatus::StillAlive) {
            let left = by.saturating_duration_since(Instant::now()).as_millis();
            let left = u16::try_from(left).unwrap_or(0);
            let _ = match &self.process {
                Some(process) => poll(&mut [PollFd::new(process.as_fd(), PollFlags::POLLIN)], left),
                None => poll(&mut [], left.min(ASKED_EVERY)),
            };
        }
    }
}

/// Steps of a kind of mold besides forking.
pub trait Home {
    /// Carries out an order that is not about workers.
    fn execute(&self, order: ToMold, fds: std::vec::IntoIter<OwnedFd>) -> anyhow::Result<()>;
}

/// The workers of a mold, and its channel to the master.
pub struct Forks {
    master: MasterChannel,
    generation: GenerationNumber,
    children: Vec<Child>,
    retiring: bool,
}

/// Data that a forked child needs to become a worker.
pub struct Birth {
    /// The worker's ends of the channels to the front.
    pub wire: Wire,
    pub identity: WorkerIdentity,
}

impl Forks {
    /// A mold of `generation` without workers.
    pub fn new(master: MasterChannel, generation: GenerationNumber) -> Forks {
        Forks { master, generation, children: Vec::new(), retiring: false }
    }

    /// Forks and reaps until the mold is retired and has no children. Returns `Some` in a fresh worker.
    pub fn serve(&mut self, home: &dyn Home) -> anyhow::Result<Option<Birth>> {
        while !(self.retiring && self.children.is_empty()) {
            let (order, ended) = self.wait()?;
            // Orders come before reports: the master, which gets the reports, may have ended.
            if order && let Some(birth) = self.receive_order(home)? {
                return Ok(Some(birth));
            }
            for pid in ended {
                self.reap(pid)?;
            }
            self.reap_strays();
        }
        Ok(None)
    }

    /// Reaps children that the site's start-up code left behind without waiting for them.
    fn reap_strays(&self) {
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while let Some(pid) = waitid(Id::All, ended).ok().and_then(|status| status.pid()) {
            if self.children.iter().any(|child| child.pid == pid) || waitpid(pid, None).is_err() {
                return;
            }
        }
    }

    /// Waits for an order or for the end of a child. Returns whether an order is there, and the children to reap.
    fn wait(&self) -> io::Result<(bool, Vec<Pid>)> {
        let watched = self.children.iter().filter_map(|child| Some((child.pid, child.process.as_ref()?)));
        let watched: Vec<(Pid, &OwnedFd)> = watched.collect();
        let mut fds = vec![PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        fds.extend(watched.iter().map(|(_, process)| PollFd::new(process.as_fd(), PollFlags::POLLIN)));
        let timeout = if watched.len() < self.children.len() { ASKED_EVERY.into() } else { PollTimeout::NONE };
        match poll(&mut fds, timeout) {
            Err(nix::errno::Errno::EINTR) => return Ok((false, Vec::new())),
            other => other?,
        };
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|r| !r.is_empty());
        let ended = watched.iter().zip(&fds[1..]).filter(|(_, fd)| ready(fd)).map(|((pid, _), _)| *pid);
        let pids = self.children.iter().filter(|child| child.process.is_none()).map(|child| child.pid);
        Ok((ready(&fds[0]), ended.chain(pids).collect()))
    }

    fn reap(&mut self, pid: Pid) -> io::Result<()> {
        let exit = match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, code)) => Exit::Code(code),
            Ok(WaitStatus::Signaled(_, signal, _)) => Exit::Signal(signal as i32),
            Ok(_) => return Ok(()),
            Err(_) => Exit::Code(-1),
        };
        let Some(at) = self.children.iter().position(|c| c.pid == pid) else { return Ok(()) };
        let child = self.children.swap_remove(at);
        self.master.send(&FromMold::Exited { slot: child.slot, pid: pid.as_raw(), exit }, &[])
    }

    fn receive_order(&mut self, home: &dyn Home) -> anyhow::Result<Option<Birth>> {
        let Some((order, fds)) = self.master.receive()? else {
            self.end_children();
            bail!("the master has gone");
        };
        let mut fds = fds.into_iter();
        match order {
            ToMold::Spawn { slot } => {
                let socket = fds.next().context("the message Spawn has no socket")?;
                let memory = fds.next().context("the message Spawn has no shared memory")?;
                return self.fork(slot, Wire { socket, memory });
            }
            ToMold::Retire => self.retiring = true,
            ToMold::Prepare { .. } | ToMold::Configure { .. } => bail!("the mold was configured already"),
            other => home.execute(other, fds)?,
        }
        Ok(None)
    }

    /// Kills children that outlive the master: a child that is still alive after `LAST_WORDS` ignores signals or is
    /// stopped.
    fn end_children(&self) {
        let by = Instant::now() + LAST_WORDS;
        for child in &self.children {
            child.wait(by);
            // The child is not reaped yet, so its pid cannot belong to another process.
            let _ = kill(child.pid, Signal::SIGKILL);
        }
    }

    fn fork(&mut self, slot: Slot, wire: Wire) -> anyhow::Result<Option<Birth>> {
        let mold = nix::unistd::getpid();
        let master = getppid();
        let identity = WorkerIdentity {
            slot,
            generation: self.generation,
            master: master.as_raw().cast_unsigned(),
            forked: Instant::now(),
        };
        let pid = match sys::fork() {
            Ok(Some(pid)) => pid,
            Ok(None) => {
                sys::follow(mold, master)?;
                return Ok(Some(Birth { wire, identity }));
            }
            Err(error) => {
                self.master.send(&FromMold::ForkFailed { slot, error: error.to_string() }, &[])?;
                return Ok(None);
            }
        };
        // Close the mold's copy of the socket: a copy inherited by later siblings would hide this worker's death.
        drop(wire);
        let process = sys::pidfd_open(pid).inspect_err(|error| {
            log::warn(
                "perl",
                format_args!(
                    "worker={slot} pid={pid}: pidfd_open failed, so the worker's exit is noticed late: {error}"
                ),
            );
        });
        self.children.push(Child { slot, pid, process: process.ok() });
        self.master.send(&FromMold::Forked { slot, pid: pid.as_raw() }, &[])?;
        Ok(None)
    }
}
