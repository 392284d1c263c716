//! All cached responses, in bounded memory (least recently used first out).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use derive_more::Deref;
use http::HeaderMap;
use http::header::HeaderName;

use super::key::Key;
use super::response::CachedResponse;

/// Overhead in bytes of a stored variant and its index entry, without its key.
const PER_VARIANT: usize = 384;

/// A cached response, and its key in the store.
#[derive(Debug, Clone, Deref)]
pub struct StoredResponse {
    #[deref(forward)]
    response: Arc<CachedResponse>,
    names: Names,
}

/// The result of a cache search.
pub enum StoreLookup {
    /// A stored response, possibly stale.
    Response(StoredResponse),
    /// A recent response could not be stored.
    Passed,
    /// The cache has no entry for the request.
    Nothing,
}

/// The stored variants by resource, with the order in which they were last used.
pub struct VariantStore {
    resources: HashMap<Arc<[u8]>, Resource>,
    /// Resource and variant by the turn of their last use; the lowest turn is evicted first.
    order: BTreeMap<u64, Names>,
    turn: u64,
    size: usize,
    most: usize,
}

/// The keys of a resource and of its variant.
type Names = (Arc<[u8]>, Arc<[u8]>);

#[derive(Default)]
struct Resource {
    /// All headers that a response of this resource named in `Vary` so far.
    vary: Vec<HeaderName>,
    variants: HashMap<Arc<[u8]>, Variant>,
}

struct Variant {
    turn: u64,
    size: usize,
    known: VariantContent,
}

enum VariantContent {
    Response(Arc<CachedResponse>),
    PassedUntil(Instant),
}

impl VariantStore {
    /// An empty store of at most `most` bytes.
    pub fn new(most: usize) -> VariantStore {
        VariantStore { resources: HashMap::new(), order: BTreeMap::new(), turn: 0, size: 0, most }
    }

    /// The variant key of a request, with the `Vary` headers known so far.
    pub fn variant(&self, key: &Key, headers: &HeaderMap) -> Vec<u8> {
        key.variant(self.vary(key), headers)
    }

    /// The headers that responses of the resource named in `Vary` so far.
    pub fn vary(&self, key: &Key) -> &[HeaderName] {
        self.resources.get(&key.resource[..]).map_or(&[], |resource| &resource.vary)
    }

    /// Searches the store, and marks the variant as used.
    pub fn find(&mut self, key: &Key, headers: &HeaderMap, now: Instant) -> StoreLookup {
        let Some(resource) = self.resources.get_mut(&key.resource[..]) else { return StoreLookup::Nothing };
        let name = key.variant(&resource.vary, headers);
        let Some(variant) = resource.variants.get_mut(&name[..]) else { return StoreLookup::Nothing };
        self.turn += 1;
        let Some(names) = self.order.remove(&std::mem::replace(&mut variant.turn, self.turn)) else {
            return StoreLookup::Nothing;
        };
        self.order.insert(self.turn, names.clone());
        match &variant.known {
            VariantContent::Response(response) => {
                StoreLookup::Response(StoredResponse { response: response.clone(), names })
            }
            VariantContent::PassedUntil(until) if now < *until => StoreLookup::Passed,
            VariantContent::PassedUntil(_) => StoreLookup::Nothing,
        }
    }

    /// Stores a response to this request.
    pub fn keep(&mut self, key: &Key, headers: &HeaderMap, response: Arc<CachedResponse>) {
        self.depend(key, &response.terms.vary);
        let size = response.size();
        self.put(key, headers, VariantContent::Response(response), size);
    }

    /// Marks the request's response as not cacheable until `until`. A fresh stored response stays: the new one may
    /// have been for a single client.
    pub fn pass(&mut self, key: &Key, headers: &HeaderMap, until: Instant) {
        if let StoreLookup::Response(response) = self.find(key, headers, Instant::now())
            && response.is_fresh()
        {
            return;
        }
        self.put(key, headers, VariantContent::PassedUntil(until), 0);
    }

    /// Removes a resource; returns the number of its stored responses.
    pub fn forget(&mut self, resource: &[u8]) -> usize {
        let Some(gone) = self.resources.remove(resource) else { return 0 };
        for variant in gone.variants.values() {
            self.size -= variant.size;
            self.order.remove(&variant.turn);
        }
        gone.variants.values().filter(|variant| matches!(variant.known, VariantContent::Response(_))).count()
    }

    /// Checks the next `most` variants from `turn` on, and removes the resources for which `is_meant` holds.
    /// Returns the number of removed responses and the turn to continue from. A variant used meanwhile moves to a
    /// later turn.
    pub fn forget_some(&mut self, turn: u64, most: usize, is_meant: impl Fn(&[u8]) -> bool) -> (usize, Option<u64>) {
        let some: Vec<_> =
            self.order.range(turn..).take(most).map(|(turn, (resource, _))| (*turn, resource.clone())).collect();
        let next = some.last().filter(|_| some.len() == most).map(|(turn, _)| turn + 1);
        let meant = some.iter().filter(|(_, resource)| is_meant(resource));
        (meant.map(|(_, resource)| self.forget(resource)).sum(), next)
    }

