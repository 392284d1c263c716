//! Which client is too slow, and when to look at it again. A connection has one timer: it looks at these clocks now and
//! then instead of being set for each of them.
//!
//! ```text
//!   waiting for   the next bytes of a head   Timeout
//!                 the whole head             RequestReadTimeout header=
//!                 the end of a handshake     RequestReadTimeout handshake=
//!                 a further request          KeepAliveTimeout
//!                 that it accepts bytes      Timeout
//! ```
//!
//! While the front stops, [`last_call`](super::last_call) says what else is waited for.
//!
//! A request's body is waited for where it is received, and for the worker `RequestTimeout` is responsible.

use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use super::last_call::LAST_CALL;
use super::{Client, Phase};

/// What to do about a client that was too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// No further request within `KeepAliveTimeout`: close in order.
    Idle,
    /// The head of a request does not end: answer 408.
    Late,
    /// The client sends nothing, or takes nothing: close without a word.
    Stalled,
}

/// Between two looks at most, however long the limits are.
const LONGEST_LOOK: Duration = Duration::from_secs(60);
/// Between two looks at least, however short the limits are.
const SHORTEST_LOOK: Duration = Duration::from_millis(50);

impl Client {
    /// Which limit the client has passed, if any; otherwise when to look again.
    pub fn timed_out(&self, now: Instant) -> Result<Instant, Timeout> {
        let (deadline, verdict) = match (self.stalled_since(), self.phase()) {
            (Some(since), _) => (Some(since + self.timeouts().client), Timeout::Stalled),
            (None, Phase::Kept) => (Some(self.since() + self.keep_alive().within()), Timeout::Idle),
            (None, Phase::Fresh) => (self.head_by(), Timeout::Stalled),
            (None, Phase::Head) => (self.head_by(), Timeout::Late),
            (None, Phase::Request) => (None, Timeout::Stalled),
        };
        let deadline = deadline.into_iter().chain(self.last_call()).min();
        match deadline {
            Some(deadline) if deadline <= now => Err(verdict),
            deadline => Ok(self.look_again(now).min(deadline.unwrap_or(now + LONGEST_LOOK))),
        }
    }

    /// By when the next bytes of a head must come, or all of it when that is sooner: one field a second does not help a client.
    fn head_by(&self) -> Option<Instant> {
        let more = self.heard_at() + self.timeouts().client;
        let whole = self.pace().deadline(self.since(), self.received_bytes());
        Some(whole.map_or(more, |whole| whole.min(more)))
    }

    /// When to look again: early enough for the shortest limit that may begin meanwhile.
    pub fn look_again(&self, now: Instant) -> Instant {
        let timeouts = self.timeouts();
        let shortest = self.shortest_keep_alive.min(timeouts.client);
        let shortest = match self.pace().within {
            Duration::ZERO => shortest,
            within => shortest.min(within),
        };
        let shortest = if self.shared.is_stopping() { shortest.min(LAST_CALL) } else { shortest };
        now + shortest.clamp(SHORTEST_LOOK, LONGEST_LOOK)
    }
}

/// Waits for `beginning`; `None` when the client is too slow for it.
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
