//! The reverse proxy: `ProxyPass` and its further directives.

mod backend;
mod bodies;
mod failures;
mod passes;

use backend::Backend;

/// The response of a backend with this body.
fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Type: text/plain\r\n\r\n{body}", body.len()).into_bytes()
}
