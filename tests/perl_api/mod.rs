//! The API of mod_perl 1, and the modules that use it.

/// The `Apache::` modules of mod_perl's time that Debian does not have.
mod apache_modules;
/// Modules that perl and Debian bring.
mod debian_modules;
/// `$r`, method by method.
mod handlers;
/// Objects and tied values where C code reads them.
mod objects;
/// The tests that are written in Perl: perl/t, and Plack's own server suite.
mod perl_tests;
/// Every phase of mod_perl 1, subrequests and redirects.
mod phases;
/// The tests of the API and of scripts once more, under PerlTaintCheck.
mod tainted;
