//! Responses that several servers share (`CacheStore`), behind the memory of each: a request that finds nothing here
//! looks in the store, and only if nothing is there either, it goes to a worker of one of the servers.
//!
//! ```text
//!   memory ──▶ SharedCache::fetch ──▶ a response │ this server makes it: SharedLead │ another one makes it: wait
//!   response of a worker, purge ──▶ StoreOutbox ──▶ writer ──▶ store ──▶ writers of the other servers: purges
//! ```
//!
//! Times are those of the store's clock. Without the store all goes on as with memory alone.

mod entry;
mod outbox;
pub mod writer;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::header::HeaderName;
use tokio::sync::Notify;

use super::key::Key;
use super::response::CachedResponse;
use crate::base::lock::lock;
use config::{Config, StoreUrl};
use outbox::{StoreOutbox, StoreWrite};
use stores::{
    StoreAway, StoreCall, StoreClient, StorePush, StoreReply, StoreReport, StoreScript, StoreUse, digest, token,
};
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
    /// Begin of the keys of responses: also `CacheKeyVersion`.
    prefix: String,
    version: String,
    /// Names of the virtual hosts, which are the same on all servers.
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
    Response(Box<CachedResponse>, Option<SharedLead>),
    /// Nothing. Without a lead another server makes the response.
    Nothing(Option<SharedLead>),
    /// The store cannot be used.
    Unknown,
}

/// The right to make a response for all servers. Ends when this is dropped, or after a time.
pub struct SharedLead {
    shared: Arc<SharedCache>,
    lock: String,
    token: String,
}

impl SharedLead {
    /// Lock and token, for a response that ends the lock as it is stored.
    fn into_parts(mut self) -> (String, String) {
        (std::mem::take(&mut self.lock), std::mem::take(&mut self.token))
    }
}

impl Drop for SharedLead {
    fn drop(&mut self) {
        if !self.token.is_empty() {
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
        let version = config.stores.cache_version.clone();
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
            match self.look(&place, lead, deadline).await {
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
        lead: Option<Duration>,
        deadline: Instant,
    ) -> Result<StoreFound, StoreAway> {
        let token = self.token();
        let lock = lead.map_or(0, |time| time.as_millis().max(1));
        let call = StoreCall {
            script: &FETCH,
            keys: self.keys(place),
            arguments: arguments([&place.field, &place.vary, &token, &lock.to_string(), &MAX_ENTRY.to_string()]),
        };
        let (state, age, text, leads) = self.client.ask_until(deadline, &call, found).await?;
        let lead = leads.then(|| SharedLead { shared: self.clone(), lock: self.lock_of(place), token });
        Ok(match state {
            FoundState::OtherVary => StoreFound::OtherVary(names(&text).ok_or(StoreAway)?),
            FoundState::Nothing => StoreFound::Decided(SharedFound::Nothing(lead)),
            FoundState::Response => match entry::decode(&place.sealed_for(), &text, age) {
                Some(response) => StoreFound::Decided(SharedFound::Response(Box::new(response), lead)),
                None if lead.is_some() => StoreFound::Decided(SharedFound::Nothing(lead)),
                // A damaged entry stands in the way of a lock; this server makes another one.
                None => StoreFound::Decided(SharedFound::Unknown),
            },
        })
    }

    /// Stores a response for all servers without waiting, and ends the right to make it.
    pub fn put(&self, mut request: SharedRequest<'_>, response: &CachedResponse, lead: Option<SharedLead>) {
        let Some((fresh, ttl)) = lifetimes(response) else { return };
        if !self.client.is_used() || response.body.len() > MAX_ENTRY {
            return;
        }
        request.vary.extend_from_slice(&response.terms.vary);
        let place = self.place(&request);
        let entry = entry::encode(&place.sealed_for(), response);
        if entry.len() <= MAX_ENTRY {
            // The lock may have been taken before the Vary headers were known.
            let (lock, token) = lead.map_or_else(|| (self.lock_of(&place), self.token()), SharedLead::into_parts);
            let Place { resource, field, vary } = place;
            self.write(StoreWrite::Put { resource, lock, field, vary, token, entry, fresh, ttl });
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

    /// The digest of a resource, with the name of its host in place of the number, which differs between servers.
    fn resource(&self, resource: &[u8]) -> String {
        let (host, rest) = self.named(resource);
        digest(&[host.as_bytes(), rest])
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

    fn keys(&self, place: &Place) -> Vec<Vec<u8>> {
        [self.resource_key(&place.resource), self.lock_of(place), self.epoch()].map(String::into_bytes).into()
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

enum FoundState {
    Nothing,
    Response,
    OtherVary,
}

/// The answer of `fetch.lua`: state, age, response or names, whether this server has the lock.
fn found(reply: StoreReply) -> Option<(FoundState, Duration, Vec<u8>, bool)> {
    let StoreReply::List(parts) = reply else { return None };
    let [state, age, text, leads] = <[StoreReply; 4]>::try_from(parts).ok()?;
    let state = match state.number()? {
        0 => FoundState::Nothing,
        1 | 2 => FoundState::Response,
        3 => FoundState::OtherVary,
        _ => return None,
    };
    let age = Duration::from_micros(u64::try_from(age.number()?).ok()?);
    Some((state, age, text.bytes()?, leads.number()? == 1))
}

/// Names of headers, separated by commas.
fn names(text: &[u8]) -> Option<Vec<HeaderName>> {
    let parts = text.split(|byte| *byte == b',').filter(|name| !name.is_empty());
    parts.map(|name| HeaderName::from_bytes(name).ok()).collect()
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

/// The names of the hosts, each with its number among those of the same name: they may be at different addresses.
fn host_names(config: &Config) -> Vec<String> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let hosts = config.hosts.iter().map(|host| host.server_name.as_deref().unwrap_or_default());
    hosts
        .map(|name| {
            let before = counts.entry(name).or_default();
            *before += 1;
            format!("{name}#{before}")
        })
        .collect()
}
