//! The web server's side of the FastCGI protocol (FastCGI Specification 1.0), without I/O: requests become bytes, bytes
//! become events.
//!
//! ```text
//!   variables, body ──▶ request::{begin, params, stdin} ──▶ bytes for the application
//!   bytes of the application ──▶ ResponseReader ──▶ FastcgiEvent ──▶ HeadReader ──▶ status, header fields, body
//! ```
//!
//! A connection carries one request at a time, whose id is always 1: no application in use multiplexes.

#![forbid(unsafe_code)]

pub mod head;
pub mod record;
pub mod request;
pub mod response;

pub use head::{CgiHead, HeadError, HeadReader};
pub use response::{FastcgiEvent, ProtocolError, ResponseReader};
