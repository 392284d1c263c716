//! How long a backend may take.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Timeouts of a request to a backend.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// For a connection.
    pub connect: Duration,
    /// For each piece: of the request to be taken, or of the response to arrive.
    pub piece: Duration,
}

/// When a request last made progress.
#[derive(Debug, Clone)]
pub(crate) struct Progress(Rc<Cell<Instant>>);

impl Progress {
    pub fn begin() -> Progress {
        Progress(Rc::new(Cell::new(Instant::now())))
    }

    /// Notes that a piece was moved.
    pub fn note(&self) {
        self.0.set(Instant::now());
    }

    /// Waits for `work` until nothing has moved for `piece`. `None`: that time is over.
    pub async fn wait<T>(&self, piece: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        loop {
            let until = self.0.get() + piece;
            if let Ok(done) = timeout_at(until, work.as_mut()).await {
                return Some(done);
            }
            if self.0.get() + piece <= Instant::now() {
                return None;
            }
        }
    }
}
