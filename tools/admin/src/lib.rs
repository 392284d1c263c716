//! Subcommands for a running server, by its control socket.
//!
//! Start at the file of the subcommand: `cameleer top` is [`top`].

#![forbid(unsafe_code)]

pub mod advise;
pub mod drain;
pub mod history;
pub mod maint;
pub mod mem;
pub mod purge;
pub mod recycle;
pub mod refork;
pub mod reload;
pub mod status;
pub mod stop;
pub mod top;
pub mod why;
