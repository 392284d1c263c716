//! Recordings of failed requests (`RecordFailures`): a file for each, which `cameleer replay` sends again.
//!
//! ```text
//!   request ─ offer ─▶ queue ─▶ recorder (a thread) ─▶ masked ─▶ file_text ─▶ folder
//! ```

mod file_text;
mod folder;
mod masked;
mod recorder;
mod secrets;

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Method};

pub use recorder::FailureRecorder;

/// A request that failed.
pub struct RecordedRequest {
    /// When its head was complete.
    pub received: SystemTime,
    /// The request's ID in the error log.
    pub id: String,
    pub status: u16,
    pub method: Method,
    /// The target as the client sent it.
    pub target: Vec<u8>,
    /// `HTTP/1.1`
    pub protocol: &'static str,
    /// Authority of the target; HTTP/2 has it instead of a Host header.
    pub host: Option<String>,
    pub headers: HeaderMap,
    pub body: FailedBody,
    /// URL of the address at which the request arrived; `None` for a unix socket.
    pub server: Option<String>,
}

/// The body of a request that failed.
#[derive(Debug, Clone)]
pub enum FailedBody {
    Whole(Bytes),
    /// The body was in a file, with this length in bytes.
    TooLong(u64),
}

impl Default for FailedBody {
    fn default() -> FailedBody {
        FailedBody::Whole(Bytes::new())
    }
}
