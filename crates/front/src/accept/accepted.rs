//! Connections that the kernel has accepted.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::base::address::Address;
use crate::client::socket::Socket;

/// Longest time that the kernel defers a connection whose client sends nothing (`TCP_DEFER_ACCEPT`). Other connections
/// arrive with their request, so one wake-up serves both.
pub const SILENCE: Duration = Duration::from_secs(1);

/// An accepted connection that has no thread yet.
pub struct Accepted {
    pub stream: AcceptedStream,
    pub remote: Address,
    pub local: Address,
}

/// A non-blocking stream that is not registered with any runtime.
pub enum AcceptedStream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl AcceptedStream {
    /// Removes the socket from its runtime.
    pub fn of(socket: Socket) -> io::Result<AcceptedStream> {
        Ok(match socket {
            Socket::Unwatched(socket) => AcceptedStream::Tcp(socket.into_stream()?),
            Socket::Tcp(socket) => AcceptedStream::Tcp(socket.into_std()?),
            Socket::Unix(socket) => AcceptedStream::Unix(socket.into_std()?),
        })
    }

    /// Duplicates the descriptor.
    pub fn copy(&self) -> io::Result<OwnedFd> {
        match self {
            AcceptedStream::Tcp(stream) => stream.as_fd().try_clone_to_owned(),
            AcceptedStream::Unix(stream) => stream.as_fd().try_clone_to_owned(),
        }
    }

    /// Makes the socket non-blocking again, which a process with a copy may have changed.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            AcceptedStream::Tcp(stream) => stream.set_nonblocking(true),
            AcceptedStream::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    /// Registers the socket with this thread's runtime.
    pub fn into_socket(self) -> io::Result<Socket> {
        Ok(match self {
            AcceptedStream::Tcp(stream) => Socket::tcp(stream),
            AcceptedStream::Unix(stream) => Socket::Unix(tokio::net::UnixStream::from_std(stream)?),
        })
    }
}

impl Accepted {
    /// A connection of a TCP listener on the address `local`; `None` if it listens on all addresses.
    pub fn tcp(stream: TcpStream, remote: SocketAddr, local: Option<&Address>) -> io::Result<Accepted> {
        let local = match local {
            Some(local) => local.clone(),
            None => Address::tcp(stream.local_addr()?),
        };
        Ok(Accepted { stream: AcceptedStream::Tcp(stream), remote: Address::tcp(remote), local })
    }

    /// A connection of a Unix socket.
    pub fn unix(stream: UnixStream) -> Accepted {
        Accepted { stream: AcceptedStream::Unix(stream), remote: Address::unix(), local: Address::unix() }
    }
}

/// Whether `accept` failed for this connection only, so the next may succeed.
pub fn is_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(error.kind(), ConnectionAborted | ConnectionReset | NotConnected)
}
