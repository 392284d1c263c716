//! Workers of this server that speak HTTP/1.1 as a backend does.

use std::io;
use std::os::unix::net::UnixStream;

/// A worker with an event loop.
pub trait EventWorker {
    /// A number that no other worker has: its idle connections are reused.
    fn serial(&self) -> u64;
    /// A new connection: a non-blocking socket whose other end the worker has got.
    fn connect(&self) -> io::Result<UnixStream>;
}
