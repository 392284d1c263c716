//! Messages of `Cameleer::Broadcast` between servers, by a store that they share: Redis, or PostgreSQL's `NOTIFY`.
//!
//! ```text
//!   front ── BroadcastRelay::publish ──▶ BoundedOutbox ── run ──▶ store
//!   front ◀── LocalChannels::deliver ── BroadcastRelay ◀── run ◀──── store
//! ```
//!
//! A server publishes without waiting: a message is in the outbox, which is bounded. [`run`] is a task with one
//! connection to the store. All bytes from the store are hostile.
//!
//! Start at [`run`]. `envelope` has the format of what servers send each other.

#![forbid(unsafe_code)]

mod session;

mod postgres_store;
mod redis_store;

mod received;

mod relay;

mod envelope;
mod nodes;
mod outbox;

pub use relay::{BroadcastRelay, LocalChannels};
pub use session::run;
