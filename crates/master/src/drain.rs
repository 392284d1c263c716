//! Whether a load balancer is to send requests to this server: ready, draining before a stop, or in maintenance. A
//! state machine without I/O and without a clock.
//!
//! ```text
//!   Ready ── drain, TERM with ShutdownDelay ──▶ Draining ── time is over ──▶ stop
//!     ▲ ◀──────────── drain --cancel ───────────── │
//!     │ ── maint on ──▶ Maintenance ── drain ──────┘
//!     └─── maint off ───────┘
//! ```

use std::time::{Duration, Instant};

use wire::control::NodeState;

use super::sockets::control_socket::ControlClient;

/// Duration of a drain without `--for` and without `ShutdownDelay`: three checks of a balancer, two seconds apart, and
/// some time more.
pub const USUAL: Duration = Duration::from_secs(10);

/// Why a state cannot change after a request to stop.
const STOPS: &str = "the server was told to stop, which cannot be cancelled";

/// State of the node.
#[derive(Debug)]
pub struct NodeDrain {
    state: NodeState,
    /// When the state began.
    since: Instant,
    /// When the server stops; `None`: it does not drain.
    until: Option<Instant>,
    /// A stop was requested: the drain cannot be cancelled.
    is_stop: bool,
    /// Clients that wait for the end of the server, or of the drain.
    clients: Vec<ControlClient>,
}

impl NodeDrain {
    /// A node that is ready.
    pub fn new(now: Instant) -> NodeDrain {
        NodeDrain { state: NodeState::Ready, since: now, until: None, is_stop: false, clients: Vec::new() }
    }

    pub fn state(&self) -> NodeState {
        self.state
    }

    /// When the state began.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Drains for `wait` from now on, for a client that waits for the end. A drain under way gets this end instead,
    /// unless a stop was requested.
    pub fn begin(&mut self, wait: Duration, client: ControlClient, now: Instant) {
        self.clients.push(client);
        if !self.is_stop {
            self.until = Some(now + wait);
        }
        self.enter(NodeState::Draining, now);
    }

    /// Requests a stop after `delay`. Returns whether the server drains first. The time for which it was not ready
    /// already counts, and a second request ends the wait.
    pub fn delays_stop(&mut self, delay: Duration, now: Instant) -> bool {
        let begun = if self.state == NodeState::Ready { now } else { self.since };
        let until = begun + delay;
        if self.is_stop || until <= now {
            return false;
        }
        (self.is_stop, self.until) = (true, Some(until));
        self.enter(NodeState::Draining, now);
        true
    }

    /// The stop begins, after which nothing makes the server ready again.
    pub fn end_with_stop(&mut self) {
        (self.is_stop, self.until) = (true, None);
    }

    /// Ends the drain. Returns the clients that wait for its end.
    pub fn cancel(&mut self, now: Instant) -> Result<Vec<ControlClient>, &'static str> {
        match self.state {
            _ if self.is_stop => Err(STOPS),
            NodeState::Ready => Err("the server does not drain"),
            NodeState::Maintenance => Err("the server does not drain; maint off ends the maintenance"),
            NodeState::Draining => {
                self.until = None;
                self.enter(NodeState::Ready, now);
                Ok(std::mem::take(&mut self.clients))
            }
        }
    }

    /// Begins or ends the maintenance.
    pub fn maintain(&mut self, on: bool, now: Instant) -> Result<(), &'static str> {
        if self.is_stop {
            return Err(STOPS);
        }
        if self.state == NodeState::Draining {
            return Err("the server drains; drain --cancel ends that");
        }
        self.enter(if on { NodeState::Maintenance } else { NodeState::Ready }, now);
        Ok(())
    }

    /// Whether the time of the drain is over, so that the server stops now.
    pub fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// When [`Self::is_over`] must be called next.
    pub fn wakes(&self) -> Option<Instant> {
        self.until
    }

    fn enter(&mut self, state: NodeState, now: Instant) {
        // The time since which balancers send requests elsewhere does not begin anew.
        let goes_on = self.state == state || self.state == NodeState::Maintenance && state == NodeState::Draining;
        self.state = state;
        if !goes_on {
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_drain_ends_after_its_time_or_is_cancelled() {
        let now = Instant::now();
        let mut drain = NodeDrain::new(now);
        assert_eq!(drain.cancel(now), Err("the server does not drain"));
        drain.begin(SECOND * 30, 7, now);
        assert_eq!((drain.state(), drain.is_over(now + SECOND * 29)), (NodeState::Draining, false));
        drain.begin(SECOND * 5, 8, now + SECOND);
        assert!(drain.is_over(now + SECOND * 6), "the second drain is shorter");
        assert_eq!(drain.cancel(now + SECOND * 2), Ok(vec![7, 8]));
        assert_eq!((drain.state(), drain.since(), drain.wakes()), (NodeState::Ready, now + SECOND * 2, None));
    }

    #[test]
    fn a_stop_waits_once_and_counts_the_time_without_requests() {
        let now = Instant::now();
        let mut drain = NodeDrain::new(now);
        assert!(!drain.delays_stop(Duration::ZERO, now), "without ShutdownDelay a stop is immediate");
        assert!(drain.delays_stop(SECOND * 10, now));
        assert_eq!((drain.state(), drain.wakes()), (NodeState::Draining, Some(now + SECOND * 10)));
        assert!(drain.cancel(now).is_err());
        assert!(!drain.delays_stop(SECOND * 10, now + SECOND), "a second request ends the wait");
        let mut drained = NodeDrain::new(now);
        drained.begin(SECOND * 60, 1, now);
        assert!(drained.delays_stop(SECOND * 10, now + SECOND * 4));
        assert_eq!(drained.wakes(), Some(now + SECOND * 10));
        let mut maintained = NodeDrain::new(now);
        maintained.maintain(true, now).expect("ready");
        assert!(!maintained.delays_stop(SECOND * 10, now + SECOND * 60));
    }

    #[test]
    fn nothing_makes_a_server_ready_whose_stop_has_begun() {
        let now = Instant::now();
        let mut drain = NodeDrain::new(now);
        drain.begin(SECOND, 1, now);
        assert!(drain.is_over(now + SECOND));
        drain.end_with_stop();
        assert!(drain.cancel(now + SECOND).is_err() && drain.maintain(true, now).is_err());
        assert_eq!((drain.state(), drain.wakes()), (NodeState::Draining, None));
        let mut stopped = NodeDrain::new(now);
        stopped.end_with_stop();
        assert!(stopped.maintain(true, now).is_err());
    }

    #[test]
    fn maintenance_lasts_until_it_is_ended() {
        let now = Instant::now();
        let mut drain = NodeDrain::new(now);
        assert_eq!(drain.maintain(true, now), Ok(()));
        assert_eq!((drain.state(), drain.is_over(now + SECOND * 9999)), (NodeState::Maintenance, false));
        assert!(drain.cancel(now).is_err());
        drain.begin(SECOND, 1, now + SECOND);
        assert_eq!(
            (drain.since(), drain.maintain(false, now)),
            (now, Err("the server drains; drain --cancel ends that"))
        );
        let mut drain = NodeDrain::new(now);
        drain.maintain(true, now).expect("ready");
        assert_eq!((drain.maintain(false, now), drain.state()), (Ok(()), NodeState::Ready));
    }
}
