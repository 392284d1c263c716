//! Cameleer, the application server for Perl.
//!
//! ```text
//!   master ── starts, watches, replaces the others; owns the listening sockets; no Perl, no threads, no async runtime
//!     ├─ front   async: clients, HTTP, static files, limits, the request queue
//!     └─ mold    embeds Perl, loads the site's code, then only forks
//!          └─ workers   one request at a time
//! ```
//!
//! The modules, in reading order:

pub mod config;

pub mod compat;

pub mod log;

pub mod printable;

pub mod access;

pub mod path;

pub mod mime;

pub mod open;

pub mod cli;

pub mod tls;

pub mod master;

pub mod sys;

pub mod privileges;

pub mod front;

pub mod worker;
