//! The phases of a request, and of a worker's life, in which Perl code may have its say.

use std::collections::BTreeMap;

/// A phase, in the order in which a request goes through them; what belongs to a process comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum Phase {
    PostReadRequest,
    Trans,
    /// mod_perl 2's: when the URI is translated, before the sections of the file's folder.
    MapToStorage,
    /// `PerlInitHandler` in a container: just before HeaderParser.
    Init,
    HeaderParser,
    Access,
    Authen,
    Authz,
    Type,
    Fixup,
    Handler,
    Log,
    Cleanup,
    /// `PerlInitHandler` outside of containers: just before PostReadRequest.
    ServerInit,
    ChildInit,
    ChildExit,
    Restart,
    /// mod_perl 2's: in the mold, before PostConfig.
    OpenLogs,
    /// mod_perl 2's: in the mold, when everything is loaded.
    PostConfig,
    /// mod_perl 2's: when a connection comes to its worker.
    PreConnection,
    /// mod_perl 2's: what is said on a connection, from its first byte to its last.
    ProcessConnection,
}

impl Phase {
    /// Every phase; a phase's number is its place here.
    pub const ALL: [Phase; 21] = [
        Phase::PostReadRequest,
        Phase::Trans,
        Phase::MapToStorage,
        Phase::Init,
        Phase::HeaderParser,
        Phase::Access,
        Phase::Authen,
        Phase::Authz,
        Phase::Type,
        Phase::Fixup,
        Phase::Handler,
        Phase::Log,
        Phase::Cleanup,
        Phase::ServerInit,
        Phase::ChildInit,
        Phase::ChildExit,
        Phase::Restart,
        Phase::OpenLogs,
        Phase::PostConfig,
        Phase::PreConnection,
        Phase::ProcessConnection,
    ];

    /// The directive: what `$r->current_callback` says.
    pub fn name(self) -> &'static str {
        match self {
            Phase::PostReadRequest => "PerlPostReadRequestHandler",
            Phase::Trans => "PerlTransHandler",
            Phase::MapToStorage => "PerlMapToStorageHandler",
            Phase::Init | Phase::ServerInit => "PerlInitHandler",
            Phase::HeaderParser => "PerlHeaderParserHandler",
            Phase::Access => "PerlAccessHandler",
            Phase::Authen => "PerlAuthenHandler",
            Phase::Authz => "PerlAuthzHandler",
            Phase::Type => "PerlTypeHandler",
            Phase::Fixup => "PerlFixupHandler",
            Phase::Handler => "PerlHandler",
            Phase::Log => "PerlLogHandler",
            Phase::Cleanup => "PerlCleanupHandler",
            Phase::ChildInit => "PerlChildInitHandler",
            Phase::ChildExit => "PerlChildExitHandler",
            Phase::Restart => "PerlRestartHandler",
            Phase::OpenLogs => "PerlOpenLogsHandler",
            Phase::PostConfig => "PerlPostConfigHandler",
            Phase::PreConnection => "PerlPreConnectionHandler",
            Phase::ProcessConnection => "PerlProcessConnectionHandler",
        }
    }

    /// For who reads what a worker is at: from 1 on, since 0 is none.
    pub fn number(self) -> u16 {
        self as u16 + 1
    }

    /// The phase of that number.
    pub fn numbered(number: u16) -> Option<Phase> {
        Phase::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }

    /// The phases that a request has gone through when it comes to this one.
    pub fn before(self) -> impl Iterator<Item = Phase> {
        let its_own_order = Phase::ALL.into_iter().take_while(move |phase| *phase != self);
        std::iter::once(Phase::ServerInit).chain(its_own_order)
    }

    /// Only a worker can run it, so that a request for which it is configured goes through all phases there.
    pub fn needs_worker(self) -> bool {
        !matches!(self, Phase::Handler | Phase::Cleanup) && !self.is_of_process() && !self.is_of_connection()
    }

    /// Belongs to a connection that is handed to a worker, not to a request.
    pub fn is_of_connection(self) -> bool {
        matches!(self, Phase::PreConnection | Phase::ProcessConnection)
    }

    /// Belongs to a process, not to a request.
    pub fn is_of_process(self) -> bool {
        let of_process = [Phase::ChildInit, Phase::ChildExit, Phase::Restart, Phase::OpenLogs, Phase::PostConfig];
        of_process.contains(&self)
    }
}

/// Handlers by phase, but for those of PerlHandler and PerlCleanupHandler.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Phases {
    lists: BTreeMap<Phase, Vec<String>>,
    /// `PerlDispatchHandler`: called in the place of every handler.
    pub dispatch: Option<String>,
}

impl Phases {
    /// What is configured for a phase.
    pub fn of(&self, phase: Phase) -> &[String] {
        self.lists.get(&phase).map_or(&[], Vec::as_slice)
    }

    /// Puts handlers behind those that are there.
    pub fn add(&mut self, phase: Phase, handlers: &[String]) {
        self.lists.entry(phase).or_default().extend_from_slice(handlers);
    }

    /// Nothing at all is said.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.dispatch.is_none()
    }

    /// The phases that have handlers.
    pub fn said(&self) -> impl Iterator<Item = (Phase, &[String])> {
        self.lists.iter().map(|(phase, handlers)| (*phase, handlers.as_slice()))
    }

    /// Each list that is said begins with the outer one.
    pub fn stand_behind(&mut self, outer: &Phases) {
        for (phase, handlers) in &mut self.lists {
            handlers.splice(0..0, outer.of(*phase).iter().cloned());
        }
    }

    /// The list of an inner section takes the place of the outer's.
    pub fn merge(&mut self, inner: &Phases) {
        for (phase, handlers) in &inner.lists {
            self.lists.insert(*phase, handlers.clone());
        }
        if inner.dispatch.is_some() {
            self.dispatch.clone_from(&inner.dispatch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_stands_at_its_number() {
        for (number, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, number, "{phase:?}");
        }
    }
}
