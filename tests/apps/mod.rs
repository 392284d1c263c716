//! Whole sites and applications.

/// A site as the literature of mod_perl 1 tells people to write it.
mod documented;
/// The checked-in examples, each started.
mod examples;
/// Debian's packaged programs and modules, unmodified.
mod packaged;
/// The README's tour, executed.
mod readme;
