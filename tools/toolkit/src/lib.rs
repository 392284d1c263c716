//! Shared parts of the tools: options that name a site or a server, the connection to a running server, and output.
//!
//! Start at [`options`] and [`client`].

#![forbid(unsafe_code)]

// Output of commands, and the error for a wrong command line.
mod output;

// Options that select a configuration.
pub mod conf;

// The options of `cameleer run`, and of the program that it serves.
pub mod options;

// The certificate of `cameleer run --tls`.
pub mod development;

// Translation of `cameleer run …` into directives.
pub mod directives;

// The origin of a configuration made from a program.
pub mod origin;

// Connection to a running server's control socket.
pub mod client;

// Patterns of request paths.
pub mod path_pattern;

// Human-readable sizes and durations.
pub mod units;

pub use output::{Misuse, print, print_error};
