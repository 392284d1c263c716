//! Whole sites and applications.

/// A site as the literature of mod_perl 1 tells people to write it.
mod documented;
/// The checked-in examples, each started.
mod examples;
/// Debian's packaged applications of mod_perl 2, unmodified.
mod mod_perl_2;
/// Debian's packaged programs and modules, unmodified.
mod packaged;
/// The README's tour, executed.
mod readme;
