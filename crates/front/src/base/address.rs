//! An end of a connection.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// IP address and port, or a unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As text, without port.
    pub ip: String,
    /// 0 for a unix socket.
    pub port: u16,
    /// `None` for a unix socket.
    pub socket: Option<SocketAddr>,
}

impl Address {
    /// Of a TCP connection.
    pub fn tcp(mut socket: SocketAddr) -> Address {
        socket.set_ip(socket.ip().to_canonical());
        Address { ip: socket.ip().to_string(), port: socket.port(), socket: Some(socket) }
    }

    /// Of a unix socket, whose other end is on this host.
    pub fn unix() -> Address {
        Address { ip: "127.0.0.1".to_owned(), port: 0, socket: None }
    }

    /// The address alone; the other end of a unix socket is on this host.
    pub fn ip_addr(&self) -> IpAddr {
        self.socket.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |socket| socket.ip())
    }
}

/// How lines about a client of a unix socket name it.
const UNIX: &str = "unix:";

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.socket {
            Some(_) => write!(f, "{}:{}", self.ip, self.port),
            None => f.write_str(UNIX),
        }
    }
}
