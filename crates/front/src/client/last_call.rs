//! A front's stop, as one connection sees it. A request that the client sent before it could notice the stop is
//! answered, with `Connection: close`.
//!
//! ```text
//!   waiting for                     until
//!   the first request, a handshake  a second after the stop began, or after the connection did
//!   the rest of a head              the same
//!   a further request               a second after the last response: a longer idle connection is closed at once
//!   an answer                       the response is sent; the master enforces GracefulShutdownTimeout
//! ```

use std::time::{Duration, Instant};

use super::{Client, ConnectionPhase};

/// Longest time that a request may be in flight: a round trip around the earth, and a retransmission.
pub const LAST_CALL: Duration = Duration::from_secs(1);

impl Client {
    /// While the front stops: deadline for the bytes that the connection waits for.
    pub(super) fn last_call(&self) -> Option<Instant> {
        let stopping = self.shared.stopping_since()?;
        match self.phase() {
            ConnectionPhase::Request => None,
            ConnectionPhase::Kept => Some(self.since() + LAST_CALL),
            ConnectionPhase::Fresh | ConnectionPhase::Head => Some(self.since().max(stopping) + LAST_CALL),
        }
    }
}
