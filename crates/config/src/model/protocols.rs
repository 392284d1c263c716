//! `Protocols` and the limits of HTTP/2.

use crate::model::merge::{keep, settings};
use std::time::Duration;

/// A protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2 over TLS.
    H2,
    /// HTTP/2 without TLS, for clients with prior knowledge.
    H2c,
    /// HTTP/1.1 and older.
    Http1,
}

settings! {
    /// Protocols of a host. `None`: the main server's value.
    #[derive(Clone, Default)]
    host struct Protocols {
        /// `Protocols`, in order of preference.
        pub spoken: Option<Vec<Protocol>>, keep;
        /// `ProtocolsHonorOrder`
        pub own_order: Option<bool>, keep;
    }
}

/// The limits of HTTP/2 connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Http2 {
    /// `H2MaxSessionStreams`: maximum number of concurrent requests of a connection.
    pub streams: u32,
    /// `H2WindowSize`: bytes of a request body that may arrive before the window is extended.
    pub window: u32,
    /// `H2StreamTimeout`: maximum time without progress of a stream; `None`: the value of `Timeout`.
    pub stream_timeout: Option<Duration>,
    /// `H2WebSockets`: whether clients may open WebSockets on streams.
    pub websockets: bool,
    /// `H2MaxStreamErrors`: maximum number of streams reset because of client errors.
    pub stream_errors: usize,
    /// `H2MaxResetsPerSecond`
    pub resets: u32,
    /// `H2MaxControlFramesPerSecond`
    pub control_frames: u32,
}

impl Protocols {
    /// Whether the protocol is enabled.
    pub fn has(&self, protocol: Protocol) -> bool {
        self.spoken.as_ref().map_or(protocol == Protocol::Http1, |spoken| spoken.contains(&protocol))
    }
}
