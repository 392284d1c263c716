//! Cameleer, the application server for Perl.
//!
//! ```text
//!   master ── starts, watches, replaces the others; owns the listening sockets; no Perl, no threads, no async runtime
//!     ├─ front   async: clients, HTTP, static files, limits, the request queue
//!     └─ mold    embeds Perl, loads the site's code, then only forks
//!          └─ workers   one request at a time
//! ```
//!
//! The modules, in reading order. Each uses what stands below it and nothing above; `tests/walls/layers.rs` says so too.

// The command line: one file a subcommand.
pub mod cli;

// The processes' parent: starts, watches, replaces, reloads.
pub mod master;

// The process that has all clients: HTTP, TLS, files, limits, and the queue before the workers.
pub mod front;

// The processes that have Perl: the mold, its workers, and one request's way through them.
pub mod worker;

// Shows the server to its administrators, and keeps its past.
pub mod monitor;

// Measures the memory of the others, for the master.
pub mod sampler;

// Reads the stacks of workers, for the master.
pub mod profiler;

// The load tester: how fast this server answers, or any other.
pub mod bench;

// What a site of mod_perl 1's time uses, and whether it works here: `check --compat`.
pub mod compat;

// Who may come in. The front asks, and the worker where Perl has a say.
pub mod access;

// Certificates, keys, and how hosts speak TLS.
pub mod tls;

// Files that become parts of answers, opened so that no link leads out of the site.
pub mod open;

// What a file's name says of its type.
pub mod mime;

// What a running server tells of itself, and the forms in which it is read.
pub mod status;

// What processes have of the machine's memory, and how many workers fit into it.
pub mod memory;

// How many workers a machine has work for.
pub mod capacity;

// The error log.
pub mod log;

// Which files root must not write because others decide what lies behind their names.
pub mod exposed;

// Who the processes become when root starts them.
pub mod privileges;

// What of the operating system Rust cannot check: the only unsafe code of this package.
pub mod sys;

// Apache's language: from text to what will be done.
pub mod config;

// Paths of URLs, normalised.
pub mod path;

// What was worked out and may be asked for again, in bounded memory.
pub mod cache;

// What tells whether a file is as it was.
pub mod stamp;

// Strangers' words where a person reads them.
pub mod printable;
