//! The API of mod_perl 1, and the modules that use it.

/// `Apache::` modules of mod_perl 1's era that Debian does not package.
mod apache_modules;
/// Modules that perl or Debian provides.
mod debian_modules;
/// The methods of `$r`.
mod handlers;
/// Objects and tied values where C code reads them.
mod objects;
/// Tests written in Perl: perl/t, and Plack's own server suite.
mod perl_tests;
/// Every phase of mod_perl 1, subrequests and redirects.
mod phases;
/// The tests of the API and of scripts a second time, under PerlTaintCheck.
mod tainted;
