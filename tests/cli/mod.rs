//! The command line.

/// `cameleer advise`: recommendations for a running server.
mod advise;
/// A repository of the packages, and their maintainer.
mod apt_repository;
/// `cameleer bloat`.
mod bloat;
/// CGI programs in `check`, its survey and `advise`.
mod cgi_programs;
/// `cameleer check`.
mod check;
/// `cameleer check --compat`: which parts of mod_perl 1 a site uses, and which of them exist.
mod check_compat;
/// `.htaccess` files in `check`.
mod check_htaccess;
/// Subcommands, options, environment, help.
mod commands;
/// Debian's /etc/apache2.
mod debian_tree;
/// `cameleer dev`.
mod dev;
/// `cameleer diff-sites`.
mod diff_sites;
mod explain;
/// Options of httpd and apachectl.
mod httpd_options;
/// `make install`, and the files it installs.
mod install;
/// `cameleer replay`, and what it replays.
mod replay;
/// The list of linked libraries, CycloneDX.
mod sbom;
/// `cameleer size`.
mod size;
/// `cameleer --version`, and the version of the packages.
mod version;
