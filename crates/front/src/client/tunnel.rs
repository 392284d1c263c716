//! A connection that has switched protocols: its bytes go to a backend and back.

use std::any::Any;
use std::time::Duration;

use proxy::TunnelStream;

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
}
