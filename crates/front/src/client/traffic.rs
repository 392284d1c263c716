//! Bytes received from and sent to a client, with the times that timeouts need.

use std::cell::Cell;
use std::time::Instant;

/// The traffic of one connection.
pub struct ClientTraffic {
    /// When bytes were last received.
    last_received: Cell<Instant>,
    /// When the client stopped accepting bytes.
    stalled: Cell<Option<Instant>>,
    /// Received bytes that are not counted for a request yet.
    received: Cell<u64>,
    /// Sent bytes that are not counted for a request yet.
    sent: Cell<u64>,
    /// Bytes received and sent in all.
    moved: Cell<u64>,
}

impl ClientTraffic {
    /// The traffic of a connection accepted at `now`.
    pub fn new(now: Instant) -> ClientTraffic {
        ClientTraffic {
            last_received: Cell::new(now),
            stalled: Cell::new(None),
            received: Cell::new(0),
            sent: Cell::new(0),
            moved: Cell::new(0),
        }
    }

    /// Counts `n` bytes received at `now`.
    pub fn receive(&self, n: usize, now: Instant) {
        self.received.update(|received| received + n as u64);
        self.moved.update(|moved| moved + n as u64);
        self.last_received.set(now);
    }

    /// Counts `n` sent bytes.
    pub fn send(&self, n: usize) {
        self.sent.update(|sent| sent + n as u64);
        self.moved.update(|moved| moved + n as u64);
        self.stalled.set(None);
    }

    /// Notes that the socket accepts no more bytes for now.
    pub fn stall(&self) {
        if self.stalled.get().is_none() {
            self.stalled.set(Some(Instant::now()));
        }
    }

    /// When bytes were last received.
    pub fn heard_at(&self) -> Instant {
        self.last_received.get()
    }

    /// When the client stopped accepting bytes; `None`: the client accepts them.
    pub fn stalled_since(&self) -> Option<Instant> {
        self.stalled.get()
    }

    /// Bytes received of the current request.
    pub fn received(&self) -> u64 {
        self.received.get()
    }

    /// Bytes received and sent in all.
    pub fn moved(&self) -> u64 {
        self.moved.get()
    }

    /// Bytes received and sent for the current request. Counting begins anew.
    pub fn take(&self) -> (u64, u64) {
        (self.received.take(), self.sent.take())
    }
}
