//! Connections for HTTP, from a URL.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::Context;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use super::RequestTarget;
use super::failure::{FailedRequest, FailureCause};
use super::plan::{ConnectionPlan, Endpoint};
use super::tls;

/// A connection, with or without TLS.
pub trait ClientStream: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> ClientStream for T {}

/// The smallest receive buffer that Linux grants: a slow client must slow down the server, not fill the
/// kernel's buffers.
const SLOW_BUFFER: u32 = 2304;

/// Makes connections to one server.
#[derive(Clone)]
pub struct Connector {
    endpoints: Vec<Endpoint>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    slow: bool,
    http2: bool,
}

impl Connector {
    /// A connector to the server of `target`. The name is resolved only here: the load is meant for the server,
    /// not the name server.
    pub fn new(target: &RequestTarget, transport: &ConnectionPlan) -> anyhow::Result<Connector> {
        let endpoints = match (&transport.to, &target.socket) {
            (Some(endpoint), _) => vec![endpoint.clone()],
            (None, Some(path)) => vec![Endpoint::Unix(path.clone())],
            (None, None) => {
                let host = (target.host.as_str(), target.port);
                host.to_socket_addrs().with_context(|| target.url())?.map(Endpoint::Tcp).collect()
            }
        };
        let tls = match target.tls {
            false => None,
            true => {
                let name = ServerName::try_from(target.host.clone()).with_context(|| target.url())?;
                Some((tls::connector(transport)?, name))
            }
        };
        Ok(Connector { endpoints, tls, slow: transport.throttle.is_some(), http2: transport.http2 })
    }

    /// Opens a connection.
    pub async fn connect(&self) -> Result<Box<dyn ClientStream>, FailedRequest> {
        let stream =
            self.plain().await.map_err(|error| FailedRequest::new(FailureCause::Connect, error.to_string()))?;
        let Some((connector, name)) = &self.tls else { return Ok(stream) };
        let failed = |error: io::Error| FailedRequest::new(FailureCause::Tls, error.to_string());
        let stream = connector.connect(name.clone(), stream).await.map_err(failed)?;
        if self.http2 && stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err(FailedRequest::new(FailureCause::Tls, "the server does not speak HTTP/2"));
        }
        Ok(Box::new(stream))
    }

    /// Connects to the first address that accepts: `localhost` has two, and servers often listen on one.
    async fn plain(&self) -> io::Result<Box<dyn ClientStream>> {
        let mut result: io::Result<Box<dyn ClientStream>> = Err(io::Error::other("the name has no address"));
        for endpoint in &self.endpoints {
            result = match endpoint {
                Endpoint::Tcp(address) => {
                    self.tcp_to(*address).await.map(|stream| Box::new(stream) as Box<dyn ClientStream>)
                }
                Endpoint::Unix(path) => {
                    UnixStream::connect(path).await.map(|stream| Box::new(stream) as Box<dyn ClientStream>)
                }
            };
            if result.is_ok() {
                break;
            }
        }
        result
    }

    async fn tcp_to(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        if self.slow {
            socket.set_recv_buffer_size(SLOW_BUFFER)?;
        }
        let stream = socket.connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
