//! The subcommands that ask a running server, by its control socket.

pub mod client;
pub mod history;
pub mod mem;
pub mod profile;
pub mod purge;
pub mod refork;
pub mod reload;
pub mod status;
pub mod stop;
pub mod units;
pub mod why;
