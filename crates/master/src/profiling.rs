//! The profiler as the master has it: started when `SlowLog` or somebody wants it, told of each worker, and asked to record.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::{Pid, pipe2};
use wire::board;
use wire::control::Slot;
use wire::transport::in_memory;

use super::Master;
use super::backoff::Backoff;
use super::children::peer::{Fd, Peer};
use super::children::{Profiler, start_profiler};
use super::inspection::Asked;
use super::sockets::control_socket::{Client, ControlReply};
use base::log;
use profiler::{FromProfiler, MOST_SECONDS, ToProfiler};

/// After a recording should have ended, its writing may take so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// The profiler and what it is for.
#[derive(Debug, Default)]
pub struct Profiling {
    profiler: Option<Profiler>,
    backoff: Backoff,
    /// It ended, and is not started before.
    next: Option<Instant>,
    /// Where it shows slow requests to the monitor: the end of each.
    board: Option<[Fd; 2]>,
}

impl Profiling {
    /// Its process, when it has one.
    pub fn pid(&self) -> Option<Pid> {
        self.profiler.as_ref().map(|profiler| profiler.pid)
    }

    /// By which its end is heard.
    pub fn peer(&self) -> Option<&Peer<ToProfiler, FromProfiler>> {
        self.profiler.as_ref().map(|profiler| &profiler.peer)
    }

    /// Where the monitor reads of slow requests.
    pub fn shows(&mut self) -> io::Result<Fd> {
        if let Some([_, reader]) = &self.board {
            return Ok(reader.clone());
        }
        let (writer, reader) = board::create("slow requests")?;
        let [writer, reader] = [writer, reader].map(Fd::new);
        if let Some(profiler) = &mut self.profiler {
            profiler.peer.send(ToProfiler::Show, vec![writer.clone()]);
        }
        self.board = Some([writer, reader.clone()]);
        Ok(reader)
    }

    /// Ends it: it has nothing to finish.
    pub fn end(&self) {
        self.profiler.iter().for_each(|profiler| profiler.kill());
    }
}

impl Master {
    fn slow_after(&self) -> Option<Duration> {
        self.checked.config.timeouts.slow_log
    }

    /// Starts it where `SlowLog` wants it and it does not run.
    pub(super) fn profile(&mut self, now: Instant) {
        let is_due = self.opened.is_some() && self.profiling.next.is_none_or(|at| at <= now);
        if self.slow_after().is_some() && self.profiling.profiler.is_none() && is_due {
            let _ = self.profiler();
        }
    }

    /// When [`Self::profile`] has something to do.
    pub(super) fn profiling_wakes(&self) -> Option<Instant> {
        self.profiling.next.filter(|_| self.slow_after().is_some() && self.profiling.profiler.is_none())
    }

    /// The profiler, which is started and told of all workers if it does not run.
    fn profiler(&mut self) -> io::Result<&mut Profiler> {
        if self.profiling.profiler.is_none() {
            let now = Instant::now();
            let started = self.start_profiler().inspect_err(|error| {
                log::error("master", format_args!("the profiler cannot be started: {error}"));
                self.profiling.next = Some(now + self.profiling.backoff.failed(now));
            })?;
            log::info("master", format_args!("profiler pid={} started", started.pid));
            self.profiling.profiler = Some(started);
            let slots: Vec<Slot> = self.workers.iter().map(|(slot, _)| slot).collect();
            slots.into_iter().for_each(|slot| self.show_to_profiler(slot));
            if let (Some(profiler), Some([writer, _])) = (&mut self.profiling.profiler, &self.profiling.board) {
                profiler.peer.send(ToProfiler::Show, vec![writer.clone()]);
            }
            self.configure_profiler();
        }
        self.profiling.profiler.as_mut().ok_or_else(|| io::Error::other("the profiler has ended"))
    }

    fn start_profiler(&self) -> io::Result<Profiler> {
        let opened = self.opened.as_ref().ok_or_else(|| io::Error::other("the server does not serve yet"))?;
        start_profiler(&opened.error)
    }

