//! Processes and sockets of the workers, by slot. All other facts about workers are in
//! [`WorkerRegister`](crate::pool::workers::WorkerRegister).

use std::collections::BTreeMap;
use std::io;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use wire::control::Slot;

use super::peer::Fd;
use super::process::{NotForked, WorkerProcess};

/// The handles of all workers.
#[derive(Debug, Default)]
pub struct Handles {
    by_slot: BTreeMap<Slot, Handle>,
}

#[derive(Debug, Default)]
struct Handle {
    process: Option<WorkerProcess>,
    /// The worker's socket, for the next front. While the master holds it, the worker sees no end of file when its
    /// front ends.
    socket: Option<WorkerSocket>,
}

/// The connection between a worker and the front.
#[derive(Debug, Clone)]
pub struct WorkerSocket {
    /// The socket's end for the front.
    pub front: Fd,
    /// The socket's end for the worker.
    pub worker: Fd,
    /// The memory that front and worker share.
    pub memory: Fd,
}

impl WorkerSocket {
    /// Creates a socket pair and its shared memory.
    pub fn new() -> io::Result<WorkerSocket> {
        let memory = wire::memory::create()?.into();
        let (front, worker) = wire::channel::pair()?;
        Ok(WorkerSocket { front: front.into(), worker: worker.into(), memory })
    }
}

impl Handles {
    pub fn hold(&mut self, slot: Slot, socket: WorkerSocket) {
        self.by_slot.entry(slot).or_default().socket = Some(socket);
    }

    /// The socket of a worker that has not been let go.
    pub fn socket(&self, slot: Slot) -> Option<WorkerSocket> {
        self.by_slot.get(&slot)?.socket.clone()
    }

    /// Lets a worker see the end of its front.
    pub fn let_go(&mut self, slot: Slot) {
        if let Some(handle) = self.by_slot.get_mut(&slot) {
            handle.socket = None;
        }
    }

    /// A mold reports the process of a worker. `is_its_child`, which gets the parent of that process, decides whether
    /// to believe it.
    pub fn forked(&mut self, slot: Slot, pid: Pid, is_its_child: impl FnOnce(Pid) -> bool) -> Result<(), NotForked> {
        match self.by_slot.get_mut(&slot) {
            Some(Handle { process: Some(_), .. }) => Err(NotForked::Foreign),
            Some(handle) => {
                handle.process = Some(WorkerProcess::open(pid, is_its_child)?);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Forgets a worker that has ended.
    pub fn remove(&mut self, slot: Slot) {
        self.by_slot.remove(&slot);
    }

    /// Whether a worker's process exists, be it as a zombie.
    pub fn exists(&self, slot: Slot) -> bool {
        self.process(slot).is_some_and(WorkerProcess::exists)
    }

    /// Kills a worker. Returns whether it was running.
    pub fn kill(&self, slot: Slot) -> bool {
        self.process(slot).is_some_and(|process| process.signal(Signal::SIGKILL).is_ok())
    }

    /// Makes a worker end this request, if it still works on it.
    pub fn interrupt(&self, slot: Slot, request: u64) {
        if let Some(process) = self.process(slot) {
            // A worker that has ended is reaped soon.
            let _ = process.queue(sys::deadline_signal(), request);
        }
    }

    /// Continues workers that were stopped.
    pub fn resume_all(&self) {
        for process in self.by_slot.values().filter_map(|handle| handle.process.as_ref()) {
            // A worker that has ended is reaped soon.
            let _ = process.signal(Signal::SIGCONT);
        }
    }

    fn process(&self, slot: Slot) -> Option<&WorkerProcess> {
        self.by_slot.get(&slot)?.process.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_socket() -> Handles {
        let mut handles = Handles::default();
        handles.hold(0, WorkerSocket::new().expect("a socket"));
        handles
    }

    #[test]
    fn a_process_that_has_ended_is_not_killed_in_anothers_name() {
        let mut handles = with_socket();
        let mut child = std::process::Command::new("true").spawn().expect("spawned");
        let pid = Pid::from_raw(child.id().cast_signed());
        let is_ours = |parent| parent == nix::unistd::getpid();
        handles.forked(0, pid, is_ours).expect("alive");
        assert_eq!(handles.forked(0, pid, is_ours), Err(NotForked::Foreign), "it has one");
        child.wait().expect("reaped");
        assert!(!handles.kill(0) && !handles.exists(0));
    }

    #[test]
    fn a_process_that_the_mold_did_not_fork_is_not_taken_for_a_worker() {
        let mut handles = with_socket();
        let us = nix::unistd::getpid();
        for (pid, why) in [
            (us, NotForked::Foreign),
            (Pid::from_raw(1), NotForked::Foreign),
            (Pid::from_raw(0), NotForked::Ended),
            (Pid::from_raw(-1), NotForked::Ended),
        ] {
            assert_eq!(handles.forked(0, pid, |parent| parent == us), Err(why), "{pid}");
        }
        assert!(!handles.exists(0));
    }
}
