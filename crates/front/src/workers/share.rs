//! Limits how much a task reads from one worker at once, so that a busy worker does not starve the thread's clients.

use std::future::Future;
use std::pin::pin;
use std::task::Context;

/// Maximum number of packets read in one turn.
const PACKETS: usize = 32;
/// Maximum number of bytes read in one turn; the packet that reaches the limit is the last.
const BYTES: usize = 32 * 1024;

/// Number of entries that the task of one worker may still read in this turn.
pub struct Share {
    packets: usize,
    bytes: usize,
}

impl Share {
    /// A full share, for the begin of a turn.
    pub fn new() -> Share {
        Share { packets: PACKETS, bytes: BYTES }
    }

    /// A share for the rest of a worker that has ended: up to `packets`, of any length.
    pub fn of_last_words(packets: usize) -> Share {
        Share { packets, bytes: usize::MAX }
    }

    /// Deducts a packet of `bytes` bytes.
    pub fn spend(&mut self, bytes: usize) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Whether the turn is over.
    pub fn is_spent(&self) -> bool {
        self.packets == 0 || self.bytes == 0
    }
}

/// Schedules the task of `cx` behind all other tasks and the I/O driver, as `yield_now` does.
pub fn go_on_later(cx: &mut Context<'_>) {
    let _ = pin!(tokio::task::yield_now()).poll(cx);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_after_some_packets_or_some_bytes() {
        let packets = |bytes: usize| {
            let mut share = Share::new();
            (1..).find(|_| {
                share.spend(bytes);
                share.is_spent()
            })
        };
        assert_eq!([packets(0), packets(BYTES / 4), packets(10 * BYTES)], [Some(PACKETS), Some(4), Some(1)]);
    }
}
