//! `Protocols` and the limits of HTTP/2.

use crate::config::model::merge::{keep, settings};
use std::time::Duration;

/// A protocol that a connection may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2 over TLS.
    H2,
    /// HTTP/2 without TLS, by a client that knows.
    H2c,
    /// HTTP/1.1 and older.
    Http1,
}

settings! {
    /// What a host says of its connections; `None`: as the main server.
    #[derive(Clone, Default)]
    host struct Protocols {
        /// `Protocols`, the dearest first.
        pub spoken: Option<Vec<Protocol>>, keep;
        /// `ProtocolsHonorOrder`
        pub own_order: Option<bool>, keep;
    }
}

/// The limits of HTTP/2 connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Http2 {
    /// `H2MaxSessionStreams`: requests of one connection at the same time.
    pub streams: u32,
    /// `H2WindowSize`: bytes of a request's body that may come unasked.
    pub window: u32,
    /// `H2StreamTimeout`: how long a stream may stand still; `None`: for `Timeout`.
    pub stream_timeout: Option<Duration>,
    /// `H2MaxStreamErrors`: streams that had to be reset because of the client's mistakes.
    pub stream_errors: usize,
    /// `H2MaxResetsPerSecond`
    pub resets: u32,
    /// `H2MaxControlFramesPerSecond`
    pub control_frames: u32,
}

impl Protocols {
    /// Whether it may be spoken.
    pub fn has(&self, protocol: Protocol) -> bool {
        self.spoken.as_ref().map_or(protocol == Protocol::Http1, |spoken| spoken.contains(&protocol))
    }
}
