//! The index of a long table, by entry names.

use std::collections::HashMap;

/// Keys are names in lower case.
#[derive(Debug, Default, Clone)]
pub(super) struct Index(HashMap<Vec<u8>, Namesakes>);

/// The entries that have one name.
#[derive(Debug, Clone, Copy)]
struct Namesakes {
    first: u64,
    count: usize,
}

impl Index {
    pub fn of<'a>(entries: impl Iterator<Item = (&'a [u8], u64)>) -> Index {
        let mut index = Index::default();
        entries.for_each(|(name, id)| index.add(name, id));
        index
    }

    /// The first entry of that name.
    pub fn first(&self, name: &[u8]) -> Option<u64> {
        self.0.get(&name.to_ascii_lowercase()).map(|namesakes| namesakes.first)
    }

    pub fn add(&mut self, name: &[u8], id: u64) {
        self.0.entry(name.to_ascii_lowercase()).or_insert(Namesakes { first: id, count: 0 }).count += 1;
    }

    /// Removes all entries of that name but the first. Returns whether there were others.
    pub fn leave_first(&mut self, name: &[u8]) -> bool {
        let namesakes = self.0.get_mut(&name.to_ascii_lowercase());
        namesakes.is_some_and(|namesakes| std::mem::replace(&mut namesakes.count, 1) > 1)
    }

    /// Removes all entries of that name. Returns whether there were several.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        self.0.remove(&name.to_ascii_lowercase()).is_some_and(|namesakes| namesakes.count > 1)
    }
}
