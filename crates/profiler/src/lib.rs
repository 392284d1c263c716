//! The profiler: reads what workers are at, and the stacks of their perls, from their memory while they run on. No signal reaches them,
//! so no `sleep` or `read` of the site's is cut short; they do nothing for it. The master opens each worker's memory and sends the
//! descriptor, since it alone may.

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
use wire::control::{GenerationNumber, Slot};

pub use self::look::{Looked, LookedRequest};
pub use self::profile::{Code, Frame, Profile, RequestProfile, Stack};
pub use self::recording::MOST_SECONDS;
pub use self::slow::{SlowRequest, SlowStack};

use self::recording::Recording;
use self::slow::SlowLog;
use self::watched::Watched;
use base::log;

/// What was read from a worker's memory is forgotten so often: something else may lie there by now.
const FORGETS: Duration = Duration::from_secs(1);

/// The master to the profiler.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToProfiler {
    /// A worker was forked. Descriptor: its memory.
    Worker {
        /// Its place.
        slot: Slot,
        /// Whose code it runs.
        generation: GenerationNumber,
        /// Its process.
        pid: i32,
        /// Where it notes what it is at.
        activity: usize,
    },
    /// A worker has ended.
    Gone {
        /// Its process.
        pid: i32,
    },
    /// What the configuration in force says.
    Configure {
        /// `SlowLog`, in milliseconds; `None`: off.
        slow_after_ms: Option<u64>,
        /// `ErrorLogFormat json`
        log_as_json: bool,
    },
    /// Show slow requests to the monitor. Descriptor: the board that they are written on.
    Show,
    /// Take samples of all workers. Descriptors: a memfd for the [`Profile`], and what is closed when that is written.
    Record {
        /// For so long.
        seconds: f64,
        /// So many a second.
        hertz: f64,
    },
    /// Tell the last slow requests, as a list of [`SlowRequest`]. Descriptors: as for `Record`.
    Recall,
    /// Tell what a worker is at now, as a [`Looked`], or `null` when it is not there. Descriptors: as for `Record`.
    Look {
        /// Its place.
        slot: Slot,
    },
}

/// The profiler to the master: nothing; it writes into what comes with a message.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromProfiler {}

/// Serves until the master has gone.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let mut profiler = Profiler::new(Channel::new(control), Instant::now());
    while profiler.turn()? {}
    Ok(())
}

struct Profiler {
    master: Channel<FromProfiler, ToProfiler>,
    workers: Vec<Watched>,
    recordings: Vec<Recording>,
    slow: SlowLog,
    forgets: Instant,
}

impl Profiler {
    fn new(master: Channel<FromProfiler, ToProfiler>, now: Instant) -> Profiler {
        Profiler { master, workers: Vec::new(), recordings: Vec::new(), slow: SlowLog::new(now), forgets: now }
    }

    /// Waits for the master, or for the next sample; false: the master has gone.
    fn turn(&mut self) -> anyhow::Result<bool> {
        if self.wait()? {
            let Some((message, fds)) = self.master.receive()? else { return Ok(false) };
            self.hear(message, fds)?;
        }
        self.sample(Instant::now());
        Ok(true)
    }

    /// Whether the master has something to say.
    fn wait(&self) -> anyhow::Result<bool> {
        let next = self.recordings.iter().map(Recording::due).chain(self.slow.due()).min();
        let left = next.map(|at| TimeSpec::from_duration(at.saturating_duration_since(Instant::now())));
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut fds, left, None) {
            Err(Errno::EINTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }

    fn hear(&mut self, message: ToProfiler, fds: Vec<OwnedFd>) -> anyhow::Result<()> {
        let mut fds = fds.into_iter();
        let mut next = || fds.next().context("a message came without its descriptor");
        match message {
            ToProfiler::Worker { slot, generation, pid, activity } => {
                self.workers.push(Watched::new(slot, generation, pid, next()?, activity));
            }
            ToProfiler::Gone { pid } => {
                for gone in self.workers.extract_if(.., |worker| worker.pid == pid) {
                    self.slow.ended_with(&gone);
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
                // One that leaves may have the place still: the last is the one that is meant.
                let worker = self.workers.iter_mut().rfind(|worker| worker.slot == slot);
                let looked = serde_json::to_vec(&worker.map(Looked::at))?;
                std::fs::File::from(into).write_all(&looked)?;
            }
        }
        Ok(())
    }

    fn sample(&mut self, now: Instant) {
        if self.forgets <= now {
            self.workers.iter_mut().for_each(Watched::forget);
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
