//! The reverse proxy's side towards backends: connections, requests, responses. The front has clients, places and logs.
//!
//! ```text
//!   front ──Request──▶ Backends::send ──▶ an idle connection, or a new one ──▶ backend
//!         ◀─Response──  BackendBody, which returns the connection at its end
//! ```
//!
//! All types belong to one thread of the front, as its requests do.
//!
//! Start at [`Backends`].

#![forbid(unsafe_code)]

mod attempt;
mod backends;
pub mod balancer;
mod body;
mod connect;
mod expectation;
mod failure;
mod fcgi;
pub mod fields;
mod http2;
mod idle;
mod key;
mod metered;
mod names;
pub mod tunnel;
mod upload;
mod waits;
mod worker;

pub use attempt::BackendResponse;
pub use backends::{BackendRequest, Backends};
pub use body::BackendBody;
pub use failure::BackendFailure;
pub use fcgi::{Applications, FastcgiBody, FastcgiFailure, FastcgiRequest, StderrSink};
pub use key::BackendHandshake;
pub use tunnel::TunnelStream;
pub use upload::{BodyStream, ProxiedBody};
pub use waits::Waits;
pub use worker::{EventWorker, WorkerEnd};
