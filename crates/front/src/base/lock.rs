//! Locks of the front. They are held for moments, by threads that never wait meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. A thread that panics ends the process, so what another one left is never half done.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
