//! What was worked out and may be asked for again, in bounded memory: much of it is kept by strangers' words.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// At most `MOST` values. Each time that half as many were kept or asked for, all others are forgotten: what is in use
/// stays, whatever else strangers ask for.
#[derive(Debug)]
pub struct Cache<K, V, const MOST: usize> {
    recent: HashMap<K, V>,
    older: HashMap<K, V>,
}

impl<K, V, const MOST: usize> Default for Cache<K, V, MOST> {
    fn default() -> Self {
        Cache { recent: HashMap::new(), older: HashMap::new() }
    }
}

impl<K: Eq + Hash, V, const MOST: usize> Cache<K, V, MOST> {
    /// The value that was kept for `key`, if it is still there.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if !self.recent.contains_key(key) {
            let (key, value) = self.older.remove_entry(key)?;
            self.put(key, value);
        }
        self.recent.get(key)
    }

    /// Keeps a value.
    pub fn put(&mut self, key: K, value: V) {
        if self.recent.len() >= MOST / 2 && !self.recent.contains_key(&key) {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key, value);
    }

    /// The value for `key`, made and kept if need be.
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

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Cache::default();
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;

    #[test]
    fn what_is_used_stays_and_there_is_never_more_than_the_bound() {
        let mut cache = Cache::<u32, u32, 100>::default();
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
