//! FastCGI applications as backends.
//!
//! ```text
//!   front ──variables, body──▶ Applications::send ──▶ Exchange, which owns the connection ──▶ application
//!         ◀─head, FastcgiBody── at its end the connection is idle again, if the site wants that
//! ```

mod applications;
mod body;
mod exchange;
mod failure;

pub use applications::{Applications, FastcgiRequest};
pub use body::{FastcgiBody, StderrSink};
pub use failure::FastcgiFailure;
