//! Connections to stores that several servers share: login, TLS, and commands to Redis that are bounded in time.
//!
//! ```text
//!   request ── StoreClient::ask ──▶ pipelined connection ──▶ store
//!      ▲            │ no answer within StoreTimeout
//!      └────────────┘ and from then on at once, until the store answers in time again (run)
//! ```
//!
//! All bytes from a store are hostile. Start at [`StoreClient`]. `pubsub` uses the connections for messages.

#![forbid(unsafe_code)]

mod client;

mod connection;
mod script;

mod connect;
mod login;
mod report;

pub use client::{StoreAway, StoreClient, StorePush};
pub use connect::{LimitedSocket, MAX_UNREAD, UnreadBytes, plain, secured};
pub use connection::{RedisConnection, reason};
pub use login::StoreLogin;
pub use report::{StoreReport, StoreUse};
pub use script::{StoreCall, StoreReply, StoreScript, digest, token};
