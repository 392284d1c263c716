//! Commands that query Perl: the time of requests by Perl code, and the memory and system calls of code.
//!
//! Start at the file of the subcommand: `cameleer profile` is [`profile`].

#![forbid(unsafe_code)]

// An interpreter in a separate process.
mod embedded;

// `cameleer bloat`
pub mod bloat;

// `cameleer profile`
pub mod profile;

// `cameleer replay`
pub mod replay;

// `cameleer size`
pub mod size;
