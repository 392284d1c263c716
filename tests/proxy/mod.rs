//! The reverse proxy: `ProxyPass` and its further directives. The forward proxy: `ProxyRequests`.

pub mod backend;
mod balancers;
mod bodies;
mod cached;
mod connect;
mod departures;
mod failures;
mod forward;
mod hostile;
mod http2;
mod http2_backend;
mod inherited;
mod passes;
mod passwords;
mod phases;
mod secure;
mod smuggling;
mod websockets;

use backend::Backend;

/// The response of a backend with this body.
fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Type: text/plain\r\n\r\n{body}", body.len()).into_bytes()
}
