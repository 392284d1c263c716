//! Carries bytes between a client and a backend after both have switched protocols. Each direction reads on
//! when the other side has taken what was read, so the slower side sets the pace.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

use super::{ClientEnd, TunnelEnd};
use crate::client::copy_both::copy_both;
use crate::client::tunnel::Tunnel;

/// Interval at which silence, a reload and a stop are noticed.
const LOOK: Duration = Duration::from_secs(1);
/// Longest silence after one side has ended: the other side has the end, and may send its last bytes.
const HALF_OPEN: Duration = Duration::from_secs(5);

/// Carries bytes until both sides have ended, nothing was moved for `ProxyTimeout`, or the configuration is superseded
/// and its time is over.
pub async fn carry<S: AsyncRead + AsyncWrite + Unpin>(end: ClientEnd<'_, S>, tunnel: Tunnel) -> TunnelEnd {
    let ClientEnd { client, io, moved: count } = end;
    let Tunnel { backend, idle, is_over, graceful, guard: _guard, websocket: _ } = tunnel;
    let half_open_since = Cell::new(None);
    let mut here = Watched { io, half_open_since: &half_open_since };
    let mut there = Watched { io: backend, half_open_since: &half_open_since };
    let mut copying = pin!(copy_both(&mut here, &mut there));
    let mut timer = pin!(sleep_until(Instant::now() + LOOK));
    let mut until: Option<Instant> = None;
    let (mut moved, mut since) = (count(), Instant::now());
    poll_fn(|cx| {
        if let Poll::Ready(copied) = copying.as_mut().poll(cx) {
            return Poll::Ready(if copied.is_ok() { TunnelEnd::Whole } else { TunnelEnd::Cut });
        }
        while timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            if count() != moved {
                (moved, since) = (count(), now);
            }
            // As for requests, a GracefulShutdownTimeout of 0 is no limit.
            if until.is_none() && !graceful.is_zero() && (is_over() || client.shared.is_stopping()) {
                until = Some(now + graceful);
            }
            let silent_until = silent_until(since, idle, half_open_since.get());
            if now >= silent_until || until.is_some_and(|until| now >= until) {
                return Poll::Ready(TunnelEnd::Cut);
            }
            let next = until.into_iter().chain([now + LOOK, silent_until]).min();
            timer.as_mut().reset(next.unwrap_or(now + LOOK));
        }
        Poll::Pending
    })
    .await
}

/// The end of a tunnel without a byte since `since`. The time for the last bytes counts from the end of the one side.
fn silent_until(since: Instant, idle: Duration, half_open_since: Option<Instant>) -> Instant {
    match half_open_since {
        Some(end) => (since + idle).min(since.max(end) + HALF_OPEN),
        None => since + idle,
    }
}

/// One side of the tunnel.
struct Watched<'a, T> {
    io: T,
    /// When the first of both sides has sent its last byte.
    half_open_since: &'a Cell<Option<Instant>>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<'_, T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, into))?;
        if into.filled().len() == before {
            self.half_open_since.set(Some(self.half_open_since.get().unwrap_or_else(Instant::now)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_open_tunnel_has_five_seconds_after_the_end_and_after_each_byte() {
        let (begin, second) = (Instant::now(), Duration::from_secs(1));
        let until = |since: u32, idle: u32, end: Option<u32>| {
            silent_until(begin + since * second, idle * second, end.map(|end| begin + end * second)) - begin
        };
        assert_eq!(until(0, 60, None), 60 * second);
        assert_eq!(until(0, 60, Some(30)), 35 * second, "the end comes after a long silence");
        assert_eq!(until(33, 60, Some(30)), 38 * second, "a byte follows the end");
        assert_eq!(until(0, 31, Some(30)), 31 * second, "ProxyTimeout comes first");
    }
}
