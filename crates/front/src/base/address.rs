//! An endpoint of a connection.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// IP address and port, or a Unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// IP address as text; `127.0.0.1` for a Unix socket.
    pub ip: String,
    /// Port; 0 for a Unix socket.
    pub port: u16,
    /// Socket address; `None` for a Unix socket.
    pub socket: Option<SocketAddr>,
}

impl Address {
    /// The endpoint of a TCP connection. IPv4-mapped addresses become IPv4.
    pub fn tcp(mut socket: SocketAddr) -> Address {
        socket.set_ip(socket.ip().to_canonical());
        Address { ip: socket.ip().to_string(), port: socket.port(), socket: Some(socket) }
    }

    /// A Unix socket, whose peer is on this host.
    pub fn unix() -> Address {
        Address { ip: "127.0.0.1".to_owned(), port: 0, socket: None }
    }

    /// The IP address; `127.0.0.1` for a Unix socket, because its peer is on this host.
    pub fn ip_addr(&self) -> IpAddr {
        self.socket.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |socket| socket.ip())
    }
}

/// Name of a Unix socket's client in log lines.
const UNIX: &str = "unix:";

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.socket {
            Some(_) => write!(f, "{}:{}", self.ip, self.port),
            None => f.write_str(UNIX),
        }
    }
}
