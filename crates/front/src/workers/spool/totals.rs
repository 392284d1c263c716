//! Memory and disk space of all responses that clients have not read yet.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};

/// Bytes of all responses of a front.
#[derive(Default)]
pub struct Totals {
    /// Bytes of bodies in memory, not yet in a file.
    pub(super) memory: AtomicU64,
    /// Bytes of bodies in temporary files.
    pub(super) disk: AtomicU64,
}

impl Totals {
    /// The totals of this process.
    pub fn of_front() -> Arc<Totals> {
        static FRONT: LazyLock<Arc<Totals>> = LazyLock::new(Arc::default);
        FRONT.clone()
    }

    /// Reserves disk space, unless that exceeds `total` bytes.
    pub(super) fn reserve_disk(&self, bytes: u64, total: u64) -> bool {
        let reserved = self.disk.fetch_add(bytes, Relaxed).saturating_add(bytes) <= total;
        if !reserved {
            self.free_disk(bytes);
        }
        reserved
    }

    pub(super) fn free_disk(&self, bytes: u64) {
        self.disk.fetch_sub(bytes, Relaxed);
    }
}
