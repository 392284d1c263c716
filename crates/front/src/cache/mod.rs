//! Answers of workers that are kept in memory for later requests (RFC 9111), for all threads of the front. What a request asks
//! for and whether an answer may be kept is found out in `request/cached/`; here lies what is known, and who waits for what.
//!
//! ```text
//!   Key      what of a request decides which answer it gets
//!   Answer   one that is kept, with the Terms on which it is
//!   Store    all of them, and those that are not worth waiting for; forgets what was asked for least recently
//!   Flights  who asks a worker for what others wait for
//! ```

pub mod answer;
pub mod conditions;
pub mod control;
mod flights;
pub mod forms;
pub mod key;
pub mod packed;
mod store;
pub mod terms;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::HeaderMap;

use crate::base::lock::lock;
use answer::Answer;
use flights::Flights;
pub use flights::{Leader, Outcome, Waiter};
use key::Key;
use store::Store;
pub use store::{Found, Kept};

/// For so long requests do not wait for each other after an answer to one of them could not be kept.
const PASSED_FOR: Duration = Duration::from_secs(60);

/// So many answers are looked at in one go by a purge: a fraction of a millisecond.
const HANDFUL: usize = 1000;

/// The cache of one generation.
pub struct Cache {
    store: Mutex<Store>,
    flights: Arc<Flights>,
}

/// What a request is to do that has found nothing to answer with.
pub enum Turn {
    /// It asks the worker, and others wait for it.
    Leads(Leader),
    /// Another one does.
    Waits(Waiter),
}

impl Cache {
    /// An empty one for so many bytes.
    pub fn new(size: u64) -> Cache {
        Cache { store: Mutex::new(Store::new(usize::try_from(size).unwrap_or(usize::MAX))), flights: Arc::default() }
    }

    /// What is known of the answer to a request with these headers.
    pub fn find(&self, key: &Key, headers: &HeaderMap) -> Found {
        lock(&self.store).find(key, headers, Instant::now())
    }

    /// Keeps an answer to such a request.
    pub fn keep(&self, key: &Key, headers: &HeaderMap, answer: Arc<Answer>) {
        lock(&self.store).keep(key, headers, answer);
    }

    /// Remembers that answers to such requests cannot be kept, and forgets the one that was.
    pub fn pass(&self, key: &Key, headers: &HeaderMap) {
        lock(&self.store).pass(key, headers, Instant::now() + PASSED_FOR);
    }

    /// So many bytes more belong to an answer.
    fn grow(&self, kept: &Kept, bytes: usize) {
        lock(&self.store).grow(kept, bytes);
    }

    /// Forgets all answers of a resource, and says how many there were.
    pub fn forget(&self, resource: &[u8]) -> usize {
        lock(&self.store).forget(resource)
    }

    /// Forgets all answers of the resources that are meant, and says how many there were. However many are kept, others have
    /// their turn meanwhile.
    pub async fn forget_all(&self, is_meant: impl Fn(&[u8]) -> bool) -> usize {
        let (mut gone, mut next) = (0, Some(0));
        while let Some(turn) = next {
            let forgotten;
            (forgotten, next) = lock(&self.store).forget_some(turn, HANDFUL, &is_meant);
            gone += forgotten;
            tokio::task::yield_now().await;
        }
        gone
    }

    /// Begins to ask for the answer to such a request, or says who does.
    pub fn enter(&self, key: &Key, headers: &HeaderMap, patience: Duration) -> Turn {
        let variant = lock(&self.store).variant(key, headers);
        self.flights.enter(&[&key.resource[..], &variant].concat(), patience)
    }
}