    /// The configuration may have changed.
    pub(super) fn configure_profiler(&mut self) {
        let after = self.slow_after();
        let slow_after_ms = after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        let log_as_json = self.checked.config.error_log_json;
        if let Some(profiler) = &mut self.profiling.profiler {
            profiler.peer.send(ToProfiler::Configure { slow_after_ms, log_as_json }, vec![]);
        }
    }

    /// A worker was forked, or the profiler has begun.
    pub(super) fn show_to_profiler(&mut self, slot: Slot) {
        let Some(worker) = self.workers.get_mut(slot).filter(|_| self.profiling.profiler.is_some()) else { return };
        let pool = worker.mold.pool;
        let Some(process) = &worker.process else { return };
        let pid = process.pid.as_raw();
        let memory = match File::open(format!("/proc/{pid}/mem")) {
            Ok(memory) => Fd::new(memory.into()),
            Err(error) => return log::warn("master", format_args!("pid={pid} cannot be profiled: {error}")),
        };
        // Only now is it sure that what was opened is the worker's.
        if !process.exists() {
            return;
        }
        let Some(activity) = self.mold_pool(pool).map(|pool| pool.activity) else { return };
        if let Some(profiler) = &mut self.profiling.profiler {
            profiler.peer.send(ToProfiler::Worker { slot, generation: pool.generation, pid, activity }, vec![memory]);
        }
    }

    /// A worker has ended.
    pub(super) fn hide_from_profiler(&mut self, pid: i32) {
        if let Some(profiler) = &mut self.profiling.profiler {
            profiler.peer.send(ToProfiler::Gone { pid }, vec![]);
        }
    }

    /// `cameleer profile`, by `client`.
    pub(super) fn ask_record(&mut self, client: Client, seconds: f64, hertz: f64) {
        // Whatever was asked for: no longer than the profiler records.
        let lasts = Duration::from_secs_f64(seconds.clamp(0.0, MOST_SECONDS));
        self.ask_profiler(client, ToProfiler::Record { seconds, hertz }, lasts);
    }

    /// `cameleer why`, by `client`.
    pub(super) fn ask_slow_requests(&mut self, client: Client) {
        if self.slow_after().is_none() {
            let error =
                "SlowLog is off: where slow requests spend their time is not looked at. `SlowLog 2s` turns it on";
            return self.tell(Some(client), &ControlReply::failed(error));
        }
        self.ask_profiler(client, ToProfiler::Recall, Duration::ZERO);
    }

    /// A look at one worker, for `client`.
    pub(super) fn ask_look(&mut self, client: Client, slot: Slot) {
        if self.workers.get_mut(slot).is_none() {
            return self.tell(Some(client), &ControlReply::failed(format!("there is no worker {slot}")));
        }
        self.ask_profiler(client, ToProfiler::Look { slot }, Duration::ZERO);
    }

    fn ask_profiler(&mut self, client: Client, message: ToProfiler, lasts: Duration) {
        let asked = self.profiler().and_then(|profiler| {
            let (told, done) = pipe2(OFlag::O_CLOEXEC)?;
            let into = Fd::new(in_memory("profile", b"")?.into());
            profiler.peer.send(message, vec![into.clone(), Fd::new(done)]);
            let by = Instant::now() + lasts + PATIENCE;
            Ok(Asked::of(client, profiler.pid.as_raw(), into, told, by))
        });
        match asked {
            Ok(asked) => self.inspections.push(asked),
            Err(error) => self.tell(Some(client), &ControlReply::failed(error)),
        }
    }

    /// On which its end is seen; it says nothing.
    pub(super) fn listen_to_profiler(&mut self) {
        let Some(profiler) = &mut self.profiling.profiler else { return };
        profiler.peer.flush();
        if let Err(error) = profiler.peer.receive() {
            log::error("master", format_args!("profiler pid={} talks nonsense and is killed: {error}", profiler.pid));
            profiler.kill();
        }
    }

    /// Another is started when it is wanted.
    pub(super) fn profiler_ended(&mut self) {
        let now = Instant::now();
        self.profiling.profiler = None;
        self.profiling.next = Some(now + self.profiling.backoff.failed(now));
        if self.stop.is_none() {
            log::error("master", "the profiler ended; another is started when it is wanted");
        }
    }
}
