//! Perl: what is loaded, who answers, and how programs run.

pub(super) mod handlers;
pub(super) mod libapreq;
pub(super) mod mod_perl_2;
pub(super) mod phases;
pub(super) mod pools;
pub(super) mod program;
pub(super) mod switches;
