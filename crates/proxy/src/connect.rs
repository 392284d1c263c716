//! Connections to backends.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use config::proxy::{BackendAddress, BackendUrl};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

/// A connection to a backend.
pub(crate) enum Link {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Connects to the backend of `url` within `wait`.
pub(crate) async fn connect(url: &BackendUrl, wait: Duration) -> io::Result<Link> {
    let connecting = async {
        match &url.address {
            BackendAddress::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                Ok(Link::Tcp(stream))
            }
            BackendAddress::Unix(path) => UnixStream::connect(path).await.map(Link::Unix),
        }
    };
    match timeout(wait, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {} s", wait.as_secs_f32()))),
    }
}

impl AsyncRead for Link {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Link::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Link::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Link {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Link::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Link::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Link::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Link::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Link::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Link::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Link::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Link::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
