//! A stop, as one connection sees it. A request that the client sent before it could know of the stop is
//! answered, and the answer says `Connection: close`.
//!
//! ```text
//!   waiting for                     until
//!   the first request, a handshake  a second after the stop began, or after the connection did
//!   the rest of a head              the same
//!   a further request               a second after the last answer: who was idle for longer is closed at once
//!   an answer                       it has gone out: GracefulShutdownTimeout is the master's business
//! ```

use std::time::{Duration, Instant};

use super::{Client, Phase};

/// So long a request may be on its way: a round trip to the other side of the earth, and a segment that was lost.
pub const LAST_CALL: Duration = Duration::from_secs(1);

impl Client {
    /// While the front stops: by when the client must have sent what the connection waits for.
    pub(super) fn last_call(&self) -> Option<Instant> {
        let stopping = self.shared.stopping_since()?;
        match self.phase() {
            Phase::Request => None,
            Phase::Kept => Some(self.since() + LAST_CALL),
            Phase::Fresh | Phase::Head => Some(self.since().max(stopping) + LAST_CALL),
        }
    }
}
