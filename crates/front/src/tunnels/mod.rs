//! Connections and streams that have switched protocols: their bytes or messages go to a backend or to an event worker
//! and back. HTTP/1.1 gives a connection, HTTP/2 a stream.

mod bytes;
mod websocket;

use tokio::io::{AsyncRead, AsyncWrite};

use super::client::Client;
use super::client::tunnel::Tunnel;

/// The client's side of a tunnel.
pub struct ClientEnd<'a, S> {
    pub client: &'a Client,
    pub io: S,
    /// Number of bytes that were received and sent, to notice silence.
    pub moved: &'a dyn Fn() -> u64,
}

/// How a tunnel has ended for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TunnelEnd {
    /// The client has got all that was to be sent.
    Whole,
    /// The client was given up, or its time is over.
    Cut,
}

/// Carries bytes or messages until the tunnel ends.
pub async fn carry<S: AsyncRead + AsyncWrite + Unpin>(end: ClientEnd<'_, S>, tunnel: Tunnel) -> TunnelEnd {
    match tunnel.websocket {
        Some(session) => websocket::carry(end, tunnel, session).await,
        None => bytes::carry(end, tunnel).await,
    }
}
