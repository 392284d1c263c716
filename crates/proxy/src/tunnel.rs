//! Connections for bytes of any protocol: after a switch of protocols, and of `CONNECT`.

use std::pin::Pin;

use http::{Method, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite};

/// Both directions of a connection.
pub trait Duplex: AsyncRead + AsyncWrite {}

impl<T: AsyncRead + AsyncWrite> Duplex for T {}

/// The backend's end of a tunnel.
pub type TunnelStream = Pin<Box<dyn Duplex>>;

/// Whether the bytes after a response with this status are of another protocol (RFC 9110, sections 9.3.6 and 15.2.2).
pub fn begins(method: &Method, status: StatusCode) -> bool {
    status == StatusCode::SWITCHING_PROTOCOLS || *method == Method::CONNECT && status.is_success()
}
