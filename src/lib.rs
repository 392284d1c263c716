//! Cameleer, the application server for Perl.
//!
//! ```text
//!   master ── starts, watches, replaces the others; owns the listening sockets; no Perl, no threads, no async runtime
//!     ├─ front   async: clients, HTTP, static files, limits, the request queue
//!     └─ mold    embeds Perl, loads the site's code, then only forks
//!          └─ workers   one request at a time
//! ```
//!
//! Modules are listed in reading order. Each uses only modules below it, which `tests/walls/layers.rs` checks.

// Command line: one file per subcommand.
pub mod cli;

// The master process: starts, monitors, replaces and reloads the others.
pub mod master;

// The front process: client connections, HTTP, TLS, files, limits, and the queue of requests.
pub mod front;

// Processes with Perl: the mold and its workers, and the handling of a request.
pub mod worker;

// The monitor process: dashboard, metrics and history for administrators.
pub mod monitor;

// The sampler process: measures the memory of other processes for the master.
pub mod sampler;

// The profiler process: reads the stacks of workers for the master.
pub mod profiler;

// Load tester for this or any other server.
pub mod bench;

// Survey of a mod_perl 1 site, and its compatibility: `check --compat`.
pub mod compat;

// Access control, used by the front, and by workers where Perl handlers take part.
pub mod access;

// Certificates, keys, and TLS settings of hosts.
pub mod tls;

// Opening of files, restricted so that no link leads out of the site.
pub mod open;

// File types by name.
pub mod mime;

// Status of a running server, and its output formats.
pub mod status;

// Memory of processes, and the number of workers that fit.
pub mod memory;

// Number of workers for which a machine has processor time.
pub mod capacity;

// Error log.
pub mod log;

// Checks for files that root must not write, because others control the folder.
pub mod exposed;

// User and group of the processes when root starts the server.
pub mod privileges;

// System calls that Rust cannot check: the only unsafe code of this package.
pub mod sys;

// httpd's configuration language: parser, table of directives, and settings.
pub mod config;

// Normalisation of URL paths.
pub mod path;

// Caches with bounded memory.
pub mod cache;

// Detection of changed files.
pub mod stamp;

// Escaping of untrusted text for logs, terminals and pages.
pub mod printable;
