//! Atomics: the processor's, or loom's in a model of the shared memory.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A size: `usual`, or the small one that a loom model can handle.
pub const fn sized(usual: usize, in_a_model: usize) -> usize {
    if cfg!(loom) { in_a_model } else { usual }
}
