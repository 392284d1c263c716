//! Responses that several servers share (`CacheStore`), behind the memory of each: a request that finds nothing here
//! looks in the store, and only if nothing is there either, it goes to a worker of one of the servers.
//!
//! ```text
//!   memory ──▶ SharedCache::fetch ──▶ a response │ this server makes it: SharedLead │ another one makes it: wait
//!   response of a worker, purge ──▶ StoreOutbox ──▶ writer ──▶ store ──▶ writers of the other servers: purges
//! ```
//!
//! Times are those of the store's clock. Without the store all goes on as with memory alone.

mod answer;
mod entry;
mod outbox;
mod places;
pub mod writer;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::header::HeaderName;
use tokio::sync::Notify;

use super::key::Key;
use super::response::CachedResponse;
use crate::base::lock::lock;
use answer::{FoundState, StoreAnswer, found, names};
use config::{Config, StoreUrl};
use outbox::{StoreOutbox, StorePut, StoreWrite};
use places::{host_names, places};
use stores::{StoreAway, StoreCall, StoreClient, StorePush, StoreReport, StoreScript, StoreUse, digest, token};
use writer::Arrived;

/// The directive, for the log.
const USE: StoreUse =
    StoreUse { directive: "CacheStore", meanwhile: "each server has its own responses only until the store answers" };
/// Version of the keys.
const FORMAT: &str = "cache:1:";
/// Maximum size of an entry in bytes; larger responses stay on their server.
const MAX_ENTRY: usize = (1 << 20) + (64 << 10);
/// Maximum size of the answers that wait to be read.
const MAX_UNREAD: usize = 32 << 20;
/// Longest time for which a response is stored.
const MAX_TTL: Duration = Duration::from_secs(24 * 3600);
/// Longest time for which a stale response is stored for the case of an error.
const MAX_ERROR_TTL: Duration = Duration::from_secs(3600);
/// Maximum number of responses of a resource in the store.
const MAX_VARIANTS: u32 = 64;

static FETCH: LazyLock<StoreScript> = LazyLock::new(|| StoreScript::new(include_str!("fetch.lua")));
static PUT: LazyLock<StoreScript> = LazyLock::new(|| StoreScript::new(include_str!("put.lua")));
static RELEASE: LazyLock<StoreScript> = LazyLock::new(|| StoreScript::new(include_str!("release.lua")));
static PURGE: LazyLock<StoreScript> = LazyLock::new(|| StoreScript::new(include_str!("purge.lua")));
static LAST_PURGE: LazyLock<StoreScript> = LazyLock::new(|| StoreScript::new(include_str!("last_purge.lua")));

/// The way to the responses of other servers.
pub struct SharedCache {
    client: StoreClient,
    store: StoreUrl,
    /// Begin of the keys: prefix and format.
    base: String,
    /// Begin of the keys of responses: also the version.
    prefix: String,
    /// `CacheKeyVersion`, and a digest of the sections and hosts.
    version: String,
    /// Names of the virtual hosts by their numbers.
    hosts: Vec<String>,
    /// Number of this server.
    node: String,
    next: AtomicU64,
    outbox: Mutex<StoreOutbox>,
    /// Notified for a write and for a message of another server.
    wanted: Arc<Notify>,
    arrived: Arc<Mutex<Arrived>>,
}

/// What the store has for a request.
pub enum SharedFound {
    /// A response, which may be stale.
    Response(Box<CachedResponse>, SharedLead),
    Nothing(SharedLead),
    /// The store cannot be used.
    Unknown,
}

/// What the store knew of a response before it was made, without which it is not stored, and perhaps the right to make
/// it for all servers, which ends when this is dropped, or after a time.
pub struct SharedLead {
    shared: Arc<SharedCache>,
    lock: String,
    /// Empty: another server makes the response, or none does it for others.
    token: String,
    seen: PurgesSeen,
    /// When the response was stored that the store has.
    stored: Vec<u8>,
}

/// The purges that came before a response was begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PurgesSeen {
    epoch: Vec<u8>,
    /// The last purge of the resource.
    purge: Vec<u8>,
}

impl SharedLead {
    /// When the response was stored that the store has.
    pub fn stored(&self) -> Vec<u8> {
        self.stored.clone()
    }

    /// Whether this server makes the response for all.
    pub fn leads(&self) -> bool {
        !self.token.is_empty()
    }

    /// Lock and token, for a response that ends the lock as it is stored, and the purges before it.
    fn into_parts(mut self) -> (String, String, PurgesSeen) {
        let this = &mut self;
        (std::mem::take(&mut this.lock), std::mem::take(&mut this.token), std::mem::take(&mut this.seen))
    }
}

