//! The running phase, set by the worker, and the state of its handlers.

use crate::request_rec::handler_stacks::HandlerStack;
use crate::request_stack::with;

/// Begins a phase; returns which of its handlers run.
pub fn enter_phase(request: u64, phase: u32) -> HandlerStack {
    let stacks = with(request, |r| {
        r.stacks.running = Some(phase);
        r.stacks
    });
    stacks.map_or(HandlerStack::Configured, |stacks| stacks.of(phase))
}

/// The handlers of the phase that run, considering handlers pushed by Perl code.
pub fn stack(request: u64, phase: u32) -> HandlerStack {
    with(request, |r| r.stacks.of(phase)).unwrap_or(HandlerStack::Configured)
}

/// The number of the phase that runs.
pub fn running_phase(request: u64) -> Option<u32> {
    with(request, |r| r.stacks.running).ok().flatten()
}
