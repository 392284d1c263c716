//! Request collapsing: one request asks a worker while others wait for its response. The requests may run on different
//! threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout_at;

use super::FlightTurn;
use super::shared::SharedLead;
use crate::base::lock::lock;

/// The result of the leading request for its waiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlightOutcome {
    /// The response is stored, or the leader gave up: search the cache again.
    Look,
    /// The response cannot be shared; each waiting request asks a worker itself.
    Alone,
    Failed,
}

/// The leading requests by cache key.
#[derive(Default)]
pub struct Flights(Mutex<HashMap<Box<[u8]>, Flight>>);

struct Flight {
    since: Instant,
    outcome: watch::Sender<Option<FlightOutcome>>,
}

/// The request that asks the worker. When this is dropped without an outcome, the waiters get [`FlightOutcome::Look`].
pub struct Leader {
    flights: Arc<Flights>,
    key: Box<[u8]>,
    outcome: watch::Sender<Option<FlightOutcome>>,
    /// The right to make the response for other servers, too.
    pub shared: Option<SharedLead>,
}

/// A request that waits for the leader's outcome.
pub struct Waiter {
    outcome: watch::Receiver<Option<FlightOutcome>>,
    until: Instant,
}

impl Flights {
    /// Starts a flight, or joins a current flight that is younger than `patience`.
    pub fn enter(self: &Arc<Self>, key: &[u8], patience: Duration, now: Instant) -> FlightTurn {
        let mut flights = lock(&self.0);
        let is_young = |flight: &&Flight| now.saturating_duration_since(flight.since) < patience;
        if let Some(flight) = flights.get(key).filter(is_young) {
            return FlightTurn::Waits(Waiter { outcome: flight.outcome.subscribe(), until: flight.since + patience });
        }
        let (outcome, _) = watch::channel(None);
        let leader = Leader { flights: self.clone(), key: key.into(), outcome: outcome.clone(), shared: None };
        flights.insert(key.into(), Flight { since: now, outcome });
        FlightTurn::Leads(leader)
    }
}

impl Leader {
    /// Sends the outcome to the waiters.
    pub fn land(self, outcome: FlightOutcome) {
        self.outcome.send_replace(Some(outcome));
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let mut flights = lock(&self.flights.0);
        // A second flight may have replaced this one when this one exceeded `patience`.
        if flights.get(&self.key).is_some_and(|flight| flight.outcome.same_channel(&self.outcome)) {
            flights.remove(&self.key);
        }
        drop(flights);
        self.outcome
            .send_if_modified(|outcome| outcome.is_none().then(|| *outcome = Some(FlightOutcome::Look)).is_some());
    }
}

impl Waiter {
    /// The leader's outcome; `Alone` when `patience` runs out first.
    pub async fn wait(mut self) -> FlightOutcome {
        let outcome = timeout_at(self.until.into(), self.outcome.wait_for(Option::is_some)).await;
        match outcome {
            Ok(Ok(outcome)) => outcome.unwrap_or(FlightOutcome::Look),
            Ok(Err(_)) => FlightOutcome::Look,
            Err(_) => FlightOutcome::Alone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn lead(flights: &Arc<Flights>, patience: Duration, now: Instant) -> Leader {
        match flights.enter(b"a", patience, now) {
            FlightTurn::Leads(leader) => leader,
            FlightTurn::Waits(_) => panic!("another one leads"),
        }
    }

    fn join(flights: &Arc<Flights>, patience: Duration, now: Instant) -> Waiter {
        match flights.enter(b"a", patience, now) {
            FlightTurn::Leads(_) => panic!("nobody leads"),
            FlightTurn::Waits(waiter) => waiter,
        }
    }

    #[tokio::test]
    async fn waiters_get_the_outcome_of_the_flight() {
        let (flights, now) = (Arc::<Flights>::default(), Instant::now());
        for outcome in [FlightOutcome::Look, FlightOutcome::Alone, FlightOutcome::Failed] {
            let leader = lead(&flights, LONG, now);
            let waiters = [join(&flights, LONG, now), join(&flights, LONG, now)];
            leader.land(outcome);
            for waiter in waiters {
                assert_eq!(waiter.wait().await, outcome);
            }
        }
        let leader = lead(&flights, LONG, now);
        let waiter = join(&flights, LONG, now);
        drop(leader);
        assert_eq!(waiter.wait().await, FlightOutcome::Look, "another one leads");
        assert!(lock(&flights.0).is_empty());
    }

    #[tokio::test]
    async fn a_flight_that_exceeds_its_patience_is_replaced_and_its_end_changes_nothing() {
        let (flights, now) = (Arc::<Flights>::default(), Instant::now());
        let first = lead(&flights, LONG, now);
        let second = lead(&flights, Duration::ZERO, now);
        drop(first);
        let waiter = join(&flights, LONG, now);
        second.land(FlightOutcome::Alone);
        assert_eq!(waiter.wait().await, FlightOutcome::Alone);
        let _slow = lead(&flights, LONG, now);
        let waiter = join(&flights, Duration::from_millis(1), now);
        assert_eq!(waiter.wait().await, FlightOutcome::Alone, "the patience of the waiter is over");
    }
}
