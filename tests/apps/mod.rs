//! Complete sites and applications.

/// A site as the mod_perl 1 literature describes it.
mod documented;
/// The checked-in examples, each started.
mod examples;
/// Debian's packaged applications of mod_perl 2, unmodified.
mod mod_perl_2;
/// Debian's packaged programs and modules, unmodified.
mod packaged;
/// The commands of the README, executed.
mod readme;
