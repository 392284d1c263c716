//! The subcommands that ask a running server, by its control socket.

pub mod advise;
pub mod client;
pub mod history;
pub mod mem;
pub mod path_pattern;
pub mod purge;
pub mod recycle;
pub mod refork;
pub mod reload;
pub mod status;
pub mod stop;
pub mod top;
pub mod units;
pub mod why;
