//! The profiler reads the activity of workers, and the stacks of their perls, from their memory while they run. Workers
//! get no signal, so no `sleep` or `read` of the site is interrupted, and do no work for it. Only the master may open a
//! worker's memory; it sends the descriptor.
//!
//! Start at [`run`]; `look` reads one worker, `profile` and `slow` collect.

#![forbid(unsafe_code)]

mod look;
mod profile;
mod recording;
mod slow;
mod watched;

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::time::TimeSpec;
use serde::{Deserialize, Serialize};
use wire::channel::Channel;
use wire::control::{GenerationNumber, LongWait, Slot};

pub use self::look::{ObservedRequest, ObservedWorker};
pub use self::profile::{PerlStack, RequestProfile, StackCode, StackFrame, StackProfile};
pub use self::recording::MAX_SECONDS;
pub use self::slow::{SlowRecord, SlowStack};

use self::recording::Recording;
use self::slow::SlowLog;
use self::watched::WatchedWorker;
use base::log;

/// Interval after which addresses read from a worker's memory are discarded: the memory may hold other data.
const FORGETS: Duration = Duration::from_secs(1);

/// Messages of the master to the profiler.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToProfiler {
    /// A worker was forked. Descriptor: its memory.
    Worker {
        /// Slot of the worker, counted from 0.
        slot: Slot,
        /// Generation of the code that the worker runs.
        generation: GenerationNumber,
        /// Process of the worker, which is observed by its pid.
        pid: i32,
        /// Address in the worker's memory at which it notes its activity.
        activity: usize,
    },
    /// A worker has ended.
    Gone {
        /// The pid of its [`ToProfiler::Worker`].
        pid: i32,
    },
    /// A request of an event worker waited longer than `SlowLog`; its worker has several at a time.
    Waited {
        /// The pid of its [`ToProfiler::Worker`].
        pid: i32,
        /// The request.
        wait: LongWait,
    },
    /// Settings of the configuration in force.
    Configure {
        /// `SlowLog`, in milliseconds; `None`: off.
        slow_after_ms: Option<u64>,
        /// `ErrorLogFormat json`
        log_as_json: bool,
    },
    /// Show slow requests to the monitor. Descriptor: the board for them.
    Show,
    /// Sample all workers. Descriptors: a memfd for the [`StackProfile`], and one that is closed when that is written.
    Record {
        /// Length of the recording.
        seconds: f64,
        /// Samples per second.
        hertz: f64,
    },
    /// Report the last slow requests, as a list of [`SlowRecord`]. Descriptors: as for `Record`.
    Recall,
    /// Report the current activity of a worker, as a [`ObservedWorker`], or `null` without a worker in the slot.
    /// Descriptors: as for `Record`.
    Look {
        /// Slot of the worker, counted from 0.
        slot: Slot,
    },
}

/// Messages of the profiler to the master: none. Results go into the descriptors that came with a message.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromProfiler {}

/// Serves until the master has ended.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let mut profiler = Profiler::new(Channel::new(control), Instant::now());
    while profiler.turn()? {}
    Ok(())
}

struct Profiler {
    master: Channel<FromProfiler, ToProfiler>,
    workers: Vec<WatchedWorker>,
    recordings: Vec<Recording>,
    slow: SlowLog,
    forgets: Instant,
}

impl Profiler {
    fn new(master: Channel<FromProfiler, ToProfiler>, now: Instant) -> Profiler {
        Profiler { master, workers: Vec::new(), recordings: Vec::new(), slow: SlowLog::new(now), forgets: now }
    }

    /// Waits for the master, or for the next sample. Returns false when the master has ended.
    fn turn(&mut self) -> anyhow::Result<bool> {
        if self.wait()? {
            let Some((message, fds)) = self.master.receive()? else { return Ok(false) };
            self.execute(message, fds)?;
        }
        self.sample(Instant::now());
        Ok(true)
    }

    /// Whether a message of the master has arrived.
    fn wait(&self) -> anyhow::Result<bool> {
        let next = self.recordings.iter().map(Recording::due).chain(self.slow.due()).min();
        let left = next.map(|at| TimeSpec::from_duration(at.saturating_duration_since(Instant::now())));
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut fds, left, None) {
            Err(Errno::EINTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }

    fn execute(&mut self, message: ToProfiler, fds: Vec<OwnedFd>) -> anyhow::Result<()> {
        let mut fds = fds.into_iter();
        let mut next = || fds.next().context("a message of the master has too few descriptors");
        match message {
            ToProfiler::Worker { slot, generation, pid, activity } => {
                self.workers.push(WatchedWorker::new(slot, generation, pid, next()?, activity));
            }
            ToProfiler::Gone { pid } => {
                for gone in self.workers.extract_if(.., |worker| worker.pid == pid) {
                    self.slow.ended_with(&gone);
                }
            }
            ToProfiler::Waited { pid, wait } => {
                if let Some(worker) = self.workers.iter().find(|worker| worker.pid == pid) {
                    self.slow.note_wait(worker, wait);
                }
            }
            ToProfiler::Configure { slow_after_ms, log_as_json } => {
                log::write_as_json(log_as_json);
                self.slow.begins(slow_after_ms.map(Duration::from_millis), Instant::now());
            }
            ToProfiler::Show => self.slow.shows_on(next()?),
            ToProfiler::Record { seconds, hertz } => {
                let (into, done) = (next()?, next()?);
                self.recordings.push(Recording::new(seconds, hertz, into, done, &self.workers));
            }
            ToProfiler::Recall => {
                let (into, _done) = (next()?, next()?);
                std::fs::File::from(into).write_all(self.slow.recalled()?.as_bytes())?;
            }
            ToProfiler::Look { slot } => {
                let (into, _done) = (next()?, next()?);
                // A leaving worker may still be listed for the slot, so the last entry counts.
                let worker = self.workers.iter_mut().rfind(|worker| worker.slot == slot);
                let looked = serde_json::to_vec(&worker.map(ObservedWorker::at))?;
                std::fs::File::from(into).write_all(&looked)?;
            }
        }
        Ok(())
    }

    fn sample(&mut self, now: Instant) {
        if self.forgets <= now {
            self.workers.iter_mut().for_each(WatchedWorker::forget);
            self.forgets = now + FORGETS;
        }
        self.slow.look(now, &mut self.workers);
        for recording in &mut self.recordings {
            recording.sample(now, &mut self.workers);
        }
        for recording in self.recordings.extract_if(.., |recording| recording.is_over(now)) {
            recording.end(now);
        }
    }
}
