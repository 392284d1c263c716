//! HTTP/2 connections. h2 implements the protocol. This module adds timeouts, limits on numbers of frames, and the
//! conversion of a stream to a request.
//!
//! ```text
//!   connection (this file) ──▶ io: counts ──▶ h2 ──accept──▶ stream: a task a request ─▶ request::answer
//!                                                   ◀── send: at the client's speed ──────────────┤
//!                                                   ◀─▶ websocket: a tunnel ──────────────────────┘
//! ```

mod floods;
mod frames;
mod interim;
mod io;
mod meter;
mod receive;
mod send;
mod stream;
mod websocket;

pub use interim::Interim;
pub use receive::Upload;
pub use stream::Http2Stream;

use std::fmt::Display;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::Reason;
use h2::server::{self, Builder};
use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::base::protocol::buffer_size;
use super::base::shared::count;
use super::client::Client;
use super::client::timeouts::{Timeout, patiently};
use super::client::transport::Transport;
use super::request::services::Connection;
use config::Config;
use io::FrameIo;

/// Maximum number of requests of a connection that are begun before other tasks run; one packet may contain a hundred.
const TURN: usize = 8;
/// Time after GOAWAY until a connection without streams is closed.
const LEAVE: Duration = Duration::from_secs(1);
/// How long a stream that the front has reset is remembered. Frames that the client sends before it sees the reset are
/// no error.
const REMEMBERED: Duration = Duration::from_secs(10);
/// Minimum for the number of remembered streams; browsers use a hundred at once.
const MAX_REMEMBERED: usize = 256;

/// Serves a connection until it ends.
pub async fn drive(connection: &Rc<Connection>, line: Transport) {
    let client = &connection.client;
    // Held responses may send nothing for long. Fails only for a client that has gone.
    let _ = line.probe_when_quiet();
    let io = FrameIo::new(line, &client.config.http2);
    client.set_multiplexed();
    let handshake = builder(&client.config).handshake(io.clone());
    let end = match patiently(client, handshake).await {
        Some(Ok(machine)) => {
            let stopping = Rc::default();
            Driver { client, connection, machine, io: io.clone(), leaving: None, calmed: false, stopping }.run().await
        }
        Some(Err(_)) => ConnectionEnd::Closed,
        None => ConnectionEnd::GivenUp,
    };
    io.close();
    if let ConnectionEnd::Closed = end {
        // Closing with unread bytes sends a reset, which may discard our last frames at the client.
        let _ = tokio::time::timeout(LEAVE, io.discard()).await;
    }
}

enum ConnectionEnd {
    /// Ended by h2 or the client, with a GOAWAY or a close.
    Closed,
    /// The client was too slow.
    GivenUp,
}

fn builder(config: &Config) -> Builder {
    let limits = &config.http2;
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(limits.streams)
        .initial_window_size(limits.window)
        .initial_connection_window_size(limits.window.max(1024 * 1024))
        .max_header_list_size(buffer_size(&config.limits).min(u32::MAX as usize) as u32)
        .max_concurrent_reset_streams(MAX_REMEMBERED.max(2 * limits.streams as usize))
        .reset_stream_duration(REMEMBERED)
        // h2 counts over a connection's whole life; `floods` counts for a minute instead.
        .max_local_error_reset_streams(None)
        .max_pending_accept_reset_streams(limits.resets as usize);
    if limits.websockets {
        builder.enable_connect_protocol();
    }
    builder
}

struct Driver<'a> {
    client: &'a Client,
    connection: &'a Rc<Connection>,
    machine: server::Connection<FrameIo, Bytes>,
    io: FrameIo,
    /// When GOAWAY was sent.
    leaving: Option<Instant>,
    /// ENHANCE_YOUR_CALM was sent.
    calmed: bool,
    /// Wakes the tunnels when the front stops.
    stopping: Rc<Notify>,
}

impl Driver<'_> {
    async fn run(mut self) -> ConnectionEnd {
        let mut timer = pin!(sleep_until(self.client.look_again(Instant::now()).into()));
        std::future::poll_fn(|cx| {
            self.client.remember(cx);
            if self.client.shared.is_stopping() {
                self.stopping.notify_waiters();
            }
            loop {
                if self.must_leave() {
                    self.leave();
                    timer.as_mut().reset((Instant::now() + LEAVE).into());
                }
                if self.poll_streams(cx).is_ready() {
                    return Poll::Ready(ConnectionEnd::Closed);
                }
                if self.io.is_flooded() && !self.calmed {
                    self.calmed = true;
                    self.report(&self.io.flooded_with().unwrap_or_default());
                    self.machine.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                    continue;
                }
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                match self.look(Instant::now()) {
                    Some(later) => timer.as_mut().reset(later.into()),
                    None => return Poll::Ready(ConnectionEnd::GivenUp),
                }
            }
        })
        .await
    }

    /// Runs h2, and spawns a task for each stream that it accepts.
    fn poll_streams(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..TURN {
            let (request, respond) = match ready!(self.machine.poll_accept(cx)) {
                Some(Ok(accepted)) => accepted,
                Some(Err(error)) => {
                    if error.is_library() && !self.calmed {
                        self.report(&error);
                    }
                    return Poll::Ready(());
                }
                None => return Poll::Ready(()),
            };
            let traffic = self.io.traffic(respond.stream_id().into());
            tokio::task::spawn_local(stream::serve(
                self.connection.clone(),
                request,
                respond,
                Http2Stream::new(traffic, self.stopping.clone()),
            ));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Logs and counts a connection that is closed because of the client's misbehaviour.
    fn report(&self, why: &dyn Display) {
        count(&self.client.shared.counters.http2_closed);
        let served = self.client.served.get();
        self.client.log_error(&format!("HTTP/2 connection closed after {served} requests: {why}"));
    }

    fn must_leave(&self) -> bool {
        let served_all = self.client.keep_alive().is_enough(self.client.served.get());
        // A connection that begins during a drain gets one response: a client would open another at once.
        let drains = self.client.shared.is_draining() && self.client.served.get() > 0;
        let must_end =
            drains || self.client.shared.is_stopping() || self.client.is_evicted() || self.client.must_close();
        self.leaving.is_none() && (served_all || must_end)
    }

    /// Accepts no further requests; running ones are answered.
    fn leave(&mut self) {
        self.leaving = Some(Instant::now());
        self.machine.graceful_shutdown();
    }

    /// The time of the next check; `None`: the client was too slow.
    fn look(&mut self, now: Instant) -> Option<Instant> {
        if self.leaving.is_some_and(|since| now >= since + LEAVE) && !self.machine.has_streams() {
            return None;
        }
        match self.client.timed_out(now) {
            Ok(later) if self.leaving.is_some() => Some(later.min(now + LEAVE)),
            Ok(later) => Some(later),
            Err(Timeout::Idle) if self.leaving.is_none() => {
                self.leave();
                Some(now + LEAVE)
            }
            Err(Timeout::Idle) => Some(now + LEAVE),
            Err(Timeout::Late | Timeout::Stalled) => None,
        }
    }
}
