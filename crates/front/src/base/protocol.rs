//! Properties common to all versions of HTTP.

use http::Version;

use config::RequestLimits;

/// Maximum number of bytes of a method; longer ones are answered 501. The longest in IANA's registry has 17
/// (`UPDATEREDIRECTREF`).
pub const MAX_METHOD_BYTES: usize = 32;

/// The protocol that the extended CONNECT of a stream asks for (RFC 8441), as an extension of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamProtocol {
    /// The request is a GET now, with the fields of HTTP/1.1's handshake.
    WebSocket,
    /// The request is still a CONNECT.
    Other,
}

/// Name of the protocol as in `SERVER_PROTOCOL`: `HTTP/1.1`
pub fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

/// Size of hyper's head buffer, in bytes: one request line and up to 16 fields of maximum size.
/// The size is at least 16 KiB and at most 1 MiB. hyper answers 431 to a longer head.
pub fn buffer_size(limits: &RequestLimits) -> usize {
    let fields = limits.field_size.saturating_mul(limits.fields.min(16));
    limits.request_line.saturating_add(fields).clamp(16 * 1024, 1024 * 1024)
}
