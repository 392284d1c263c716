//! What the tools share: the options that name a site or a server, the connection to a running server, and output.

#![forbid(unsafe_code)]

// What a command prints, and how it refuses a command line.
mod output;

// Which configuration.
pub mod conf;

// The options of `cameleer run`, and the program that it serves.
pub mod options;

// The certificate of `cameleer run --tls`.
pub mod development;

// `cameleer run …` as directives.
pub mod directives;

// A program as a configuration.
pub mod origin;

// Which running server, and its control socket.
pub mod client;

// Which paths of requests.
pub mod path_pattern;

// Sizes and durations as people read them.
pub mod units;

pub use output::{Misuse, print, print_error};
