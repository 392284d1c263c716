//! Connections to backends.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use config::proxy::{BackendAddress, BackendParameters};
use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream, UnixStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::failure::BackendFailure;
use crate::key::{BackendHandshake, Key, Place};
use crate::names::Names;
use crate::worker::{EventWorker, WorkerSocket};

/// A connection to a backend.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    Worker(WorkerSocket),
    Tls(Box<TlsStream<Socket>>),
}

/// Pause before a backend whose queue of connections is full is tried again.
const FULL: Duration = Duration::from_millis(20);

/// Connects to a backend, with the handshake of TLS if it has one, within `wait`. A name that leads to one of the
/// blocked addresses of `parameters` gets no connection.
pub(crate) async fn connect(
    to: &Key,
    names: &Names,
    parameters: &BackendParameters,
    wait: Duration,
) -> Result<Socket, BackendFailure> {
    let connecting = async {
        let Place::Backend(address) = &to.place else {
            return Err(BackendFailure::Unreachable(io::ErrorKind::Unsupported.into()));
        };
        let connected = match address {
            BackendAddress::Tcp(host, port) => match addresses(host, *port, names, parameters).await {
                Ok(addresses) => match addresses.iter().find(|address| is_blocked(address.ip(), &parameters.blocked)) {
                    Some(address) => return Err(BackendFailure::Blocked(address.ip())),
                    None => tcp(&addresses, to.source).await.map(Socket::Tcp),
                },
                Err(error) => Err(error),
            },
            BackendAddress::Unix(path) => unix(path).await.map(Socket::Unix),
            BackendAddress::Balancer(name) => Err(no_member(name)),
        };
        let socket = connected.map_err(BackendFailure::Unreachable)?;
        match &to.tls {
            None => Ok(socket),
            Some(tls) => secured(tls, socket, to.is_http2).await,
        }
    };
    match timeout(wait, connecting).await {
        Ok(connected) => connected,
        Err(_) => {
            let why = format!("no answer within {} s", wait.as_secs_f32());
            Err(BackendFailure::Unreachable(io::Error::new(io::ErrorKind::TimedOut, why)))
        }
    }
}

/// A new connection to a worker of this server.
pub(crate) fn to_worker(worker: &dyn EventWorker) -> Result<Socket, BackendFailure> {
    WorkerSocket::connect(worker).map(Socket::Worker).map_err(BackendFailure::Unreachable)
}

/// The addresses of a host, which may have been looked up before.
async fn addresses(
    host: &str,
    port: u16,
    names: &Names,
    parameters: &BackendParameters,
) -> io::Result<Vec<SocketAddr>> {
    match parameters.addresses.as_slice() {
        [] => names.addresses(host, port).await,
        known => Ok(known.to_vec()),
    }
}

/// Whether an address is a blocked one, or stands for one of this machine's that is.
fn is_blocked(address: IpAddr, blocked: &[IpAddr]) -> bool {
    let address = address.to_canonical();
    blocked.iter().any(|one| *one == address || address.is_unspecified() && one.is_loopback())
}

async fn secured(tls: &BackendHandshake, socket: Socket, is_http2: bool) -> Result<Socket, BackendFailure> {
    let shaken = TlsConnector::from(tls.client.clone()).connect(tls.name.clone(), socket).await;
    let stream = shaken.map_err(BackendFailure::Handshake)?;
    if is_http2 && stream.get_ref().1.alpn_protocol() != Some(b"h2") {
        let why = "the backend does not select HTTP/2 (ALPN h2); write https:// for HTTP/1.1";
        return Err(BackendFailure::Handshake(io::Error::other(why)));
    }
    Ok(Socket::Tls(Box::new(stream)))
}

/// The error for a balancer for which no member was chosen.
fn no_member(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("balancer://{name} has no address of its own"))
}

/// Connects to the first address that answers.
async fn tcp(addresses: &[SocketAddr], source: Option<IpAddr>) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match connect_from(source, *address).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Connects from a local address, if there is one.
async fn connect_from(source: Option<IpAddr>, to: SocketAddr) -> io::Result<TcpStream> {
    let Some(source) = source else { return TcpStream::connect(to).await };
    let at = |error: io::Error| io::Error::new(error.kind(), format!("ProxySourceAddress {source}: {error}"));
    if source.is_ipv4() != to.is_ipv4() {
        return Err(at(io::Error::new(io::ErrorKind::AddrNotAvailable, format!("it cannot reach {}", to.ip()))));
    }
    bound(source).map_err(at)?.connect(to).await
}

/// A socket with a local address. The kernel chooses the port when it knows the destination: connections to different
/// destinations may have the same port, so that their number is not limited by that of ports.
fn bound(source: IpAddr) -> io::Result<TcpSocket> {
    let socket = if source.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    setsockopt(&socket, IpBindAddressNoPort, &true)?;
    socket.bind(SocketAddr::new(source, 0))?;
    Ok(socket)
}

/// Connects to a unix socket. If its queue is full, which connect(2) reports at once, tries again after a pause.
async fn unix(path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(FULL).await,
            connected => return connected,
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Socket::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
            Socket::Worker(worker) => worker.poll_read(cx, buffer),
            Socket::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
            Socket::Worker(worker) => Pin::new(&mut worker.stream).poll_write(cx, bytes),
            Socket::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Socket::Unix(stream) => Pin::new(stream).poll_flush(cx),
            Socket::Worker(worker) => Pin::new(&mut worker.stream).poll_flush(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Socket::Worker(worker) => Pin::new(&mut worker.stream).poll_shutdown(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Socket::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Socket::Worker(worker) => Pin::new(&mut worker.stream).poll_write_vectored(cx, parts),
            Socket::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn a_bound_socket_has_no_port_before_its_destination_is_known() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let _entered = runtime.enter();
        for source in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            let local = bound(source).expect("an address of this machine").local_addr().expect("our own socket");
            assert_eq!(local, SocketAddr::new(source, 0));
        }
    }
}
