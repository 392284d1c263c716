//! The stop of the server: gracefully within GracefulShutdownTimeout, or fast. A state machine without I/O and without
//! a clock.
//!
//! ```text
//!   master                         front                          molds, workers
//!   closes its listeners
//!   Stop ────────────────────────▶ accepts who is in, finishes
//!        ◀──────────────── Drained exits ─── end of file ───────▶ workers leave
//!   Retire ─────────────────────────────────────────────────────▶ mold ends after its last worker
//!   all reaped: files removed, exit 0
//! ```

use std::time::{Duration, Instant};

use super::sockets::control_socket::StopMode;

/// Time that a fast stop leaves for END blocks.
pub const FAST: Duration = Duration::from_secs(1);

/// An action for the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopAction {
    /// Close the listeners, and end the tasks that only a running server needs.
    Begin,
    /// The front finishes the requests under way.
    Drain,
    /// Ask the front to exit; idle workers leave. A front that does not exit is killed with all other processes.
    Hurry,
    /// Kill all processes; the text is the reason for the log.
    Kill(&'static str),
}

/// State of the stop; `None` until a stop is requested.
#[derive(Debug, Default)]
pub struct ServerStop(Option<Stopping>);

#[derive(Debug)]
struct Stopping {
    how: StopMode,
    /// When the stop escalates; `None`: never, or done already.
    next: Option<Instant>,
    /// Exit result of the program.
    result: anyhow::Result<()>,
}

impl ServerStop {
    /// Requests a stop; a second request escalates it. `graceful` is GracefulShutdownTimeout; 0 means no limit.
    pub fn request(&mut self, how: StopMode, graceful: Duration, now: Instant) -> Vec<StopAction> {
        match (&mut self.0, how) {
            (None, StopMode::Graceful) => {
                let next = (!graceful.is_zero()).then(|| now + graceful);
                self.0 = Some(Stopping { how, next, result: Ok(()) });
                vec![StopAction::Begin, StopAction::Drain]
            }
            (None, StopMode::Fast) => self.begin_fast(Ok(()), now),
            (Some(stopping), _) if stopping.how == StopMode::Graceful => {
                (stopping.how, stopping.next) = (StopMode::Fast, Some(now + FAST));
                vec![StopAction::Hurry]
            }
            (Some(stopping), _) => stopping.kill("a second stop was requested"),
        }
    }

    /// Stops the server with an error, because it cannot serve.
    pub fn fail(&mut self, error: anyhow::Error, now: Instant) -> Vec<StopAction> {
        match self.0 {
            Some(_) => Vec::new(),
            None => self.begin_fast(Err(error), now),
        }
    }

    fn begin_fast(&mut self, result: anyhow::Result<()>, now: Instant) -> Vec<StopAction> {
        self.0 = Some(Stopping { how: StopMode::Fast, next: Some(now + FAST), result });
        vec![StopAction::Begin, StopAction::Hurry]
    }

    /// Escalates when the deadline has passed: a graceful stop becomes fast, a fast stop kills all processes.
    pub fn tick(&mut self, now: Instant) -> Vec<StopAction> {
        let Some(stopping) = self.0.as_mut().filter(|stopping| stopping.next.is_some_and(|at| at <= now)) else {
            return Vec::new();
        };
        if stopping.how == StopMode::Fast {
            return stopping.kill("did not stop in time");
        }
        (stopping.how, stopping.next) = (StopMode::Fast, Some(now + FAST));
        vec![StopAction::Hurry]
    }

    /// When [`Self::tick`] must be called next.
    pub fn wakes(&self) -> Option<Instant> {
        self.0.as_ref().and_then(|stopping| stopping.next)
    }

    pub fn is_under_way(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the result of the program, once all processes have ended.
    pub fn take_result(&mut self) -> Option<anyhow::Result<()>> {
        self.0.take().map(|stopping| stopping.result)
    }
}

impl Stopping {
    fn kill(&mut self, reason: &'static str) -> Vec<StopAction> {
        (self.how, self.next) = (StopMode::Fast, None);
        vec![StopAction::Kill(reason)]
    }
}

#[cfg(test)]
mod tests {
    use super::StopAction::{Begin, Drain, Hurry, Kill};
    use super::*;

    const GRACEFUL: Duration = Duration::from_secs(20);

    #[test]
    fn a_graceful_stop_becomes_fast_and_then_a_kill() {
        let (mut stop, now) = (ServerStop::default(), Instant::now());
        assert_eq!(stop.request(StopMode::Graceful, GRACEFUL, now), [Begin, Drain]);
        assert_eq!((stop.tick(now), stop.wakes()), (vec![], Some(now + GRACEFUL)));
        assert_eq!(stop.tick(now + GRACEFUL), [Hurry]);
        assert_eq!(stop.wakes(), Some(now + GRACEFUL + FAST));
        assert_eq!(stop.tick(now + GRACEFUL + FAST), [Kill("did not stop in time")]);
        assert_eq!((stop.tick(now + GRACEFUL * 9), stop.wakes()), (vec![], None));
        assert!(stop.take_result().is_some_and(|result| result.is_ok()));
    }

    #[test]
    fn each_further_request_makes_a_stop_harder() {
        let (mut stop, now) = (ServerStop::default(), Instant::now());
        assert_eq!(stop.request(StopMode::Graceful, Duration::ZERO, now), [Begin, Drain]);
        assert_eq!(stop.wakes(), None, "without GracefulShutdownTimeout there is no limit");
        assert_eq!(stop.request(StopMode::Graceful, Duration::ZERO, now), [Hurry]);
        assert_eq!(stop.request(StopMode::Fast, Duration::ZERO, now), [Kill("a second stop was requested")]);
    }

    #[test]
    fn the_program_exits_with_the_first_error() {
        let (mut stop, now) = (ServerStop::default(), Instant::now());
        assert_eq!(stop.fail(anyhow::anyhow!("first"), now), [Begin, Hurry]);
        assert_eq!(stop.fail(anyhow::anyhow!("second"), now), []);
        assert_eq!(stop.request(StopMode::Fast, GRACEFUL, now), [Kill("a second stop was requested")]);
        assert!(stop.is_under_way());
        assert_eq!(stop.take_result().and_then(Result::err).map(|error| error.to_string()), Some("first".to_owned()));
        assert!(!stop.is_under_way());
    }
}
