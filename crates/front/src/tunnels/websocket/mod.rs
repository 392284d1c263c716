//! The WebSocket protocol with clients of event workers that leave it to the front: the worker's stream has simple
//! frames.
//!
//! ```text
//!   client ◀─ RFC 6455, RFC 7692 ─▶ relay ◀─ worker_frames ─▶ worker
//! ```

mod rate;
mod relay;
mod side;
mod worker_frames;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep_until;

use super::{ClientEnd, TunnelEnd};
use crate::client::tunnel::{Tunnel, WebSocketSession};
use relay::Relay;
use websocket::codes;

/// Interval at which silence, a reload and a stop are noticed.
const LOOK: Duration = Duration::from_secs(2);

/// Carries messages until the connection is closed. Silence for `EventIdleTimeout`, and the end of the configuration's
/// time, close it.
pub async fn carry<S: AsyncRead + AsyncWrite + Unpin>(
    end: ClientEnd<'_, S>,
    tunnel: Tunnel,
    session: WebSocketSession,
) -> TunnelEnd {
    let ClientEnd { client, io, moved: count } = end;
    let Tunnel { backend, idle, is_over, graceful, guard: _guard, websocket: _ } = tunnel;
    let mut relay = Relay::new(io, backend, &session);
    let mut timer = pin!(sleep_until(tokio::time::Instant::now()));
    let mut until: Option<Instant> = None;
    let (mut moved, mut since) = (count(), Instant::now());
    poll_fn(|cx| {
        loop {
            let now = Instant::now();
            if count() != moved {
                (moved, since) = (count(), now);
            }
            relay.is_leaving = relay.is_leaving || is_over() || client.shared.is_stopping();
            // As for requests, a GracefulShutdownTimeout of 0 is no limit.
            if until.is_none() && !graceful.is_zero() && relay.is_leaving {
                until = Some(now + graceful);
            }
            if until.is_some_and(|until| now >= until) {
                relay.close(now, codes::SERVICE_RESTART, "server_shutdown");
            } else if now >= since + idle {
                relay.close(now, codes::GOING_AWAY, "idle_timeout");
            }
            relay.tick(now);
            if relay.poll(cx, now).is_ready() {
                return Poll::Ready(());
            }
            let next = relay.due().into_iter().chain(until.filter(|until| now < *until)).chain([now + LOOK]).min();
            timer.as_mut().reset(next.unwrap_or(now + LOOK).into());
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await;
    if let Some(fault) = &relay.fault {
        client.log_error(&format!("worker={} {fault}", session.worker));
    }
    if relay.has_given_up() { TunnelEnd::Cut } else { TunnelEnd::Whole }
}
