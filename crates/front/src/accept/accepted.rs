//! What the kernel has accepted.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::base::address::Address;
use crate::client::socket::Socket;

/// A client that says nothing is let in after so long. Others come with their request: it is read at once, and nobody is woken for a
/// connection first and for its request then.
pub const SILENCE: Duration = Duration::from_secs(1);

/// A connection that the kernel has accepted and nobody serves yet; its thread is still to be chosen.
pub struct Accepted {
    pub stream: Stream,
    /// The client's end.
    pub remote: Address,
    /// Our end.
    pub local: Address,
}

/// A stream that does not block and no runtime knows.
pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// What the runtime was told of, no more.
    pub fn of(socket: Socket) -> io::Result<Stream> {
        Ok(match socket {
            Socket::Unwatched(socket) => Stream::Tcp(socket.into_stream()?),
            Socket::Tcp(socket) => Stream::Tcp(socket.into_std()?),
            Socket::Unix(socket) => Stream::Unix(socket.into_std()?),
        })
    }

    /// Another descriptor of the same socket.
    pub fn copy(&self) -> io::Result<OwnedFd> {
        match self {
            Stream::Tcp(stream) => stream.as_fd().try_clone_to_owned(),
            Stream::Unix(stream) => stream.as_fd().try_clone_to_owned(),
        }
    }

    /// Who had a copy of it may have made it block.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nonblocking(true),
            Stream::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    /// For this thread's runtime.
    pub fn into_socket(self) -> io::Result<Socket> {
        Ok(match self {
            Stream::Tcp(stream) => Socket::tcp(stream),
            Stream::Unix(stream) => Socket::Unix(tokio::net::UnixStream::from_std(stream)?),
        })
    }
}

impl Accepted {
    /// Of a TCP listener; `local` is its address, `None` for one that listens on all.
    pub fn tcp(stream: TcpStream, remote: SocketAddr, local: Option<&Address>) -> io::Result<Accepted> {
        let local = match local {
            Some(local) => local.clone(),
            None => Address::tcp(stream.local_addr()?),
        };
        Ok(Accepted { stream: Stream::Tcp(stream), remote: Address::tcp(remote), local })
    }

    /// Of a listener that is a unix socket.
    pub fn unix(stream: UnixStream) -> Accepted {
        Accepted { stream: Stream::Unix(stream), remote: Address::unix(), local: Address::unix() }
    }
}

/// Whether `accept` failed because of this one connection: the next one may well be accepted.
pub fn is_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(error.kind(), ConnectionAborted | ConnectionReset | NotConnected)
}