    /// Notes `Vary` headers that another server knows. A resource without responses gets an entry that is evicted as
    /// others are.
    pub fn learn(&mut self, key: &Key, headers: &HeaderMap, vary: &[HeaderName]) {
        self.depend(key, vary);
        if self.resources.get(&key.resource[..]).is_some_and(|resource| resource.variants.is_empty()) {
            self.put(key, headers, VariantContent::PassedUntil(Instant::now()), 0);
        }
    }

    /// Adds new `Vary` headers to a resource. The stored variants lack these headers in their keys, and are removed.
    fn depend(&mut self, key: &Key, vary: &[HeaderName]) {
        let known = self.resources.get(&key.resource[..]).map(|resource| resource.vary.clone()).unwrap_or_default();
        let new: Vec<HeaderName> = vary.iter().filter(|name| !known.contains(name)).cloned().collect();
        if !new.is_empty() {
            self.forget(&key.resource);
            let vary = [known, new].concat();
            self.resources.insert(key.resource[..].into(), Resource { vary, ..Resource::default() });
        }
    }

    fn put(&mut self, key: &Key, headers: &HeaderMap, known: VariantContent, size: usize) {
        let name: Arc<[u8]> = self.variant(key, headers).into();
        let size = size + PER_VARIANT + key.resource.len() + name.len();
        self.remove(&key.resource, &name);
        if size > self.most {
            return self.tidy(&key.resource);
        }
        self.turn += 1;
        let (turn, resource): (u64, Arc<[u8]>) = (self.turn, key.resource[..].into());
        self.order.insert(turn, (resource.clone(), name.clone()));
        self.resources.entry(resource).or_default().variants.insert(name, Variant { turn, size, known });
        self.size += size;
        self.make_room();
    }

