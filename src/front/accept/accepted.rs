//! What the kernel has accepted.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpStream, UnixStream};

use crate::front::base::address::Address;
use crate::front::client::transport::Socket;

/// A connection that the kernel has accepted and nobody serves yet.
pub struct Accepted {
    pub socket: Socket,
    /// The client's end.
    pub remote: Address,
    /// Our end.
    pub local: Address,
}

impl Accepted {
    /// Of a TCP listener; `local` is its address, `None` for one that listens on all.
    pub fn tcp(socket: TcpStream, remote: SocketAddr, local: Option<&Address>) -> io::Result<Accepted> {
        let local = match local {
            Some(local) => local.clone(),
            None => Address::tcp(socket.local_addr()?),
        };
        Ok(Accepted { socket: Socket::Tcp(socket), remote: Address::tcp(remote), local })
    }

    /// Of a listener that is a unix socket.
    pub fn unix(socket: UnixStream) -> Accepted {
        Accepted { socket: Socket::Unix(socket), remote: Address::unix(), local: Address::unix() }
    }
}

/// Whether `accept` failed because of this one connection: the next one may well be accepted.
pub fn is_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(error.kind(), ConnectionAborted | ConnectionReset | NotConnected)
}