impl Drop for SharedLead {
    fn drop(&mut self) {
        if self.leads() {
            let (lock, token) = (std::mem::take(&mut self.lock), std::mem::take(&mut self.token));
            self.shared.write(StoreWrite::Release { lock, token });
        }
    }
}

/// A request, as far as it selects a response.
pub struct SharedRequest<'a> {
    pub key: &'a Key,
    pub headers: &'a HeaderMap,
    /// The Vary headers of the resource that this server knows.
    pub vary: Vec<HeaderName>,
    /// When the response was stored that this server has from the store, which is not sent again.
    pub known: Vec<u8>,
}

/// The place of a response in the store.
struct Place {
    resource: String,
    field: String,
    /// Names of the Vary headers.
    vary: String,
}

impl SharedCache {
    /// The cache of the serving configuration, if it has a `CacheStore`.
    pub fn new(config: &Config) -> Option<Arc<SharedCache>> {
        let store = config.stores.cache.as_ref()?;
        let (wanted, arrived) = (Arc::<Notify>::default(), Arc::<Mutex<Arrived>>::default());
        let base = format!("{}{FORMAT}", store.prefix);
        let receive = {
            let (wanted, arrived) = (wanted.clone(), arrived.clone());
            move |message: &[u8]| {
                lock(&arrived).push(message);
                wanted.notify_one();
            }
        };
        let push = StorePush::new(format!("{base}purge"), receive);
        let report = Arc::new(StoreReport::new(USE, store.to_string()));
        let version = format!("{}:{}", config.stores.cache_version, places(config));
        Some(Arc::new(SharedCache {
            client: StoreClient::new(store, config.stores.timeout, MAX_UNREAD, report, Some(push)),
            store: store.clone(),
            prefix: format!("{base}{version}:"),
            base,
            version,
            hosts: host_names(config),
            node: token().ok()?,
            next: AtomicU64::new(1),
            outbox: Mutex::default(),
            wanted,
            arrived,
        }))
    }

    /// State and counters of the store.
    pub fn report(&self) -> &StoreReport {
        self.client.report()
    }

    /// The URL of `CacheStore`.
    pub fn store(&self) -> &StoreUrl {
        &self.store
    }

    /// Looks for the response to a request, and with `lead` for the right to make it for that time. The store may know
    /// other Vary headers of the resource, which `learn` gets.
    pub async fn fetch(
        self: &Arc<Self>,
        mut request: SharedRequest<'_>,
        lead: Option<Duration>,
        learn: impl Fn(&[HeaderName]),
    ) -> SharedFound {
        // The store may still have what was purged here.
        if lock(&self.outbox).is_purged(&request.key.resource) {
            return SharedFound::Unknown;
        }
        let deadline = self.client.deadline();
        for _ in 0..2 {
            let place = self.place(&request);
            match self.look(&place, &request.known, lead, deadline).await {
                Ok(StoreFound::Decided(fetched)) => return fetched,
                Ok(StoreFound::OtherVary(names)) => {
                    learn(&names);
                    request.vary = names;
                }
                Err(StoreAway) => return SharedFound::Unknown,
            }
        }
        SharedFound::Unknown
    }

    async fn look(
        self: &Arc<Self>,
        place: &Place,
        known: &[u8],
        lead: Option<Duration>,
        deadline: Instant,
    ) -> Result<StoreFound, StoreAway> {
        let token = self.token();
        let lock = lead.map_or(0, |time| time.as_millis().max(1));
        // The store may have given the lock although its answer comes too late, or the client does not wait for it.
        let own = if lead.is_some() { token.clone() } else { String::new() };
        let (seen, stored) = (PurgesSeen::default(), Vec::new());
        let mut lead = SharedLead { shared: self.clone(), lock: self.lock_of(place), token: own, seen, stored };
        let mut arguments = arguments([&place.field, &place.vary, &token, &lock.to_string(), &MAX_ENTRY.to_string()]);
        arguments.push(known.to_vec());
        let call = StoreCall { script: &FETCH, keys: self.keys(place), arguments };
        let answer = self.client.ask_until(deadline, &call, found).await?;
        let StoreAnswer { state, age, text, leads, seen, stored } = answer;
        if !leads {
            lead.token.clear();
        }
        (lead.seen, lead.stored) = (seen, stored);
        Ok(match state {
            FoundState::OtherVary => StoreFound::OtherVary(names(&text).ok_or(StoreAway)?),
            FoundState::Nothing => StoreFound::Decided(SharedFound::Nothing(lead)),
            FoundState::Response => match entry::decode(&place.sealed_for(), &text, age) {
                Some(response) => StoreFound::Decided(SharedFound::Response(Box::new(response), lead)),
                None if lead.leads() => StoreFound::Decided(SharedFound::Nothing(lead)),
                // A damaged entry stands in the way of a lock; this server makes another one.
                None => StoreFound::Decided(SharedFound::Unknown),
            },
        })
    }

