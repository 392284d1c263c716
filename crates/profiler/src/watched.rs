//! The profiler's view of a worker: its memory, and the addresses found in it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use libperl::{MemoryReader, PerlActivity, StackReader};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use wire::control::{GenerationNumber, Slot};

use super::profile::StackFrame;

/// A worker that is observed.
#[derive(Debug)]
pub struct WatchedWorker {
    pub slot: Slot,
    pub generation: GenerationNumber,
    pub pid: i32,
    memory: ProcessMemory,
    activity: usize,
    reader: StackReader,
}

impl WatchedWorker {
    pub fn new(slot: Slot, generation: GenerationNumber, pid: i32, memory: OwnedFd, activity: usize) -> WatchedWorker {
        let memory = ProcessMemory(File::from(memory));
        WatchedWorker { slot, generation, pid, memory, activity, reader: StackReader::default() }
    }

    /// Reads the activity of the worker; `None`: it has no request.
    pub fn activity(&self) -> Option<PerlActivity> {
        libperl::activity(&self.memory, self.activity)
    }

    /// Whether the process has ended, so that its memory cannot be read.
    pub fn has_ended(&self) -> bool {
        !self.memory.read(self.activity, &mut [0])
    }

    /// Reads the stack of this activity, innermost frame first; `None`: it changed during the read.
    pub fn stack(&mut self, activity: &PerlActivity) -> Option<Vec<StackFrame>> {
        let stack = self.reader.stack(&self.memory, self.activity, activity)?;
        Some(stack.into_iter().filter_map(StackFrame::of).collect())
    }

    pub fn processor_time(&self) -> Duration {
        let clock = clock_getcpuclockid(Pid::from_raw(self.pid));
        clock.and_then(clock_gettime).map_or(Duration::ZERO, Duration::from)
    }

    /// Anonymous memory of the worker, in bytes.
    pub fn anonymous_memory(&self) -> u64 {
        let pages = std::fs::read_to_string(format!("/proc/{}/statm", self.pid)).unwrap_or_default();
        let mut pages = pages.split_ascii_whitespace().skip(1).map(|field| field.parse().unwrap_or(0_u64));
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        resident.saturating_sub(shared) * 4096
    }

    /// Drops the addresses: other data may lie there by now.
    pub fn forget(&mut self) {
        self.reader.forget();
    }
}

/// `/proc/PID/mem`, opened by the master.
#[derive(Debug)]
struct ProcessMemory(File);

impl MemoryReader for ProcessMemory {
    fn read(&self, address: usize, into: &mut [u8]) -> bool {
        u64::try_from(address).is_ok_and(|at| self.0.read_exact_at(into, at).is_ok())
    }
}
