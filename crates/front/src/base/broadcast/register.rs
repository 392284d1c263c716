//! Which workers subscribe to which channels. Without I/O but for [`Sink`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use wire::Malformed;
use wire::broadcast::{BroadcastMessage, MAX_CHANNELS, MAX_SUBSCRIPTIONS, check_channel};
use wire::control::{BroadcastStatus, WorkerId};

use super::subscriber::{Pushed, Sink, Subscriber};

/// The channels of all workers.
pub struct Register<S> {
    /// Number of subscriptions, at least 1, of each worker to each channel.
    channels: HashMap<Box<[u8]>, BTreeMap<WorkerId, u32>>,
    workers: BTreeMap<WorkerId, Known<S>>,
    counts: BroadcastStatus,
    /// Channels whose number of subscriptions has changed; `None`: nobody asks for them.
    changed: Option<HashSet<Box<[u8]>>>,
}

struct Known<S> {
    subscriber: Subscriber<S>,
    /// Number of entries of this worker in [`Register::channels`].
    channels: usize,
}

impl<S> Default for Register<S> {
    fn default() -> Self {
        Register {
            channels: HashMap::new(),
            workers: BTreeMap::new(),
            counts: BroadcastStatus::default(),
            changed: None,
        }
    }
}

impl<S: Sink> Register<S> {
    /// Sets the number of subscriptions of a worker to a channel. Fails outside of the limits.
    pub fn subscribe(
        &mut self,
        worker: WorkerId,
        sink: impl FnOnce() -> S,
        channel: &[u8],
        count: u32,
    ) -> Result<(), Malformed> {
        check_channel(channel)?;
        if count > MAX_SUBSCRIPTIONS {
            return Err(Malformed("more subscriptions to a channel than allowed"));
        }
        if let Some(changed) = &mut self.changed {
            changed.insert(channel.into());
        }
        if count == 0 {
            if self.leave(worker, channel)
                && let Some(known) = self.workers.get_mut(&worker)
            {
                known.channels -= 1;
            }
            return Ok(());
        }
        let new = || Known { subscriber: Subscriber::new(sink()), channels: 0 };
        let known = self.workers.entry(worker).or_insert_with(new);
        let subscribed = self.channels.get_mut(channel).and_then(|workers| workers.get_mut(&worker));
        if let Some(subscribed) = subscribed {
            *subscribed = count;
            return Ok(());
        }
        if known.channels >= MAX_CHANNELS && known.subscriber.is_limited() {
            return Err(Malformed("subscriptions to more channels than allowed"));
        }
        known.channels += 1;
        self.channels.entry(channel.into()).or_default().insert(worker, count);
        Ok(())
    }

    /// Returns whether the worker had subscriptions to the channel.
    fn leave(&mut self, worker: WorkerId, channel: &[u8]) -> bool {
        let Some(workers) = self.channels.get_mut(channel) else { return false };
        let had = workers.remove(&worker).is_some();
        if workers.is_empty() {
            self.channels.remove(channel);
        }
        had
    }

    /// Forgets a worker.
    pub fn gone(&mut self, worker: WorkerId) {
        if self.workers.remove(&worker).is_some() {
            self.channels.retain(|channel, workers| {
                if workers.remove(&worker).is_some()
                    && let Some(changed) = &mut self.changed
                {
                    changed.insert(channel.clone());
                }
                !workers.is_empty()
            });
        }
    }

    /// Sends an encoded message of a worker to the subscribers of its channel. Returns the workers that lose messages
    /// from now on.
    pub fn publish(&mut self, encoded: &[u8]) -> Result<Vec<WorkerId>, Malformed> {
        let slow = self.deliver(encoded)?;
        self.counts.published += 1;
        Ok(slow)
    }

    /// As [`Register::publish`], for a message of another server.
    pub fn deliver(&mut self, encoded: &[u8]) -> Result<Vec<WorkerId>, Malformed> {
        let message = BroadcastMessage::read(encoded)?;
        let mut slow = Vec::new();
        let Some(workers) = self.channels.get(message.channel) else { return Ok(slow) };
        let shared: Arc<[u8]> = encoded.into();
        for worker in workers.keys() {
            let Some(known) = self.workers.get_mut(worker) else { continue };
            let pushed = known.subscriber.push(shared.clone());
            match pushed {
                Pushed::Accepted => self.counts.sent += 1,
                Pushed::Dropped => self.counts.dropped += 1,
                Pushed::DroppedFirst => {
                    self.counts.dropped += 1;
                    slow.push(*worker);
                }
            }
        }
        Ok(slow)
    }

    /// Handles a worker's confirmation of messages.
    pub fn taken(&mut self, worker: WorkerId, cost: usize) {
        if let Some(known) = self.workers.get_mut(&worker) {
            let dropped = known.subscriber.taken(cost);
            self.counts.dropped += dropped;
            self.counts.sent = self.counts.sent.saturating_sub(dropped);
        }
    }

    /// Number of subscriptions to a channel.
    pub fn presence(&self, channel: &[u8]) -> u64 {
        self.channels.get(channel).map_or(0, |workers| workers.values().map(|count| u64::from(*count)).sum())
    }

    /// All channels with their numbers of subscriptions. From now on changes are noted.
    pub fn watch(&mut self) -> Vec<(Box<[u8]>, u64)> {
        self.changed = Some(HashSet::new());
        self.channels.keys().map(|channel| (channel.clone(), self.presence(channel))).collect()
    }

