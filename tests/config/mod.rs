//! The effect of configurations, and messages about broken ones.

/// The configuration file: sections, includes, conditions, mistakes.
mod httpd_conf;
/// `<Macro>` and `Use`.
mod macros;
/// Directives of mod_perl 1's time that no other test covers.
mod old_directives;
/// Perl code that generates configuration: `<Perl>` sections, directives of modules, start-up code.
mod perl;
/// Lines of public configurations in forms that no manual mentions.
mod public_lines;
