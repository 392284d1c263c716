//! Which phase runs, as the worker says it, and what is left of its handlers.

use crate::request_rec::handler_stacks::Stack;
use crate::request_stack::with;

/// A phase begins. Returns what is left of its configured handlers.
pub fn enter_phase(request: u64, phase: u32) -> Stack {
    let stacks = with(request, |r| {
        r.stacks.running = Some(phase);
        r.stacks
    });
    stacks.map_or(Stack::Configured, |stacks| stacks.of(phase))
}

/// The same once more, when handlers have run that may have pushed others.
pub fn stack(request: u64, phase: u32) -> Stack {
    with(request, |r| r.stacks.of(phase)).unwrap_or(Stack::Configured)
}

/// The number of the phase that runs.
pub fn running_phase(request: u64) -> Option<u32> {
    with(request, |r| r.stacks.running).ok().flatten()
}
