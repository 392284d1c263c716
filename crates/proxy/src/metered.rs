//! A limit on the bytes that a backend sends before its response has a head, and before each piece of the body. Interim
//! responses, sizes of chunks and frames without end would otherwise keep the thread busy. Over HTTP/2, each part of an
//! upload renews the limit.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::Socket;

/// Maximum number of bytes before the end of a response's head, and before a piece of its body: interim responses, the
/// head, and bytes that are read ahead.
const MAX_BYTES: u64 = 1 << 20;

/// The bytes that a backend may still send.
#[derive(Clone, Default)]
pub(crate) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    /// A request is sent, a part of its response has come, or the backend has made room for a part of an upload.
    pub fn begin(&self) {
        self.0.store(MAX_BYTES, Relaxed);
    }

    /// The bytes are of another protocol.
    pub fn end(&self) {
        self.0.store(u64::MAX, Relaxed);
    }

    fn spend(&self, bytes: u64) -> io::Result<()> {
        let left = self.0.load(Relaxed);
        if left == u64::MAX || bytes == 0 {
            return Ok(());
        }
        self.0.store(left.saturating_sub(bytes), Relaxed);
        match left >= bytes {
            true => Ok(()),
            false => {
                Err(io::Error::other(format!("the backend sent {MAX_BYTES} bytes without a head or a piece of a body")))
            }
        }
    }
}

/// A connection with an allowance.
pub(crate) struct MeteredSocket {
    pub socket: Socket,
    pub allowance: Allowance,
}

impl AsyncRead for MeteredSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        Poll::Ready(self.allowance.spend((buffer.filled().len() - before) as u64))
    }
}

impl AsyncWrite for MeteredSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
}
