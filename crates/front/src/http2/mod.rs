//! HTTP/2 connections. The crate h2 knows the protocol; here is what it does not: the time that a client may take, the
//! number of frames that it may send, and how a stream becomes a request.
//!
//! ```text
//!   connection (this file) ──▶ io: counts ──▶ h2 ──accept──▶ stream: a task a request ─▶ request::answer
//!                                                   ◀── send: at the client's speed ──────────────┘
//! ```

mod floods;
mod frames;
mod interim;
mod io;
mod meter;
mod receive;
mod send;
mod stream;

pub use interim::Interim;
pub use receive::Upload;
pub use stream::Stream;

use std::fmt::Display;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::Reason;
use h2::server::{self, Builder};
use tokio::time::sleep_until;

use super::base::protocol::buffer_size;
use super::base::shared::count;
use super::client::Client;
use super::client::timeouts::{Timeout, patiently};
use super::client::transport::Transport;
use super::request::services::Connection;
use config::Config;
use io::FrameIo;

/// Requests of a connection that are begun before others have their turn: a client of HTTP/2 may have a hundred in one
/// packet, one of HTTP/1 has one.
const TURN: usize = 8;
/// After GOAWAY a connection without streams is closed after so long.
const LEAVE: Duration = Duration::from_secs(1);
/// A stream that we have reset is remembered for so long: until then the client may not know, and what it sends is no mistake.
const REMEMBERED: Duration = Duration::from_secs(10);
/// So many streams that we have reset are remembered at least; browsers have a hundred at once.
const MOST_REMEMBERED: usize = 256;

/// Serves a connection to its end.
pub async fn drive(connection: &Rc<Connection>, line: Transport) {
    let client = &connection.client;
    let io = FrameIo::new(line, &client.config.http2);
    client.multiplexes();
    let handshake = builder(&client.config).handshake(io.clone());
    let end = match patiently(client, handshake).await {
        Some(Ok(machine)) => {
            Driver { client, connection, machine, io: io.clone(), leaving: None, calmed: false }.run().await
        }
        Some(Err(_)) => ConnectionEnd::Closed,
        None => ConnectionEnd::GivenUp,
    };
    io.close();
    if let ConnectionEnd::Closed = end {
        // A close with bytes unread is a reset, which would take our last frames with it.
        let _ = tokio::time::timeout(LEAVE, io.discard()).await;
    }
}

/// How a connection has ended.
enum ConnectionEnd {
    /// h2 has said so to the client, or the client to h2.
    Closed,
    /// The client has had its time.
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
        .max_concurrent_reset_streams(MOST_REMEMBERED.max(2 * limits.streams as usize))
        .reset_stream_duration(REMEMBERED)
        // h2 would count over the whole life of a connection; `floods` counts those of a minute.
        .max_local_error_reset_streams(None)
        .max_pending_accept_reset_streams(limits.resets as usize);
    builder
}

struct Driver<'a> {
    client: &'a Client,
    connection: &'a Rc<Connection>,
    machine: server::Connection<FrameIo, Bytes>,
    io: FrameIo,
    /// When the client was sent GOAWAY.
    leaving: Option<Instant>,
    /// The client was sent ENHANCE_YOUR_CALM.
    calmed: bool,
}

impl Driver<'_> {
    async fn run(mut self) -> ConnectionEnd {
        let mut timer = pin!(sleep_until(self.client.look_again(Instant::now()).into()));
        std::future::poll_fn(|cx| {
            self.client.remember(cx);
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

    /// Lets h2 work, and starts a task for each stream that it accepts.
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
            tokio::task::spawn_local(stream::serve(self.connection.clone(), request, respond, Stream::new(traffic)));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// The connection ends before its client wants that, because of what the client did.
    fn report(&self, why: &dyn Display) {
        count(&self.client.shared.counters.http2_closed);
        let served = self.client.served.get();
        self.client.complain(&format!("HTTP/2 connection closed after {served} requests: {why}"));
    }

    fn must_leave(&self) -> bool {
        let served_all = self.client.keep_alive().is_enough(self.client.served.get());
        let asked = self.client.shared.is_stopping() || self.client.is_evicted() || self.client.must_close();
        self.leaving.is_none() && (served_all || asked)
    }

    /// No further requests; those under way are answered.
    fn leave(&mut self) {
        self.leaving = Some(Instant::now());
        self.machine.graceful_shutdown();
    }

    /// When to look again; `None`: the client has had its time.
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
