//! Carries bytes between a client and a backend after both have switched protocols. Each direction has one buffer, so
//! the slower side sets the pace.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional_with_sizes};
use tokio::time::{Instant, sleep_until};

use super::strict_io::StrictIo;
use crate::client::Client;
use crate::client::tunnel::Tunnel;

/// Size of the buffer of each direction, in bytes.
const BUFFER: usize = 16 * 1024;
/// Interval at which silence, a reload and a stop are noticed.
const LOOK: Duration = Duration::from_secs(1);
/// Longest silence after one side has ended: the other side has the end, and may send its last bytes.
const HALF_OPEN: Duration = Duration::from_secs(5);

/// Carries bytes until both sides have ended, nothing was moved for `ProxyTimeout`, or the configuration is superseded
/// and its time is over.
pub async fn carry(client: &Client, io: &StrictIo, tunnel: Tunnel) {
    let Tunnel { backend, idle, is_over, graceful, guard: _guard } = tunnel;
    if io.is_amid() || io.is_ahead() {
        // Bytes before the switch would be read as HTTP by one side and as something else by the other.
        return;
    }
    let is_half_open = Cell::new(false);
    let mut here = Watched { io: RawIo(io.clone()), has_ended: &is_half_open };
    let mut there = Watched { io: backend, has_ended: &is_half_open };
    let mut copying = pin!(copy_bidirectional_with_sizes(&mut here, &mut there, BUFFER, BUFFER));
    let mut timer = pin!(sleep_until(Instant::now() + LOOK));
    let mut until: Option<Instant> = None;
    let (mut moved, mut since) = (client.moved(), Instant::now());
    poll_fn(|cx| {
        client.remember(cx);
        if copying.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            if client.moved() != moved {
                (moved, since) = (client.moved(), now);
            }
            if until.is_none() && (is_over() || client.shared.is_stopping()) {
                until = Some(now + graceful);
            }
            let idle = if is_half_open.get() { idle.min(HALF_OPEN) } else { idle };
            if now >= since + idle || until.is_some_and(|until| now >= until) {
                return Poll::Ready(());
            }
            let next = until.into_iter().chain([now + LOOK, since + idle]).min();
            timer.as_mut().reset(next.unwrap_or(now + LOOK));
        }
        Poll::Pending
    })
    .await;
}

/// One side of the tunnel.
struct Watched<'a, T> {
    io: T,
    /// Set when the side sends no more bytes.
    has_ended: &'a Cell<bool>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<'_, T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, into))?;
        if into.filled().len() == before {
            self.has_ended.set(true);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<'_, T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// The connection past the reader of heads.
struct RawIo(StrictIo);

impl AsyncRead for RawIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.poll_discard(cx, into)
    }
}

impl AsyncWrite for RawIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_end(cx)
    }
}