    /// Channels with changed numbers of subscriptions since the last call of this or of [`Register::watch`].
    pub fn changes(&mut self) -> Vec<(Box<[u8]>, u64)> {
        let changed = self.changed.as_mut().map(std::mem::take).unwrap_or_default();
        changed.into_iter().map(|channel| (channel.clone(), self.presence(&channel))).collect()
    }

    /// Ends the notes of changes.
    pub fn unwatch(&mut self) {
        self.changed = None;
    }

    /// Counts since the start, and current numbers.
    pub fn status(&self) -> BroadcastStatus {
        let subscriptions = self.channels.values().flat_map(BTreeMap::values).map(|count| u64::from(*count)).sum();
        BroadcastStatus { channels: self.channels.len() as u64, subscriptions, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::hash::BuildHasher;
    use std::rc::Rc;

    use super::*;

    #[derive(Default, Clone)]
    struct Socket(Rc<RefCell<Vec<Vec<u8>>>>);

    impl Sink for Socket {
        fn send(&self, message: &[u8]) -> bool {
            self.0.borrow_mut().push(message.to_vec());
            true
        }
    }

    fn worker(serial: u64) -> WorkerId {
        WorkerId { slot: 0, serial }
    }

    fn encoded(channel: &[u8], message: &[u8]) -> Vec<u8> {
        BroadcastMessage { channel, message }.encode().expect("within the limits")
    }

    /// Names come from clients: without a seed, they could be chosen so that all have one hash.
    #[test]
    fn the_hashes_of_names_differ_from_map_to_map() {
        let [first, second] = [(); 2].map(|()| {
            let mut register = Register::<Socket>::default();
            register.watch();
            let changed = register.changed.as_ref().map(|changed| changed.hasher().hash_one("a"));
            (register.channels.hasher().hash_one("a"), changed.expect("noted"))
        });
        assert!(first.0 != second.0 && first.1 != second.1);
    }

    #[test]
    fn each_worker_with_subscribers_gets_a_message_once() {
        let (mut register, sockets) = (Register::default(), [Socket::default(), Socket::default(), Socket::default()]);
        for (number, channel, count) in [(0, b"a", 3), (1, b"a", 1), (1, b"b", 1), (2, b"b", 2)] {
            let sink = || sockets[number].clone();
            register.subscribe(worker(number as u64), sink, channel, count).expect("within the limits");
        }
        assert_eq!((register.presence(b"a"), register.presence(b"b"), register.presence(b"c")), (4, 3, 0));
        assert_eq!(register.publish(&encoded(b"a", b"one")), Ok(Vec::new()));
        assert_eq!(register.publish(&encoded(b"c", b"nobody")), Ok(Vec::new()));
        assert_eq!(sockets.map(|socket| socket.0.borrow().len()), [1, 1, 0]);
        let status = register.status();
        assert_eq!((status.published, status.sent, status.channels, status.subscriptions), (2, 2, 2, 7));
    }

    #[test]
    fn subscriptions_end_with_their_last_one_and_with_their_worker() {
        let mut register = Register::<Socket>::default();
        for (number, count) in [(0, 1), (1, 2), (0, 0), (0, 0), (1, 1)] {
            register.subscribe(worker(number), Socket::default, b"a", count).expect("within the limits");
        }
        assert_eq!(register.presence(b"a"), 1);
        register.gone(worker(1));
        register.gone(worker(7));
        assert_eq!(register.presence(b"a"), 0);
        assert!(register.channels.is_empty());
    }

    #[test]
    fn changed_channels_are_noted_while_somebody_asks_for_them() {
        let mut register = Register::<Socket>::default();
        let subscribe = |register: &mut Register<Socket>, number, channel: &[u8], count| {
            register.subscribe(worker(number), Socket::default, channel, count).expect("within the limits");
        };
        subscribe(&mut register, 1, b"a", 2);
        assert_eq!(register.changes(), []);
        assert_eq!(register.watch(), [(b"a"[..].into(), 2)]);
        assert_eq!(register.changes(), []);
        subscribe(&mut register, 2, b"a", 1);
        assert_eq!(register.changes(), [(b"a"[..].into(), 3)]);
        register.gone(worker(2));
        subscribe(&mut register, 1, b"a", 0);
        assert_eq!(register.changes(), [(b"a"[..].into(), 0)]);
        register.unwatch();
        subscribe(&mut register, 1, b"a", 1);
        assert_eq!(register.changes(), []);
    }

    #[test]
    fn a_worker_has_a_limited_number_of_channels() {
        let mut register = Register::<Socket>::default();
        for number in 0..MAX_CHANNELS {
            let name = number.to_string();
            register.subscribe(worker(1), Socket::default, name.as_bytes(), 1).expect("within the limits");
        }
        assert!(register.subscribe(worker(1), Socket::default, b"more", 1).is_err());
        register.subscribe(worker(1), Socket::default, b"7", 0).expect("within the limits");
        register.subscribe(worker(1), Socket::default, b"more", 1).expect("there is room again");
        assert!(register.subscribe(worker(1), Socket::default, b"more", MAX_SUBSCRIPTIONS + 1).is_err());
        assert!(register.subscribe(worker(1), Socket::default, b"", 1).is_err());
        assert!(register.publish(b"").is_err());
    }
}
