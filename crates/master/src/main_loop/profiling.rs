//! The profiler: the master starts it for `SlowLog` or a client, reports each worker to it, and requests recordings.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use wire::control::{LongWait, PoolId, Slot};

use super::Master;
use crate::children::peer::Fd;
use crate::children::{Profiler, start_profiler};
use crate::inspections::{PendingInspection, ReportAsker, Reporter, pipe};
use crate::sockets::control_socket::{ControlClient, ControlReply};
use base::log;
use profiler::{MAX_SECONDS, ToProfiler};

/// Time for a recording to be written after its end.
const PATIENCE: Duration = Duration::from_secs(10);

impl Master {
    /// The time of `SlowLog`, after which a request is recorded.
    pub(super) fn slow_after(&self) -> Option<Duration> {
        self.checked.config.timeouts.slow_log
    }

    /// Starts the profiler if `SlowLog` needs it and it does not run.
    pub(super) fn profile(&mut self, now: Instant) {
        if self.logs.in_use().is_some() && self.profiler.is_due(self.slow_after().is_some(), now) {
            // A failure was logged; the next try is due later.
            let _ = self.running_profiler();
        }
    }

    /// The running profiler; starts one and sends it all workers if there is none.
    fn running_profiler(&mut self) -> io::Result<&mut Profiler> {
        if self.children.profiler.is_none() {
            let started = self.start_profiler().inspect_err(|error| {
                log::error("master", format_args!("the profiler cannot be started: {error}"));
                self.profiler.failed(Instant::now());
            })?;
            log::info("master", format_args!("profiler pid={} started", started.pid));
            self.children.profiler = Some(started);
            self.profiler.started();
            let slots: Vec<Slot> = self.workers.iter().map(|(slot, _)| slot).collect();
            slots.into_iter().for_each(|slot| self.show_to_profiler(slot));
            self.send_board();
            self.configure_profiler();
        }
        self.children.profiler.as_mut().ok_or_else(|| io::Error::other("the profiler has ended"))
    }

    fn start_profiler(&self) -> io::Result<Profiler> {
        let opened = self.logs.in_use().ok_or_else(|| io::Error::other("the server does not serve yet"))?;
        start_profiler(&opened.error)
    }

    fn send_to_profiler(&mut self, message: ToProfiler, fds: Vec<Fd>) {
        if let Some(profiler) = &mut self.children.profiler {
            profiler.peer.send(message, fds);
        }
    }

    /// Hands the profiler its end of the board that the monitor reads, if there is one.
    pub(super) fn send_board(&mut self) {
        if let Some(writer) = self.monitor_files.profilers_end() {
            self.send_to_profiler(ToProfiler::Show, vec![writer]);
        }
    }

    /// Sends the settings of the new configuration to the profiler.
    pub(super) fn configure_profiler(&mut self) {
        let after = self.slow_after();
        let slow_after_ms = after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        let log_as_json = self.checked.config.error_log_json;
        self.send_to_profiler(ToProfiler::Configure { slow_after_ms, log_as_json }, vec![]);
    }

    /// A worker was forked, or the profiler was started.
    pub(super) fn show_to_profiler(&mut self, slot: Slot) {
        let Some(worker) = self.workers.get(slot).filter(|_| self.children.profiler.is_some()) else { return };
        let (pool, Some(pid)) = (worker.mold.pool, worker.pid) else { return };
        let memory = match File::open(format!("/proc/{pid}/mem")) {
            Ok(memory) => Fd::new(memory.into()),
            Err(error) => return log::warn("master", format_args!("pid={pid} cannot be profiled: {error}")),
        };
        // The file that was opened is the worker's only if that still exists.
        if !self.children.workers.exists(slot) {
            return;
        }
        let Some(activity) = self.generations.pool(pool).map(|pool| pool.activity) else { return };
        self.send_to_profiler(ToProfiler::Worker { slot, generation: pool.generation, pid, activity }, vec![memory]);
    }

    /// Reports a request of an event worker that waited longer than `SlowLog`.
    pub(super) fn show_wait(&mut self, wait: LongWait) {
        if let Some(pid) = self.workers.find(wait.worker).and_then(|worker| worker.pid) {
            self.send_to_profiler(ToProfiler::Waited { pid, wait }, vec![]);
        }
    }

    /// Reports the end of a worker to the profiler.
    pub(super) fn hide_from_profiler(&mut self, pid: i32) {
        self.send_to_profiler(ToProfiler::Gone { pid }, vec![]);
    }

    /// `cameleer profile`: starts a recording for `client`.
    pub(super) fn request_recording(&mut self, client: ControlClient, seconds: f64, hertz: f64) {
        // The profiler records no longer than MAX_SECONDS.
        let lasts = Duration::from_secs_f64(seconds.clamp(0.0, MAX_SECONDS));
        self.request_from_profiler(client, ToProfiler::Record { seconds, hertz }, lasts);
    }

    /// `cameleer why`: requests the slow requests for `client`.
    pub(super) fn request_slow_requests(&mut self, client: ControlClient) {
        if self.slow_after().is_none() {
            let error = "slow requests are not recorded: SlowLog is off. `SlowLog 2s` turns it on";
            return self.answer(Some(client), &ControlReply::failed(error));
        }
        self.request_from_profiler(client, ToProfiler::Recall, Duration::ZERO);
    }

    /// A look at one worker, for `client`.
    pub(super) fn request_look(&mut self, client: ControlClient, slot: Slot) {
        if self.workers.get(slot).is_none() {
            return self.answer(Some(client), &ControlReply::failed(format!("there is no worker {slot}")));
        }
        self.request_from_profiler(client, ToProfiler::Look { slot }, Duration::ZERO);
    }

    fn request_from_profiler(&mut self, client: ControlClient, message: ToProfiler, lasts: Duration) {
        let inspection = self.running_profiler().and_then(|profiler| {
            let (done, theirs) = pipe()?;
            let (reporter, into) = Reporter::new(PoolId::default(), None, profiler.pid.as_raw())?;
            profiler.peer.send(message, vec![into, theirs]);
            let by = Instant::now() + lasts + PATIENCE;
            let asker = ReportAsker::Client(client);
            Ok(PendingInspection { asker, reporters: vec![reporter], done, by, search_until: None })
        });
        match inspection {
            Ok(inspection) => self.inspections.add(inspection),
            Err(error) => self.answer(Some(client), &ControlReply::failed(error)),
        }
    }

    /// The profiler's end is noticed when its process is reaped.
    pub(super) fn read_profiler(&mut self) {
        let Some(profiler) = &mut self.children.profiler else { return };
        profiler.peer.flush();
        if let Err(error) = profiler.peer.receive() {
            let pid = profiler.pid;
            log::error(
                "master",
                format_args!("profiler pid={pid} sent an invalid control message ({error}), and is killed"),
            );
            profiler.kill();
        }
    }

    /// Schedules the next start of the profiler, if it is still needed.
    pub(super) fn profiler_ended(&mut self) {
        self.children.profiler = None;
        self.profiler.failed(Instant::now());
        if !self.stop.is_under_way() {
            log::error("master", "the profiler ended; it is started again when needed");
        }
    }
}
