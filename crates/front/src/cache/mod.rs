//! The response cache (RFC 9111): workers' responses in memory, shared by all threads of the front. `request/cached/`
//! parses requests and decides whether a response may be stored. This module stores responses and coordinates waiting
//! requests.
//!
//! ```text
//!   Key             the parts of a request that select its response
//!   CachedResponse  a cached response, with the Terms on which it is stored
//!   VariantStore    all responses, and the requests whose response cannot be stored; evicts the least recently used
//!   Flights         lets one request ask a worker while others wait for its response
//!   SharedCache     the responses of other servers, behind those in memory (`CacheStore`)
//! ```

pub mod conditions;
pub mod control;
mod flights;
pub mod forms;
pub mod key;
pub mod packed;
pub mod response;
pub mod shared;
mod store;
pub mod terms;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::HeaderMap;

use crate::base::lock::lock;
use flights::Flights;
pub use flights::{FlightOutcome, Leader, Waiter};
use key::Key;
use response::CachedResponse;
use shared::{SharedCache, SharedFound, SharedLead, SharedRequest};
use store::VariantStore;
pub use store::{StoreLookup, StoredResponse};

/// Time after an unstorable response during which requests for the resource do not wait for one another.
const PASSED_FOR: Duration = Duration::from_secs(60);

/// Number of entries that a purge checks per lock: a fraction of a millisecond.
const HANDFUL: usize = 1000;

/// The response cache of one generation.
pub struct Cache {
    store: Mutex<VariantStore>,
    /// Number of purges so far, changed and compared under the lock of `store`.
    purges: AtomicU64,
    flights: Arc<Flights>,
    shared: Option<Arc<SharedCache>>,
}

/// The next step of a request that found no usable response.
pub enum FlightTurn {
    /// The request asks the worker, and others wait for it.
    Leads(Leader),
    /// The request waits for another one.
    Waits(Waiter),
}

impl Cache {
    /// An empty cache of `size` bytes, in front of those of other servers, if they share a store.
    pub fn new(size: u64, shared: Option<Arc<SharedCache>>) -> Cache {
        Cache {
            store: Mutex::new(VariantStore::new(usize::try_from(size).unwrap_or(usize::MAX))),
            purges: AtomicU64::new(0),
            flights: Arc::default(),
            shared,
        }
    }

    /// The way to the responses of other servers.
    pub fn shared(&self) -> Option<&Arc<SharedCache>> {
        self.shared.as_ref()
    }

    /// Looks for a response of another server; see [`SharedCache::fetch`].
    pub async fn fetch(&self, key: &Key, headers: &HeaderMap, lead: Option<Duration>, known: Vec<u8>) -> SharedFound {
        let Some(shared) = &self.shared else { return SharedFound::Unknown };
        let request = SharedRequest { known, ..self.shared_request(key, headers) };
        shared.fetch(request, lead, |names| lock(&self.store).learn(key, headers, names)).await
    }

    /// Stores a response to this request for other servers as well.
    pub fn share(&self, key: &Key, headers: &HeaderMap, response: &CachedResponse, lead: Option<SharedLead>) {
        if let (Some(shared), Some(lead)) = (&self.shared, lead) {
            shared.put(self.shared_request(key, headers), response, lead);
        }
    }

    fn shared_request<'a>(&self, key: &'a Key, headers: &'a HeaderMap) -> SharedRequest<'a> {
        SharedRequest { key, headers, vary: lock(&self.store).vary(key).to_vec(), known: Vec::new() }
    }

    /// Searches the cache for a request with these headers.
    pub fn find(&self, key: &Key, headers: &HeaderMap) -> StoreLookup {
        lock(&self.store).find(key, headers, Instant::now())
    }

    /// Stores a response to this request.
    pub fn keep(&self, key: &Key, headers: &HeaderMap, response: Arc<CachedResponse>) {
        lock(&self.store).keep(key, headers, response);
    }

    /// Number of purges so far, for [`Cache::keep_fetched`].
    pub fn purges(&self) -> u64 {
        self.purges.load(Relaxed)
    }

    /// Stores a response of another server, unless something was purged since there were `purges`: the store may have
    /// answered before.
    pub fn keep_fetched(&self, key: &Key, headers: &HeaderMap, response: Arc<CachedResponse>, purges: u64) {
        let mut store = lock(&self.store);
        if self.purges() == purges {
            store.keep(key, headers, response);
        }
    }

    /// Marks the request's response as not cacheable for a minute, and removes a stale one.
    pub fn pass(&self, key: &Key, headers: &HeaderMap) {
        lock(&self.store).pass(key, headers, Instant::now() + PASSED_FOR);
    }

    /// Adds `bytes` to the size of a stored response.
    fn grow(&self, kept: &StoredResponse, bytes: usize) {
        lock(&self.store).grow(kept, bytes);
    }

    /// Removes all responses of a resource, also from other servers; returns the number of those of this server.
    pub fn purge(&self, resource: &[u8]) -> usize {
        self.shared.iter().for_each(|shared| shared.purge(resource));
        self.forget(resource)
    }

    /// Removes all responses of a resource from this server; returns their number.
    pub fn forget(&self, resource: &[u8]) -> usize {
        let mut store = lock(&self.store);
        self.purges.fetch_add(1, Relaxed);
        store.forget(resource)
    }

    /// Removes all responses of the resources for which `is_meant` holds; returns their number.
    /// Yields between batches, so that a purge of a large cache does not block other requests.
    pub async fn forget_all(&self, is_meant: impl Fn(&[u8]) -> bool) -> usize {
        let (mut gone, mut next) = (0, Some(0));
        while let Some(turn) = next {
            let forgotten;
            {
                let mut store = lock(&self.store);
                self.purges.fetch_add(1, Relaxed);
                (forgotten, next) = store.forget_some(turn, HANDFUL, &is_meant);
            }
            gone += forgotten;
            tokio::task::yield_now().await;
        }
        gone
    }

    /// Becomes the leader for this request, or a waiter of the current leader.
    pub fn enter(&self, key: &Key, headers: &HeaderMap, patience: Duration) -> FlightTurn {
        let variant = lock(&self.store).variant(key, headers);
        self.flights.enter(&[&key.resource[..], &variant].concat(), patience, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::StatusCode;

    use super::*;
    use crate::base::response_facts::AlwaysHeaders;
    use forms::Forms;
    use terms::Terms;

    #[tokio::test]
    async fn a_response_that_was_fetched_before_a_purge_is_not_kept() {
        let (cache, none) = (Cache::new(100_000, None), HeaderMap::new());
        let key = Key { resource: Key::resource(0, b"/page", None), asked: Vec::new() };
        let response = || {
            let (status, headers, always) = (StatusCode::OK, HeaderMap::new(), AlwaysHeaders::default());
            let terms = Terms { lifetime: Duration::from_secs(60), ..Terms::default() };
            let (body, forms, since) = (Bytes::new(), Forms::default(), Instant::now());
            Arc::new(CachedResponse { status, reason: None, headers, always, body, forms, terms, since })
        };
        let is_kept = || matches!(cache.find(&key, &none), StoreLookup::Response(_));
        let before = cache.purges();
        cache.forget(&key.resource);
        cache.keep_fetched(&key, &none, response(), before);
        assert!(!is_kept());
        let before = cache.purges();
        cache.forget_all(|_| false).await;
        cache.keep_fetched(&key, &none, response(), before);
        assert!(!is_kept());
        cache.keep_fetched(&key, &none, response(), cache.purges());
        assert!(is_kept());
    }
}
