//! Limits on the memory and files of responses that clients have not read.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::response_file::ResponseFile;
use super::totals::Totals;
use config::Spooling;

/// Bytes of responses in the front's memory above which each further piece goes to a file, even if no request waits.
const MEMORY: u64 = 64 * 1024 * 1024;

/// Limits on stored responses; one `SpoolStore` for each thread and generation, with totals of the whole front.
#[derive(Default)]
pub struct SpoolStore {
    /// The configured folder and limits.
    pub rules: Spooling,
    totals: Arc<Totals>,
}

impl SpoolStore {
    /// Creates a store with the limits of a configuration.
    pub fn new(rules: Spooling, totals: Arc<Totals>) -> SpoolStore {
        SpoolStore { rules, totals }
    }

    /// Whether responses use so much memory that further pieces go to files.
    pub(super) fn is_short_of_memory(&self) -> bool {
        self.totals.memory.load(Relaxed) > MEMORY
    }

    pub(super) fn add_memory(&self, bytes: usize) {
        self.totals.memory.fetch_add(bytes as u64, Relaxed);
    }

    pub(super) fn free_memory(&self, bytes: usize) {
        self.totals.memory.fetch_sub(bytes as u64, Relaxed);
    }

    #[cfg(test)]
    pub(super) fn holds_files(&self) -> bool {
        self.totals.disk.load(Relaxed) > 0
    }

    #[cfg(test)]
    pub(super) fn holds_memory(&self) -> bool {
        self.totals.memory.load(Relaxed) > 0
    }

    /// Creates the file of a response.
    pub(super) fn new_file(&self) -> ResponseFile {
        ResponseFile::new(&self.rules, &self.totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_answers_together_have_a_limit_on_the_disk() {
        let store = SpoolStore::new(Spooling { folder: None, most: 100, total: 150 }, Arc::default());
        let (one, other) = (store.new_file(), store.new_file());
        assert!(one.reserve(100) && !one.reserve(1), "of one answer");
        assert!(!other.reserve(100) && other.reserve(50), "of all together");
        one.free(100);
        assert!(other.reserve(50) && one.reserve(50) && !one.reserve(1));
        drop((one, other));
        assert!(!store.holds_files());
    }

    #[test]
    fn memory_is_short_above_its_limit() {
        let store = SpoolStore::default();
        store.add_memory(MEMORY as usize);
        assert!(!store.is_short_of_memory());
        store.add_memory(1);
        assert!(store.is_short_of_memory());
    }
}
