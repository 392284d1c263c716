//! The command line.

/// What a running server could do better.
mod advise;
/// `cameleer bloat`.
mod bloat;
/// CGI programs in `check`, its survey and `advise`.
mod cgi_programs;
/// `cameleer check`.
mod check;
/// `cameleer check --compat`: what of mod_perl 1 a site uses, and what of that there is.
mod check_compat;
/// Subcommands, options, environment, help.
mod commands;
/// Debian's /etc/apache2.
mod debian_tree;
mod explain;
/// `make install`, and what it puts where.
mod install;
/// `cameleer size`.
mod size;
