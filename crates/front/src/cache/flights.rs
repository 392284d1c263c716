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

/// A flight, also for its leader and waiters.
type Flight = watch::Sender<FlightState>;

struct FlightState {
    /// The begin of the flight, or when the leader began to ask a worker.
    since: Instant,
    outcome: Option<FlightOutcome>,
}

/// The request that asks the worker. When this is dropped without an outcome, the waiters get [`FlightOutcome::Look`].
pub struct Leader {
    flights: Arc<Flights>,
    key: Box<[u8]>,
    flight: Flight,
    /// The right to make the response for other servers, too.
    pub shared: Option<Box<SharedLead>>,
}

/// A request that waits for the leader's outcome.
pub struct Waiter {
    flight: watch::Receiver<FlightState>,
    patience: Duration,
}

impl Flights {
    /// Starts a flight, or joins a current flight that is younger than `patience`.
    pub fn enter(self: &Arc<Self>, key: &[u8], patience: Duration, now: Instant) -> FlightTurn {
        let mut flights = lock(&self.0);
        let is_young = |flight: &&Flight| now.saturating_duration_since(flight.borrow().since) < patience;
        if let Some(flight) = flights.get(key).filter(is_young) {
            return FlightTurn::Waits(Waiter { flight: flight.subscribe(), patience });
        }
        let flight = Flight::new(FlightState { since: now, outcome: None });
        let leader = Leader { flights: self.clone(), key: key.into(), flight: flight.clone(), shared: None };
        flights.insert(key.into(), flight);
        FlightTurn::Leads(leader)
    }
}

impl Leader {
    /// Sends the outcome to the waiters.
    pub fn land(self, outcome: FlightOutcome) {
        self.flight.send_modify(|flight| flight.outcome = Some(outcome));
    }

    /// Lets the waiters wait anew, because the leader has waited itself until now.
    pub fn begin(&self, now: Instant) {
        self.flight.send_modify(|flight| flight.since = now);
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let mut flights = lock(&self.flights.0);
        // A second flight may have replaced this one when this one exceeded `patience`.
        if flights.get(&self.key).is_some_and(|flight| flight.same_channel(&self.flight)) {
            flights.remove(&self.key);
        }
        drop(flights);
        self.flight.send_if_modified(|flight| {
            let is_open = flight.outcome.is_none();
            flight.outcome.get_or_insert(FlightOutcome::Look);
            is_open
        });
    }
}

impl Waiter {
    /// The leader's outcome; `Alone` when `patience` runs out first.
    pub async fn wait(mut self) -> FlightOutcome {
        loop {
            let since = self.flight.borrow().since;
            let ended = self.flight.wait_for(|flight| flight.outcome.is_some());
            let outcome = timeout_at((since + self.patience).into(), ended).await;
            let outcome = outcome.map(|flight| flight.ok().and_then(|flight| flight.outcome));
            match outcome {
                Ok(outcome) => return outcome.unwrap_or(FlightOutcome::Look),
                Err(_) if self.flight.borrow().since > since => {}
                Err(_) => return FlightOutcome::Alone,
            }
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

    #[tokio::test]
    async fn waiters_wait_anew_once_their_leader_has_begun() {
        let (flights, now) = (Arc::<Flights>::default(), Instant::now());
        let leader = lead(&flights, LONG, now);
        let waiter = join(&flights, Duration::from_millis(1), now);
        leader.begin(now + LONG);
        let end = async {
            // The first patience is over.
            tokio::time::sleep(Duration::from_millis(20)).await;
            leader.land(FlightOutcome::Look);
        };
        assert_eq!(tokio::join!(waiter.wait(), end).0, FlightOutcome::Look);
    }
}
