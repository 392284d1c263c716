//! Black-box tests: each starts the real program on a site of its own and is its client.
//!
//! A test's name is a sentence about what a user sees; the site and the client stand in the same function. `support`
//! has the site, the server's guard and a small HTTP client; nothing sleeps for a fixed time.

#![allow(clippy::duplicate_mod, reason = "`tainted` runs the tests of other modules once more")]

mod support;

/// Who may come in: addresses, names, users, methods, numbers.
mod access;
/// `cameleer check`.
mod check;
/// The command line: subcommands, options, environment, help.
mod cli;
/// What of mod_perl 1 there is: `check --compat`, and the table behind it.
mod compat;
/// The table of promises, and whether its tests are about them.
mod compat_rows;
/// Lines of an httpd.conf of mod_perl 1's time that no other test has.
mod compat_site;
/// What a configuration means for requests, and what is said about a broken one.
mod config;
/// A site of mod_perl 1's time with everything at once.
mod documented;
/// The checked-in examples, each started.
mod examples;
/// Programs that misbehave: only their own request suffers.
mod faults;
/// `$r`, method by method.
mod handlers;
/// Workers and molds that mean harm.
mod hostile;
/// `.htaccess` files.
mod htaccess;
/// HTTP/1.1 as clients speak it.
mod http;
/// HTTP/2, its floods and its conformance suite.
mod http2;
/// What httpd's documents say.
mod httpd;
/// What the server calls itself: in headers, to programs, below pages, in links.
mod identity;
/// `make install`, and what it puts where.
mod install;
/// Limits on time, numbers and size.
mod limits;
/// What a client sends costs by its length.
mod linear;
/// Symbolic links, and other ways out of a site.
mod links;
/// Access and error logs, byte for byte.
mod logs;
/// Where to look for a test: CONTRIBUTING's map.
mod map;
/// Modules of mod_perl's time.
mod modules;
/// Modules that perl and Debian bring.
mod named_modules;
/// Servers in several pid namespaces that share folders.
mod namespaces;
/// Pipes, devices and endless files where a file is expected.
mod no_files;
/// Objects and tied values where C code reads them.
mod objects;
/// More requests than workers can answer.
mod overload;
/// Perl that makes configuration.
mod perl_config;
/// Every phase of mod_perl 1, subrequests and redirects.
mod phases;
/// Plack's own server test suite.
mod plack_suite;
/// How many workers there are, and how long they live.
mod pool;
/// Programs of a CGI folder that have a process for each request.
mod programs;
/// PSGI 1.1.
mod psgi;
/// The README's tour, executed.
mod readme;
/// Packaged programs that nobody here wrote.
mod real_input;
/// CGI scripts, kept compiled.
mod registry;
/// New configuration and code without a lost request.
mod reload;
/// What the configuration says of answers: redirections, errors, headers, types.
mod rules;
/// What SECURITY.md promises, and where that is tested.
mod security;
/// Stopping, reopening, systemd.
mod signals;
/// Clients that take their answer slowly.
mod slow_readers;
/// What `make check` runs of all this.
mod smoke;
/// Every way to start, and that nothing said is lost in it.
mod starts;
/// Files that no worker touches.
mod static_files;
/// Which looks at the file system a request costs.
mod syscalls;
/// Tests of other modules once more, under PerlTaintCheck.
mod tainted;
/// What clients send, where an administrator reads it.
mod terminals;
/// TLS, certificates, sessions.
mod tls;
/// The house rules that can be read off the sources.
mod walls;
