//! Directives about Perl: start-up, handlers, pools, phases.

pub(super) mod handlers;
pub(super) mod libapreq;
pub(super) mod mod_perl_2;
pub(super) mod phases;
pub(super) mod pools;
pub(super) mod program;
pub(super) mod switches;
