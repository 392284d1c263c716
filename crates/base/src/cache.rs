//! A cache with bounded memory, for values whose keys come from clients.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A cache of at most `MAX_ENTRIES` values. After every `MAX_ENTRIES / 2` insertions or uses, entries that were not
/// used since the previous such point are dropped. Entries in use stay, whatever else clients request.
#[derive(Debug)]
pub struct BoundedCache<K, V, const MAX_ENTRIES: usize> {
    recent: HashMap<K, V>,
    older: HashMap<K, V>,
}

impl<K, V, const MAX_ENTRIES: usize> Default for BoundedCache<K, V, MAX_ENTRIES> {
    fn default() -> Self {
        BoundedCache { recent: HashMap::new(), older: HashMap::new() }
    }
}

impl<K: Eq + Hash, V, const MAX_ENTRIES: usize> BoundedCache<K, V, MAX_ENTRIES> {
    /// The cached value of `key`.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        // A cache that was never full needs no second lookup.
        if !self.older.is_empty() && !self.recent.contains_key(key) {
            let (key, value) = self.older.remove_entry(key)?;
            self.put(key, value);
        }
        self.recent.get(key)
    }

    /// Replaces the value of a key that is already cached; may drop entries not used lately.
    pub fn put(&mut self, key: K, value: V) {
        if self.recent.len() >= MAX_ENTRIES / 2 && !self.recent.contains_key(&key) {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key, value);
    }

    /// The cached value of `key`, computed and stored if missing.
    pub fn get_or_put(&mut self, key: K, make: impl FnOnce() -> V) -> V
    where
        V: Clone,
    {
        if let Some(value) = self.get(&key) {
            return value.clone();
        }
        let value = make();
        self.put(key, value.clone());
        value
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        *self = BoundedCache::default();
    }
}

#[cfg(test)]
mod tests {
    use super::BoundedCache;

    #[test]
    fn used_values_stay_and_the_size_is_bounded() {
        let mut cache = BoundedCache::<u32, u32, 100>::default();
        cache.put(0, 7);
        for n in 1..10_000 {
            cache.put(n, n);
            assert!(cache.recent.len() + cache.older.len() <= 100);
            assert_eq!(cache.get(&0), Some(&7));
        }
        assert_eq!(cache.get(&9_999), Some(&9_999));
        assert_eq!(cache.get(&1), None);
    }
}
