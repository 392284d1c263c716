//! Perl: phases with handlers, and mod_perl's APIs.

pub mod api;
pub mod phases;
