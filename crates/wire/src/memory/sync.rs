//! The processor's atomics or, in a model, those of loom, which plays through what several threads may see of one another.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A size, and the one that it has in a model, which must be small.
pub const fn sized(usual: usize, in_a_model: usize) -> usize {
    if cfg!(loom) { in_a_model } else { usual }
}
