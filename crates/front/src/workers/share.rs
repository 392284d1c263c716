//! How much of what a worker sends is read at once. A worker that always has more must not keep the thread from its clients.

use std::future::Future;
use std::pin::pin;
use std::task::Context;

/// Packets that are read at once.
const PACKETS: usize = 32;
/// Bytes in packets that are read at once; the packet that exceeds it is the last one.
const BYTES: usize = 32 * 1024;

/// What may still be read in this turn of the task that listens to a worker.
pub struct Share {
    packets: usize,
    bytes: usize,
}

impl Share {
    /// A turn begins.
    pub fn new() -> Share {
        Share { packets: PACKETS, bytes: BYTES }
    }

    /// A turn for all that is left of a worker whose process has ended, if it is no more than `packets`.
    pub fn of_last_words(packets: usize) -> Share {
        Share { packets, bytes: usize::MAX }
    }

    /// A packet of so many bytes was read.
    pub fn spend(&mut self, bytes: usize) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Whether nothing more may be read in this turn.
    pub fn is_spent(&self) -> bool {
        self.packets == 0 || self.bytes == 0
    }
}

/// Has the task of `cx` woken after all others, and what has come from sockets, had their turn.
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
