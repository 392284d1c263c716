//! Which phase runs, and what Perl code has made of the phases' handlers for this request. The handlers themselves are
//! Perl's (`Apache::Phases`).

use super::RequestRec;
use crate::Place;

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
    pub running: Option<u32>,
    pushed: u32,
    replaced: u32,
}

impl Stacks {
    /// The directive of the phase that runs.
    pub fn name(self, place: &Place) -> Option<&'static str> {
        Some(place.phases.get(self.running? as usize)?.0)
    }

    /// The phase that runs comes before the answer.
    pub fn is_early(self, place: &Place) -> bool {
        self.running.is_some_and(|phase| place.early_phases >> phase & 1 != 0)
    }

    pub fn of(self, phase: u32) -> Stack {
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
