//! The configuration that is to serve next: its Perl runs first, then its generation starts.

use wire::control::GenerationNumber;

use crate::configuration::expansion::Expansion;
use crate::logs::OpenedLogs;
use crate::sockets::listeners::BoundSocket;

/// Sockets and logs of a generation that does not serve yet.
#[derive(Debug)]
pub(super) struct Attempt {
    pub generation: GenerationNumber,
    /// The listening sockets, including those that are already bound.
    pub listeners: Vec<BoundSocket>,
    pub opened: OpenedLogs,
}

/// State of a start or a reload until its generation serves.
#[derive(Debug, Default)]
pub(super) enum NextConfig {
    /// No configuration is to serve next, or it is not read yet.
    #[default]
    Nothing,
    /// An expander runs its Perl.
    Expanding(Expansion),
    /// The new generation starts.
    Starting(Attempt),
}

impl NextConfig {
    /// The expander, if one runs.
    pub fn expansion(&self) -> Option<&Expansion> {
        if let NextConfig::Expanding(expansion) = self { Some(expansion) } else { None }
    }

    /// As [`Self::expansion`], to receive messages of the expander.
    pub fn expansion_mut(&mut self) -> Option<&mut Expansion> {
        if let NextConfig::Expanding(expansion) = self { Some(expansion) } else { None }
    }

    pub fn take_expansion(&mut self) -> Option<Expansion> {
        match std::mem::take(self) {
            NextConfig::Expanding(expansion) => Some(expansion),
            other => {
                *self = other;
                None
            }
        }
    }

    /// The generation that starts, if one does.
    pub fn attempt(&self) -> Option<&Attempt> {
        if let NextConfig::Starting(attempt) = self { Some(attempt) } else { None }
    }

    pub fn take_attempt(&mut self, number: GenerationNumber) -> Option<Attempt> {
        match std::mem::take(self) {
            NextConfig::Starting(attempt) if attempt.generation == number => Some(attempt),
            other => {
                *self = other;
                None
            }
        }
    }
}
