//! The phases of a request, and of a worker's life, for which Perl handlers can be configured.

use std::collections::BTreeMap;

use strum::{IntoStaticStr, VariantArray};

/// A phase, in the order in which a request passes them; phases of processes come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(prefix = "Perl", suffix = "Handler")]
#[allow(missing_docs, reason = "httpd's names")]
pub enum Phase {
    PostReadRequest,
    Trans,
    /// mod_perl 2: after the translation of the URI, before the sections of the file's folder.
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
    /// mod_perl 2: in the mold, before PostConfig.
    OpenLogs,
    /// mod_perl 2: in the mold, after all code is loaded.
    PostConfig,
    /// mod_perl 2: at the start of a connection in its worker.
    PreConnection,
    /// mod_perl 2: handles a connection from its first byte to its last.
    ProcessConnection,
}

impl Phase {
    /// All phases; an index is the phase's discriminant.
    pub const ALL: &[Phase] = Phase::VARIANTS;

    /// Name of the directive, which `$r->current_callback` returns.
    pub fn name(self) -> &'static str {
        match self {
            Phase::ServerInit => Phase::Init.into(),
            Phase::Handler => "PerlHandler",
            phase => phase.into(),
        }
    }

    /// Number of the phase in a worker's reported state: from 1 on, since 0 means no phase.
    pub fn number(self) -> u16 {
        self as u16 + 1
    }

    /// The inverse of [`Phase::number`]; `None` for 0 and for numbers that no phase has.
    pub fn numbered(number: u16) -> Option<Phase> {
        Phase::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }

    /// Phases that a request passes before this one.
    pub fn before(self) -> impl Iterator<Item = Phase> {
        let its_own_order = Phase::ALL.iter().copied().take_while(move |phase| *phase != self);
        std::iter::once(Phase::ServerInit).chain(its_own_order)
    }

    /// Whether only a worker can run the phase. A request with such handlers runs all phases in a worker.
    pub fn needs_worker(self) -> bool {
        !matches!(self, Phase::Handler | Phase::Cleanup) && !self.is_of_process() && !self.is_of_connection()
    }

    /// Whether the phase belongs to a connection that is passed to a worker, not to a request.
    pub fn is_of_connection(self) -> bool {
        matches!(self, Phase::PreConnection | Phase::ProcessConnection)
    }

    /// Whether the phase belongs to a process, not to a request.
    pub fn is_of_process(self) -> bool {
        let of_process = [Phase::ChildInit, Phase::ChildExit, Phase::Restart, Phase::OpenLogs, Phase::PostConfig];
        of_process.contains(&self)
    }
}

/// Handlers by phase, except those of PerlHandler and PerlCleanupHandler.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Phases {
    lists: BTreeMap<Phase, Vec<String>>,
    /// `PerlDispatchHandler`: called in place of every handler.
    pub dispatch: Option<String>,
}

impl Phases {
    /// Names as written, in the order of the calls; empty if there are none.
    pub fn of(&self, phase: Phase) -> &[String] {
        self.lists.get(&phase).map_or(&[], Vec::as_slice)
    }

    /// Calls `handlers` after those of earlier lines.
    pub fn add(&mut self, phase: Phase, handlers: &[String]) {
        self.lists.entry(phase).or_default().extend_from_slice(handlers);
    }

    /// Whether no handlers are configured.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.dispatch.is_none()
    }

    /// Only phases with a list, in the order of [`Phase`].
    pub fn configured(&self) -> impl Iterator<Item = (Phase, &[String])> {
        self.lists.iter().map(|(phase, handlers)| (*phase, handlers.as_slice()))
    }

    /// Prepends the outer lists to the lists that are set.
    pub fn prepend(&mut self, outer: &Phases) {
        for (phase, handlers) in &mut self.lists {
            handlers.splice(0..0, outer.of(*phase).iter().cloned());
        }
    }

    /// Merges the lists of an inner section, which replace the outer lists.
    pub fn merge(&mut self, inner: &Phases) {
        for (phase, handlers) in &inner.lists {
            self.lists.insert(*phase, handlers.clone());
        }
        if inner.dispatch.is_some() {
            self.dispatch.clone_from(&inner.dispatch);
        }
    }
}
