//! The socket to a store, with TLS if the URL asks for it, and with a limit on what the store may send.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use config::{StoreAddress, StoreUrl};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Maximum number of bytes that a store may send without a whole message or answer, unless its user has another limit.
pub const MAX_UNREAD: usize = 1 << 20;

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Number of bytes from the store since the last whole message or answer, and their limit.
#[derive(Debug, Clone)]
pub struct UnreadBytes {
    count: Arc<AtomicUsize>,
    most: usize,
}

impl UnreadBytes {
    /// No bytes yet, and `most` as their limit.
    pub fn new(most: usize) -> UnreadBytes {
        UnreadBytes { count: Arc::default(), most }
    }

    /// Notes a whole message or answer.
    pub fn reset(&self) {
        self.count.store(0, Relaxed);
    }

    /// Counts bytes. Fails if there are too many.
    fn add(&self, bytes: usize) -> io::Result<()> {
        let most = self.most;
        match self.count.fetch_add(bytes, Relaxed) + bytes {
            unread if unread > most => {
                Err(io::Error::other(format!("the store has sent more than {most} bytes without a whole message")))
            }
            _ => Ok(()),
        }
    }
}

/// Connects without TLS.
pub async fn plain(store: &StoreUrl, unread: &UnreadBytes) -> Result<LimitedSocket, String> {
    let socket = match &store.address {
        StoreAddress::Socket(path) => UnixStream::connect(path).await.map(Socket::Unix),
        StoreAddress::Host(host, port) => tcp(host, *port).await.map(Socket::Tcp),
    };
    Ok(LimitedSocket { socket: socket.map_err(|error| error.to_string())?, unread: unread.clone() })
}

async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let socket = TcpStream::connect((host, port)).await?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// The handshake of TLS with the store.
pub async fn secured(
    store: &StoreUrl,
    connector: &TlsConnector,
    socket: LimitedSocket,
) -> Result<TlsStream<LimitedSocket>, String> {
    let StoreAddress::Host(host, _) = &store.address else { return Err("a Unix socket has no TLS".to_owned()) };
    let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
    connector.connect(name, socket).await.map_err(|error| format!("TLS: {error}"))
}

/// A socket that fails when the store sends too much without a whole message.
pub struct LimitedSocket {
    socket: Socket,
    unread: UnreadBytes,
}

impl AsyncRead for LimitedSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_read(cx, buffer),
            Socket::Unix(socket) => Pin::new(socket).poll_read(cx, buffer),
        })?;
        Poll::Ready(self.unread.add(buffer.filled().len().saturating_sub(before)))
    }
}

impl AsyncWrite for LimitedSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            Socket::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_flush(cx),
            Socket::Unix(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Socket::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}
