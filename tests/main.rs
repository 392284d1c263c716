//! Black-box tests: each starts the real program on a site of its own and is its client.
//!
//! A test's name is a sentence about behaviour that users see; the site and the client are in the same function.
//! `support` has the site, the server's guard and a small HTTP client; tests do not sleep for a fixed time.

mod support;

/// Connections, the client's address behind a proxy, front threads.
mod accept;
/// Access control: addresses, host names, users, methods.
mod access;
/// Whole sites and applications: packaged programs, the examples, the README's tour.
mod apps;
/// The load tester.
mod bench;
/// The response cache.
mod cache;
/// CGI programs: a process for each request.
mod cgi;
/// The command line: `serve`, `run`, `check`, `status`; `make install`.
mod cli;
/// Meaning of a configuration, and messages about a broken one.
mod config;
/// Workers that run an event loop.
mod event;
/// FastCGI applications beside the server, and programs that it starts.
mod fastcgi;
/// Static files.
mod files;
/// HTTP/1.1 connections and messages.
mod http1;
/// HTTP/2, its floods and its conformance suite.
mod http2;
/// Server-side includes.
mod includes;
/// Limits on time, numbers and size.
mod limits;
/// Access and error logs, byte for byte.
mod logs;
/// Start, reload, stop.
mod master;
/// Memory limits and memory reports.
mod memory;
/// `cameleer migrate`.
mod migrate;
/// Sites of mod_perl 2.
mod mod_perl_2;
/// Status, metrics, history, dashboard, top.
mod monitor;
/// A node behind a load balancer: drain, readiness, HAProxy, load reports.
mod node;
/// Several servers with a store that they share.
mod nodes;
/// The API of mod_perl 1, and the modules that use it.
mod perl_api;
/// Several pools of workers in one server.
mod pools;
/// `cameleer profile`, exact profiles, the slow log.
mod profile;
/// Backends that answer requests.
mod proxy;
/// PSGI 1.1.
mod psgi;
/// Apache::Registry scripts.
mod registry;
/// Response headers, compression, error pages, and the server's own pages.
mod responses;
/// Settings and handler of a request; `.htaccess`.
mod routing;
/// TLS, certificates, sessions.
mod tls;
/// Trace context and exported spans.
mod traces;
/// Settings that are found by measuring.
mod tune;
/// Rules that sources and documents must follow.
mod walls;
/// The pool, overload, crashes, refork, warm-up.
mod workers;
