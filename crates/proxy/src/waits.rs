//! Time limits for a backend.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Timeouts of a request to a backend.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// Limit for a connection attempt.
    pub connect: Duration,
    /// Limit for the backend to accept the next piece of the request, or to send the head of the response.
    pub piece: Duration,
    /// Limit for the backend to send the next piece of the response's body.
    pub body: Duration,
}

/// When a request last made progress; `None` while the front waits for the client, whose delay is not the backend's.
#[derive(Debug, Clone)]
pub(crate) struct Progress(Rc<Cell<Option<Instant>>>);

impl Progress {
    pub fn begin() -> Progress {
        Progress(Rc::new(Cell::new(Some(Instant::now()))))
    }

    /// Notes that a piece was moved.
    pub fn note(&self) {
        self.0.set(Some(Instant::now()));
    }

    /// Notes that the next piece has to come from the client.
    pub fn awaits_client(&self) {
        self.0.set(None);
    }

    /// Waits for `work`. `None`: no byte moved to or from the backend for `piece`.
    pub async fn wait<T>(&self, piece: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        loop {
            let until = self.0.get().unwrap_or_else(Instant::now) + piece;
            if let Ok(done) = timeout_at(until, work.as_mut()).await {
                return Some(done);
            }
            if self.0.get().is_some_and(|since| since + piece <= Instant::now()) {
                return None;
            }
        }
    }
}
