//! Messages that wait for the store: bounded in bytes and in time, so that a store that is away costs neither memory
//! nor the time of publishers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum size of the waiting messages in bytes.
const WAITING: usize = 8 * 1024 * 1024;
/// Time after which a message that could not be sent is dropped.
const MAX_AGE: Duration = Duration::from_secs(10);
/// Bytes that a message costs beside its content.
const AROUND: usize = 64;

#[derive(Debug, Default)]
pub struct BoundedOutbox {
    waiting: VecDeque<(Instant, Arc<[u8]>)>,
    bytes: usize,
    dropped: u64,
    /// Whether the last message was dropped.
    is_full: bool,
}

impl BoundedOutbox {
    /// Adds a message. Returns whether it is the first that is dropped because too many wait.
    pub fn push(&mut self, message: &[u8], now: Instant) -> bool {
        self.expire(now);
        if self.bytes + message.len() + AROUND > WAITING {
            self.dropped += 1;
            return !std::mem::replace(&mut self.is_full, true);
        }
        self.bytes += message.len() + AROUND;
        self.waiting.push_back((now, message.into()));
        false
    }

    /// Drops messages that have waited too long.
    pub fn expire(&mut self, now: Instant) {
        while self.waiting.front().is_some_and(|(since, _)| now.saturating_duration_since(*since) > MAX_AGE) {
            self.pop();
            self.dropped += 1;
        }
    }

    /// Takes the oldest messages, up to these limits but for the first.
    pub fn take(&mut self, most: usize, bytes: usize, now: Instant) -> Vec<Arc<[u8]>> {
        self.expire(now);
        let (mut taken, mut size) = (Vec::new(), 0);
        while let Some((_, next)) = self.waiting.front() {
            size += next.len();
            if taken.len() >= most || size > bytes && !taken.is_empty() {
                break;
            }
            taken.extend(self.pop());
        }
        self.is_full &= !self.waiting.is_empty();
        taken
    }

    fn pop(&mut self) -> Option<Arc<[u8]>> {
        let (_, message) = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(message.len() + AROUND);
        Some(message)
    }

    /// Drops all messages.
    pub fn clear(&mut self) {
        self.dropped += self.waiting.len() as u64;
        *self = BoundedOutbox { dropped: self.dropped, ..BoundedOutbox::default() };
    }

    /// Counts messages that were taken and lost.
    pub fn lost(&mut self, count: usize) {
        self.dropped += count as u64;
    }

    /// Number of messages that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Size of the waiting messages in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_away_costs_bounded_memory_and_is_reported_once() {
        let (mut outbox, now) = (BoundedOutbox::default(), Instant::now());
        let reports = (0..300).filter(|_| outbox.push(&[0; 64 * 1024], now)).count();
        assert_eq!(reports, 1);
        assert!(outbox.bytes() <= WAITING);
        assert_eq!(outbox.dropped() as usize + outbox.waiting.len(), 300);
        while !outbox.take(256, 256 * 1024, now).is_empty() {}
        assert_eq!(outbox.bytes(), 0);
        assert!(!outbox.push(b"x", now));
        assert!((0..300).any(|_| outbox.push(&[0; 64 * 1024], now)), "the next time is reported again");
    }

    #[test]
    fn messages_keep_their_order_and_expire() {
        let (mut outbox, now) = (BoundedOutbox::default(), Instant::now());
        for number in 0..10 {
            outbox.push(&[number], now + Duration::from_secs(number.into()));
        }
        let later = now + MAX_AGE + Duration::from_millis(2500);
        let taken: Vec<u8> = outbox.take(4, 1000, later).iter().map(|message| message[0]).collect();
        assert_eq!((taken, outbox.dropped()), (vec![3, 4, 5, 6], 3));
        outbox.clear();
        assert_eq!((outbox.dropped(), outbox.bytes()), (6, 0));
    }

    #[test]
    fn what_is_taken_at_once_is_limited() {
        let (mut outbox, now) = (BoundedOutbox::default(), Instant::now());
        for _ in 0..5 {
            outbox.push(&[0; 100], now);
        }
        assert_eq!(outbox.take(10, 250, now).len(), 2);
        assert_eq!(outbox.take(10, 50, now).len(), 1);
        assert_eq!(outbox.take(1, 1000, now).len(), 1);
    }
}
