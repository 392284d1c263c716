//! Timeouts of clients. A connection has one timer, which checks all its deadlines now and then, instead of being set
//! for each.
//!
//! ```text
//!   waiting for   the next bytes of a head   Timeout
//!                 the whole head             RequestReadTimeout header=
//!                 the end of a handshake     RequestReadTimeout handshake=
//!                 a further request          KeepAliveTimeout
//!                 the client to accept bytes Timeout
//! ```
//!
//! While the front stops, [`last_call`](super::last_call) sets a deadline, too.
//!
//! The timeout on a request body is enforced where the body is received; workers are subject to `RequestTimeout`.

use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use super::last_call::LAST_CALL;
use super::{Client, ConnectionPhase};

/// The way to close a connection after a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// No further request within `KeepAliveTimeout`: close gracefully.
    Idle,
    /// The head of a request is incomplete: answer 408.
    Late,
    /// The client sends or accepts no bytes: close without a response.
    Stalled,
}

/// Longest interval between two checks.
const MAX_LOOK: Duration = Duration::from_secs(60);
/// Shortest interval between two checks.
const MIN_LOOK: Duration = Duration::from_millis(50);
/// Interval at which the client of an upload to a backend is checked for its departure.
const UPLOAD_LOOK: Duration = Duration::from_secs(1);

impl Client {
    /// The timeout that has passed, if any; otherwise the time of the next check.
    pub fn timed_out(&self, now: Instant) -> Result<Instant, Timeout> {
        let (deadline, verdict) = match (self.traffic().stalled_since(), self.phase()) {
            (Some(since), _) => (Some(since + self.timeout.get()), Timeout::Stalled),
            (None, ConnectionPhase::Kept) => (Some(self.since() + self.keep_alive().within()), Timeout::Idle),
            (None, ConnectionPhase::Fresh) => (self.head_by(), Timeout::Stalled),
            (None, ConnectionPhase::Head) => (self.head_by(), Timeout::Late),
            (None, ConnectionPhase::Request) => (None, Timeout::Stalled),
        };
        let deadline = deadline.into_iter().chain(self.last_call()).min();
        match deadline {
            Some(deadline) if deadline <= now => Err(verdict),
            deadline => Ok(self.look_again(now).min(deadline.unwrap_or(now + MAX_LOOK))),
        }
    }

    /// Deadline for the next bytes of a head, or for the whole head if that is earlier, so that trickled fields do not
    /// extend it.
    fn head_by(&self) -> Option<Instant> {
        let more = self.traffic().heard_at() + self.timeout.get();
        let whole = self.pace().deadline(self.since(), self.traffic().received());
        Some(whole.map_or(more, |whole| whole.min(more)))
    }

    /// Time of the next check: early enough for the shortest timeout that may begin meanwhile.
    pub fn look_again(&self, now: Instant) -> Instant {
        let shortest = self.shortest_wait.min(self.timeout.get());
        let shortest = match self.pace().within {
            Duration::ZERO => shortest,
            within => shortest.min(within),
        };
        let shortest = if self.shared.is_stopping() { shortest.min(LAST_CALL) } else { shortest };
        let shortest = if self.is_uploading() { shortest.min(UPLOAD_LOOK) } else { shortest };
        now + shortest.clamp(MIN_LOOK, MAX_LOOK)
    }
}

/// Waits for `beginning`; `None` after a timeout.
pub async fn patiently<T>(client: &Client, beginning: impl Future<Output = T>) -> Option<T> {
    let mut beginning = pin!(beginning);
    let mut timer = pin!(sleep_until(client.look_again(Instant::now()).into()));
    let mut stopping = false;
    std::future::poll_fn(|cx| {
        client.remember(cx);
        if client.shared.is_stopping() && !stopping {
            stopping = true;
            timer.as_mut().reset(Instant::now().into());
        }
        if let Poll::Ready(done) = beginning.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        while timer.as_mut().poll(cx).is_ready() {
            match client.timed_out(Instant::now()) {
                Ok(later) => timer.as_mut().reset(later.into()),
                Err(_) => return Poll::Ready(None),
            }
        }
        Poll::Pending
    })
    .await
}
