//! The subcommands that ask a running server, by its control socket.

pub mod client;
mod memory;
pub mod purge;
pub mod refork;
pub mod reload;
pub mod status;
pub mod stop;
