//! Cameleer, the application server for Perl. This crate is the command line; all else is in the crates below it.
//!
//! `main.rs` calls [`cli::run`], which starts the subcommand of that name in `src/cli/` or a crate of `tools/`.
//! `cameleer serve` ends in `master::run`, which starts the other processes.
//!
//! A crate may import crates of the rows below its own, never one beside or above it:
//!
//! ```text
//!   cameleer      the command line
//!   ────────────
//!   admin         commands about a running server: status, top, mem, reload, stop
//!   perlcost      commands about Perl code: its time, its memory, its system calls; failed requests, sent again
//!   ────────────
//!   develop       commands for development: a program that is loaded again after each change
//!   migrate       a site of Apache httpd, rewritten for this server
//!   sitediff      the pages of two servers of one site, compared
//!   tune          settings found by measurement, on a second server of the site
//!   ────────────
//!   toolkit       options, the control socket's client and output, shared by the tools
//!   ────────────
//!   acme          the process that gets certificates from authorities
//!   bench         the load tester, for any HTTP server
//!   compat        which parts of a mod_perl site work here
//!   front         the process of the clients: HTTP, files, routes, limits, the pool of workers
//!   master        the process that starts, watches and replaces all others
//!   monitor       the process that shows the server to its administrators
//!   ────────────
//!   profiler      the process that reads the Perl stacks of running workers
//!   worker        the mold, which loads the site's Perl and forks, and the workers, which answer requests
//!   ────────────
//!   access        access control: addresses, users, groups
//!   apr           the build of APR.so, for Perl's `use APR`
//!   files         files of a site, opened so that no link leads out of it
//!   proxy         connections to the backends of the reverse proxy
//!   pubsub        messages between servers, by a store that they share
//!   status        the state of a running server, and its formats
//!   ────────────
//!   databases     databases of users and rewrite maps: DBM files, SQLite, PostgreSQL
//!   stores        connections to stores that servers share: login, TLS, commands to Redis
//!   ────────────
//!   tls           certificates, keys, the TLS of each host and of connections to backends and directories
//!   ────────────
//!   apache        the Rust half of the `Apache::` API: the request record
//!   config        httpd's language: the table of directives, and the settings of each request
//!   machine       memory and processors, as the kernel reports them
//!   ────────────
//!   form          HTML forms, as bytes
//!   libperl       a Perl interpreter whose `die` and `exit` are values
//!   ssi           server-side includes: the elements of a page, as bytes and events
//!   sys           system calls that Rust cannot check
//!   ────────────
//!   base          paths of URLs, bounded caches, the error log
//!   fastcgi       the FastCGI protocol, as bytes and events
//!   ldap          the LDAP protocol, its filters and URLs, as bytes
//!   libperl-sys   the C shim over libperl, and its declarations
//!   perl-build    for build scripts: the perl that the program will embed, and C compiled for it
//!   websocket     the WebSocket protocol, as bytes and events
//!   wire          every message between the processes, and how it travels
//! ```
//!
//! `tests/walls/manifests.rs` holds the order. docs/architecture.md has the processes, and the states of each.

#![forbid(unsafe_code)]

pub mod cli;
