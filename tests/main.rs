//! Black-box tests: each starts the real program on a site of its own and is its client.
//!
//! A test's name is a sentence about what a user sees; the site and the client stand in the same function. `support`
//! has the site, the server's guard and a small HTTP client; nothing sleeps for a fixed time.

mod support;

/// Who the client is, when a proxy stands before us.
mod accept;
/// Who may come in: addresses, names, users, methods.
mod access;
/// Whole sites and applications: packaged programs, the examples, the README's tour.
mod apps;
/// The load tester.
mod bench;
/// Answers that are kept for later requests.
mod cache;
/// Programs of a CGI folder that have a process for each request.
mod cgi;
/// The command line: `serve`, `run`, `check`, `status`; `make install`.
mod cli;
/// What a configuration means, and what is said about a broken one.
mod config;
/// Files that no worker touches.
mod files;
/// HTTP/1.1 as clients speak it.
mod http1;
/// HTTP/2, its floods and its conformance suite.
mod http2;
/// Limits on time, numbers and size.
mod limits;
/// Access and error logs, byte for byte.
mod logs;
/// Start, reload, stop.
mod master;
/// What a server has of the machine's memory, and what is said of it.
mod memory;
/// Sites of mod_perl 2.
mod mod_perl_2;
/// What a running server tells of itself: status, metrics, history, dashboard, top.
mod monitor;
/// The API of mod_perl 1, and the modules that use it.
mod perl_api;
/// Several pools of workers in one server.
mod pools;
/// PSGI 1.1.
mod profile;
mod psgi;
/// CGI scripts, kept compiled.
mod registry;
/// What the configuration makes of an answer, and pages of the server's own.
mod responses;
/// Which settings and which handler a request gets; `.htaccess`.
mod routing;
/// TLS, certificates, sessions.
mod tls;
/// The house rules that can be read off the sources and documents.
mod traces;
/// Settings that are found by measuring.
mod tune;
mod walls;
/// The pool, overload, processes that die.
mod workers;
