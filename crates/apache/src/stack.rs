//! Which phase runs, and what Perl code has made of the phases' handlers for this request. The handlers themselves are
//! Perl's (`Apache::Phases`).

use crate::Place;
use crate::current::with;
use crate::request::RequestRec;

/// What is left of a phase's configured handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// They run.
    Configured,
    /// They run, then those that were pushed.
    Pushed,
    /// Others run instead.
    Replaced,
}

/// By the phases' numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stacks {
    running: Option<u32>,
    pushed: u32,
    replaced: u32,
}

impl Stacks {
    /// The directive of the phase that runs.
    pub fn name(self, place: &Place) -> Option<&'static str> {
        Some(place.phases.get(self.running? as usize)?.0)
    }

    fn of(self, phase: u32) -> Stack {
        match (self.replaced >> phase & 1, self.pushed >> phase & 1) {
            (1, _) => Stack::Replaced,
            (_, 1) => Stack::Pushed,
            _ => Stack::Configured,
        }
    }
}

impl RequestRec {
    /// Perl code changed the handlers of the phase of that name. False when there is none.
    pub fn touch_stack(&mut self, name: &[u8], replaced: bool) -> bool {
        let Some(phase) = phase_of(&self.place, name) else { return false };
        let bits = if replaced { &mut self.stacks.replaced } else { &mut self.stacks.pushed };
        *bits |= 1 << phase;
        true
    }
}

/// The number of a phase by its directive.
pub(crate) fn phase_of(place: &Place, name: &[u8]) -> Option<usize> {
    place.phases.iter().position(|(known, _)| known.as_bytes() == name)
}

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