    /// Adds `bytes` to the size of a stored response, unless it was removed or replaced.
    pub fn grow(&mut self, kept: &StoredResponse, bytes: usize) {
        let (resource, name) = &kept.names;
        let variant = self.resources.get_mut(resource).and_then(|resource| resource.variants.get_mut(name));
        let is_it = |variant: &&mut Variant| matches!(&variant.known, VariantContent::Response(response) if Arc::ptr_eq(response, &kept.response));
        if let Some(variant) = variant.filter(is_it) {
            variant.size += bytes;
            self.size += bytes;
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        while self.size > self.most {
            let Some((_, (resource, name))) = self.order.pop_first() else { break };
            self.remove(&resource, &name);
            self.tidy(&resource);
        }
    }

    /// Removes a resource that has no variants left.
    fn tidy(&mut self, resource: &[u8]) {
        if self.resources.get(resource).is_some_and(|of| of.variants.is_empty()) {
            self.resources.remove(resource);
        }
    }

    fn remove(&mut self, resource: &[u8], name: &[u8]) {
        let Some(of) = self.resources.get_mut(resource) else { return };
        if let Some(gone) = of.variants.remove(name) {
            self.size -= gone.size;
            self.order.remove(&gone.turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http::StatusCode;
    use http::header::{ACCEPT_LANGUAGE, HeaderValue};

    use super::*;
    use crate::base::response_facts::AlwaysHeaders;
    use crate::cache::forms::Forms;
    use crate::cache::terms::Terms;

    const MAX_ENTRIES: usize = 100_000;

    fn key(resource: &str, variant: &str) -> Key {
        Key { resource: resource.as_bytes().into(), asked: variant.as_bytes().to_vec() }
    }

    fn answer(body: usize, vary: &[HeaderName]) -> Arc<CachedResponse> {
        let terms = Terms { lifetime: Duration::from_secs(60), vary: vary.to_vec(), ..Terms::default() };
        let body = Bytes::from(vec![b'x'; body]);
        let (status, headers) = (StatusCode::OK, HeaderMap::new());
        let (always, forms) = (AlwaysHeaders::default(), Forms::default());
        Arc::new(CachedResponse { status, reason: None, headers, always, body, forms, terms, since: Instant::now() })
    }

    fn has(store: &mut VariantStore, key: &Key, headers: &HeaderMap) -> bool {
        matches!(store.find(key, headers, Instant::now()), StoreLookup::Response(_))
    }

    /// Recomputes the total size and checks the indexes against each other.
    fn counted(store: &VariantStore) -> usize {
        let variants = store.resources.values().flat_map(|resource| resource.variants.values());
        assert_eq!(variants.clone().count(), store.order.len());
        assert!(store.resources.values().all(|resource| !resource.variants.is_empty()));
        variants.map(|variant| variant.size).sum()
    }

    #[test]
    fn headers_of_other_servers_stay_within_the_bound() {
        let (mut store, none) = (VariantStore::new(MAX_ENTRIES), HeaderMap::new());
        for number in 0..10_000_usize {
            store.learn(&key(&format!("page {number}"), ""), &none, &[ACCEPT_LANGUAGE]);
        }
        assert!(counted(&store) <= MAX_ENTRIES && store.resources.len() < 1000);
        let last = key("page 9999", "");
        assert_eq!(store.vary(&last), [ACCEPT_LANGUAGE]);
        assert!(matches!(store.find(&last, &none, Instant::now()), StoreLookup::Nothing));
    }

    #[test]
    fn requested_responses_stay_within_the_bound() {
        let (mut store, none) = (VariantStore::new(MAX_ENTRIES), HeaderMap::new());
        store.keep(&key("used", ""), &none, answer(1000, &[]));
        for number in 0..10_000_usize {
            let key = key(&format!("page {}", number % 700), &"x".repeat(number % 90));
            match number % 5 {
                0 => store.pass(&key, &none, Instant::now() + Duration::from_secs(60)),
                1 if number % 3 == 0 => drop(store.forget(&key.resource)),
                _ => store.keep(&key, &none, answer(number % 5000, &[])),
            }
            assert!(has(&mut store, &self::key("used", ""), &none), "{number}");
            assert!(store.size <= MAX_ENTRIES && (number % 100 != 0 || counted(&store) == store.size), "{number}");
        }
        assert!(store.size > MAX_ENTRIES / 2, "it is full");
    }

    #[test]
    fn a_response_larger_than_the_cache_is_not_stored_and_evicts_nothing() {
        let (mut store, none) = (VariantStore::new(MAX_ENTRIES), HeaderMap::new());
        store.keep(&key("a", ""), &none, answer(10, &[]));
        store.keep(&key("b", ""), &none, answer(MAX_ENTRIES, &[ACCEPT_LANGUAGE]));
        assert!(has(&mut store, &key("a", ""), &none) && !has(&mut store, &key("b", ""), &none));
        assert_eq!(counted(&store), store.size);
    }

    #[test]
    fn growth_of_a_response_is_counted_while_it_is_stored() {
        let (mut store, none) = (VariantStore::new(MAX_ENTRIES), HeaderMap::new());
        let find = |store: &mut VariantStore| match store.find(&key("a", ""), &none, Instant::now()) {
            StoreLookup::Response(kept) => kept,
            _ => panic!("it is kept"),
        };
        store.keep(&key("a", ""), &none, answer(1000, &[]));
        let (kept, before) = (find(&mut store), store.size);
        store.grow(&kept, 500);
        assert_eq!((store.size, counted(&store)), (before + 500, before + 500));
        store.keep(&key("a", ""), &none, answer(1000, &[]));
        store.grow(&kept, 500);
        assert_eq!(store.size, before, "it is another one now");
        let kept = find(&mut store);
        store.grow(&kept, MAX_ENTRIES);
        assert_eq!((store.size, counted(&store)), (0, 0), "too large with its forms");
    }

    #[test]
    fn variants_are_distinguished_and_removed_together() {
        let mut store = VariantStore::new(MAX_ENTRIES);
        let speaks = |language| HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(language))]);
        let page = key("a", "");
        store.keep(&page, &speaks("de"), answer(10, &[]));
        assert!(has(&mut store, &page, &speaks("en")));
        store.keep(&page, &speaks("de"), answer(10, &[ACCEPT_LANGUAGE]));
        assert!(has(&mut store, &page, &speaks("de")) && !has(&mut store, &page, &speaks("en")));
        store.keep(&page, &speaks("en"), answer(10, &[]));
        store.keep(&key("a", "other"), &speaks("en"), answer(10, &[]));
        assert!(
            has(&mut store, &page, &speaks("de")),
            "a response that depends on less does not change what the others depend on"
        );
        assert_eq!(store.forget(b"a"), 3);
        assert_eq!((counted(&store), store.size), (0, 0));
    }

    #[test]
    fn a_fresh_response_is_not_replaced_by_an_uncacheable_one() {
        let (mut store, none) = (VariantStore::new(MAX_ENTRIES), HeaderMap::new());
        store.keep(&key("a", ""), &none, answer(10, &[]));
        store.pass(&key("a", ""), &none, Instant::now() + Duration::from_secs(60));
        assert!(has(&mut store, &key("a", ""), &none));
        store.pass(&key("b", ""), &none, Instant::now() + Duration::from_secs(60));
        assert!(matches!(store.find(&key("b", ""), &none, Instant::now()), StoreLookup::Passed));
        let later = Instant::now() + Duration::from_secs(61);
        assert!(matches!(store.find(&key("b", ""), &none, later), StoreLookup::Nothing));
    }
}
