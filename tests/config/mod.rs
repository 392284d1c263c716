//! What a configuration means, and what is said about a broken one.

/// The file: sections, includes, conditions, mistakes.
mod httpd_conf;
/// Lines of an httpd.conf of mod_perl 1's time that no other test has.
mod old_directives;
/// Perl that makes configuration: `<Perl>` sections, directives of modules, start-up code.
mod perl;
