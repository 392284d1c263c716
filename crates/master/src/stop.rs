//! The end: gracefully within GracefulShutdownTimeout, or fast.
//!
//! ```text
//!   master                         front                          molds, workers
//!   lets nobody in any more
//!   Stop ────────────────────────▶ accepts who is in, finishes
//!        ◀──────────────── Drained exits ─── end of file ───────▶ workers leave
//!   Retire ─────────────────────────────────────────────────────▶ mold ends after its last worker
//!   all reaped: files removed, exit 0
//! ```

use std::time::{Duration, Instant};

use wire::control::{GenerationState, ToFront};

use super::Master;
use super::sockets::control_socket::How;
use base::log;
use config::LogTarget;

/// What a fast stop leaves to END blocks.
const FAST: Duration = Duration::from_secs(1);

/// A stop under way.
#[derive(Debug)]
pub struct Stop {
    how: How,
    /// Who still runs then is killed; `None`: never, or done already.
    kill_at: Option<Instant>,
    /// What the program ends with.
    result: anyhow::Result<()>,
}

impl Master {
    /// A signal or a command. The second one during a stop is impatience.
    pub(super) fn ask_stop(&mut self, how: How) {
        match (self.stop.as_ref().map(|stop| stop.how), how) {
            (None, How::Graceful) => self.stop_gracefully(),
            (None, How::Fast) | (Some(How::Graceful), _) => self.stop_fast(Ok(())),
            (Some(How::Fast), _) => self.kill_all("asked to stop twice"),
        }
    }

    /// There is nothing to serve and never was: the end, with an error.
    pub(super) fn fail(&mut self, error: anyhow::Error) {
        if self.stop.is_some() {
            return;
        }
        if self.checked.config.error_log != LogTarget::Standard {
            log::crit("master", format_args!("{error:#}"));
        }
        self.stop_fast(Err(error));
    }

    fn stop_gracefully(&mut self) {
        let allowed = self.checked.config.timeouts.graceful;
        log::notice("master", "stopping gracefully");
        let kill_at = (!allowed.is_zero()).then(|| Instant::now() + allowed);
        self.begin_stop(Stop { how: How::Graceful, kill_at, result: Ok(()) });
        self.tell_front(ToFront::Stop, vec![]);
        if self.front.is_none() {
            self.drained();
        }
    }

    fn stop_fast(&mut self, result: anyhow::Result<()>) {
        if result.is_ok() {
            log::notice("master", "stopping");
        }
        let before = self.stop.take().map_or(Ok(()), |stop| stop.result);
        let kill_at = Some(Instant::now() + FAST);
        self.begin_stop(Stop { how: How::Fast, kill_at, result: result.and(before) });
        self.hurry();
    }

    /// Without a front idle workers leave, and busy ones work for nobody. It writes the last lines of its access logs before it
    /// goes; one that does not go is killed with all others.
    fn hurry(&mut self) {
        self.tell_front(ToFront::Exit, vec![]);
        self.drained();
    }

    fn begin_stop(&mut self, stop: Stop) {
        self.notify.stopping();
        self.stop = Some(stop);
        if let Some(expansion) = self.expansion.take() {
            expansion.child.kill();
        }
        self.end_reload(Err("the server is stopping".to_string()));
        self.end_refork(Err("the server is stopping".to_string()));
        self.budget.stop();
        self.profiling.end();
        self.monitor.stop();
        self.resume_all();
        // The front answers whom the kernel has let in already. While we hold the sockets too, it would let in more for nobody.
        self.listeners.close();
        for generation in &mut self.generations {
            if let Some(attempt) = generation.attempt.take() {
                self.listeners.abandon(attempt.listeners);
            }
            generation.state = GenerationState::Draining;
        }
        self.sweep();
    }

    /// A process that somebody has stopped would neither finish nor leave.
    fn resume_all(&self) {
        self.front.iter().for_each(|front| front.resume());
        self.molds().for_each(|(_, mold)| mold.resume());
        self.workers.resume_all();
    }

    /// No request is under way any more: the Perl side may end.
    pub(super) fn drained(&mut self) {
        self.workers.let_go(None);
        self.generations.iter_mut().for_each(|generation| generation.retire());
    }

    /// The time is over: a graceful stop becomes a fast one, a fast one a kill.
    pub(super) fn enforce_stop(&mut self, now: Instant) {
        let Some(stop) = self.stop.as_mut().filter(|stop| stop.kill_at.is_some_and(|at| at <= now)) else { return };
        if stop.how == How::Graceful {
            (stop.how, stop.kill_at) = (How::Fast, Some(now + FAST));
            self.hurry();
        } else {
            self.kill_all("did not stop in time");
        }
    }

    /// When [`Self::enforce_stop`] has something to do.
    pub(super) fn stop_wakes(&self) -> Option<Instant> {
        self.stop.as_ref().and_then(|stop| stop.kill_at)
    }

    /// All have ended: what to end with.
    pub(super) fn stopped(&mut self) -> Option<anyhow::Result<()>> {
        let nobody = self.front.is_none() && self.workers.is_empty() && self.generations.is_empty();
        let nobody = nobody && self.budget.sampler_pid().is_none() && self.profiling.pid().is_none();
        if nobody { self.stop.take().map(|stop| stop.result) } else { None }
    }

    fn kill_all(&mut self, reason: &str) {
        if let Some(stop) = &mut self.stop {
            (stop.how, stop.kill_at) = (How::Fast, None);
        }
        if let Some(front) = &self.front {
            front.kill();
        }
        self.molds().for_each(|(_, mold)| mold.kill());
        self.workers.kill_all(reason);
    }
}
