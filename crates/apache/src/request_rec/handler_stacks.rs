//! The running phase, and how Perl code has changed the phases' handlers for this request. The handlers
//! themselves are in Perl (`Apache::Phases`).

use super::RequestRec;
use crate::PlaceConfig;

/// The source of a phase's handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerStack {
    /// The handlers of the configuration.
    Configured,
    /// The configured handlers, then pushed ones.
    Pushed,
    /// Handlers that Perl code has set in place of the configured ones.
    Replaced,
}

/// The changes, as bits by the phases' numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stacks {
    pub running: Option<u32>,
    pushed: u32,
    replaced: u32,
}

impl Stacks {
    /// The directive of the running phase.
    pub fn name(self, place: &PlaceConfig) -> Option<&'static str> {
        Some(place.phases.get(self.running? as usize)?.0)
    }

    /// Whether the running phase comes before the response.
    pub fn is_early(self, place: &PlaceConfig) -> bool {
        self.running.is_some_and(|phase| place.early_phases >> phase & 1 != 0)
    }

    pub fn of(self, phase: u32) -> HandlerStack {
        match (self.replaced >> phase & 1, self.pushed >> phase & 1) {
            (1, _) => HandlerStack::Replaced,
            (_, 1) => HandlerStack::Pushed,
            _ => HandlerStack::Configured,
        }
    }
}

impl RequestRec {
    /// Records that Perl code changed the handlers of the named phase. Returns false when no phase has that
    /// name.
    pub fn touch_stack(&mut self, name: &[u8], replaced: bool) -> bool {
        let Some(phase) = phase_of(&self.place, name) else { return false };
        let bits = if replaced { &mut self.stacks.replaced } else { &mut self.stacks.pushed };
        *bits |= 1 << phase;
        true
    }
}

/// The number of a phase, by its directive.
pub(crate) fn phase_of(place: &PlaceConfig, name: &[u8]) -> Option<usize> {
    place.phases.iter().position(|(known, _)| known.as_bytes() == name)
}
