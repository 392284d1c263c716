//! A connection that has switched protocols: its bytes go to a backend and back.

use std::any::Any;
use std::time::Duration;

use proxy::TunnelStream;
use websocket::{MessageDeflate, WebSocketLimits};

/// The backend's end of a connection that has switched protocols.
pub struct Tunnel {
    pub backend: TunnelStream,
    /// Longest time without a byte in either direction: `ProxyTimeout`.
    pub idle: Duration,
    /// Whether the configuration that allowed the tunnel is superseded.
    pub is_over: Box<dyn Fn() -> bool>,
    /// Maximum time that the tunnel stays open once `is_over` is true: `GracefulShutdownTimeout`.
    pub graceful: Duration,
    /// Dropped at the end of the tunnel.
    pub guard: Box<dyn Any>,
    /// What this server speaks with the client, if the backend's bytes are not for the client as they are.
    pub websocket: Option<WebSocketSession>,
}

/// A connection on which the front speaks the WebSocket protocol in place of a worker.
#[derive(Debug, Clone, Copy)]
pub struct WebSocketSession {
    /// The compression that the handshake has agreed on.
    pub deflate: Option<MessageDeflate>,
    /// `WebSocketMaxMessage`
    pub limits: WebSocketLimits,
    /// `WebSocketMaxRate`; 0: no limit.
    pub most_frames: u32,
    /// The worker gets pings and pongs, and may end without a close frame.
    pub passes_control: bool,
    /// The number of the worker, for the error log.
    pub worker: u32,
}
