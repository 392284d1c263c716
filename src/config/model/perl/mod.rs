//! Perl: the phases in which it is asked, and which of mod_perl's APIs it finds.

pub mod api;
pub mod phases;
