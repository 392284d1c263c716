//! Locks of the front. Each is held briefly, by threads that do not wait meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. Poisoning is ignored: a panic ends the process, so no other thread sees a half-done change.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