    /// Stores a response for all servers without waiting, and ends the right to make it. The store refuses it if it was
    /// purged since `lead` was given.
    pub fn put(&self, mut request: SharedRequest<'_>, response: &CachedResponse, lead: SharedLead) {
        let Some((fresh, ttl)) = lifetimes(response) else { return };
        if !self.client.is_used() || response.body.len() > MAX_ENTRY {
            return;
        }
        request.vary.extend_from_slice(&response.terms.vary);
        let place = self.place(&request);
        let entry = entry::encode(&place.sealed_for(), response);
        if entry.len() <= MAX_ENTRY {
            // The lock may have been taken before the Vary headers were known.
            let (lock, token, seen) = lead.into_parts();
            let Place { resource, field, vary } = place;
            let put = StorePut { resource, lock, field, vary, token, seen, entry, fresh, ttl };
            self.write(StoreWrite::Put(Box::new(put)));
        }
    }

    /// Drops the responses of a resource on all servers, as soon as the store can be reached.
    pub fn purge(&self, resource: &[u8]) {
        self.write(StoreWrite::Purge(resource.into()));
    }

    /// Empties the store as soon as it can be reached, and drops the responses that `url` means on all servers.
    pub fn purge_all(&self, url: &str) {
        self.write(StoreWrite::PurgeAll(url.to_owned()));
    }

    /// Whether purges wait for the store.
    pub fn has_purges(&self) -> bool {
        lock(&self.outbox).has_purges()
    }

    fn write(&self, write: StoreWrite) {
        lock(&self.outbox).push(write);
        self.wanted.notify_one();
    }

    /// A token that nobody else has.
    fn token(&self) -> String {
        format!("{}{:016x}", self.node, self.next.fetch_add(1, Relaxed))
    }

    /// The place of the response to a request. Servers learn of Vary headers in different orders.
    fn place(&self, request: &SharedRequest<'_>) -> Place {
        let mut vary = request.vary.clone();
        vary.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        vary.dedup();
        Place {
            resource: self.resource(&request.key.resource),
            field: digest(&[&request.key.variant(&vary, request.headers)]),
            vary: vary.iter().map(HeaderName::as_str).collect::<Vec<_>>().join(","),
        }
    }

    /// The digest of a resource. The number of its host means the same on servers with the same version.
    fn resource(&self, resource: &[u8]) -> String {
        digest(&[resource])
    }

    /// The host's name and the rest of a resource.
    fn named<'a>(&self, resource: &'a [u8]) -> (&str, &'a [u8]) {
        let (host, rest) = resource.split_first_chunk().unwrap_or((&[0; 2], resource));
        (self.hosts.get(usize::from(u16::from_le_bytes(*host))).map_or("", String::as_str), rest)
    }

    fn lock_of(&self, place: &Place) -> String {
        format!("{}lock:{}:{}", self.prefix, place.resource, place.field)
    }

    fn epoch(&self) -> String {
        format!("{}epoch", self.prefix)
    }

    fn resource_key(&self, resource: &str) -> String {
        format!("{}{resource}", self.prefix)
    }

    /// Where the store knows the last purge of a resource for `PURGE_TTL`.
    fn purge_key(&self, resource: &str) -> String {
        format!("{}{resource}:purged", self.prefix)
    }

    fn keys(&self, place: &Place) -> Vec<Vec<u8>> {
        let resource = &place.resource;
        [self.resource_key(resource), self.lock_of(place), self.epoch(), self.purge_key(resource)]
            .map(String::into_bytes)
            .into()
    }
}

impl Place {
    /// What an entry is sealed for, so that it is no other page's.
    fn sealed_for(&self) -> String {
        format!("{}{}", self.resource, self.field)
    }
}

enum StoreFound {
    Decided(SharedFound),
    OtherVary(Vec<HeaderName>),
}

fn arguments<const N: usize>(words: [&str; N]) -> Vec<Vec<u8>> {
    words.map(|word| word.as_bytes().to_vec()).into()
}

/// For how long a response is fresh, and for how long it is stored. `None`: other servers could not use it.
fn lifetimes(response: &CachedResponse) -> Option<(Duration, Duration)> {
    let terms = &response.terms;
    if terms.ask_always {
        return None;
    }
    let fresh = terms.lifetime.saturating_sub(terms.initial_age).min(MAX_TTL);
    let stale = terms.while_revalidating.max(terms.if_error.min(MAX_ERROR_TTL));
    let ttl = fresh.saturating_add(stale).min(MAX_TTL);
    (ttl > Duration::from_millis(1)).then_some((fresh, ttl))
}
