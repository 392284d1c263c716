//! A hook that a thread of the front calls after each piece of work for a client. A busy thread does not sleep, so the
//! hook polls the sources that would otherwise wake it.

use std::cell::Cell;

thread_local! {
    static LOOK: Cell<fn()> = const { Cell::new(|| {}) };
}

/// Sets the hook of this thread.
pub fn look_with(look: fn()) {
    LOOK.set(look);
}

/// Calls the hook of this thread.
pub fn look() {
    LOOK.get()();
}
