//! What the front and the connection to the store share: messages on their way, counts, wake-ups.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use base::log;
use config::StoreUrl;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::Notify;
use wire::broadcast::BroadcastMessage;
use wire::control::BroadcastTransportStatus;

use crate::envelope::{self, Content, Envelope, Unusable};
use crate::nodes::Nodes;
use crate::outbox::BoundedOutbox;

/// The channels of this server.
pub trait LocalChannels: Send + Sync {
    /// Sends an encoded message of another server to the subscribers of its channel.
    fn deliver(&self, encoded: &[u8]);
    /// All channels with their numbers of subscriptions. From now on changes are noted.
    fn all(&self) -> Vec<(Box<[u8]>, u64)>;
    /// Channels whose numbers have changed since the last call of this or of [`LocalChannels::all`].
    fn changes(&self) -> Vec<(Box<[u8]>, u64)>;
    /// Ends the notes of changes.
    fn forget(&self);
}

/// The way to other servers. Without a store it does nothing.
#[derive(Debug, Default)]
pub struct BroadcastRelay {
    is_on: AtomicBool,
    state: Mutex<State>,
    /// Notified for a message and for a changed channel.
    pub(crate) wanted: Notify,
    next: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    reconnects: AtomicU64,
    unusable: AtomicU64,
    /// Whether an unusable envelope was logged since the last connection.
    is_unusable_logged: AtomicBool,
    /// Whether another server has appeared that does not know the counts of this one.
    pub(crate) has_new_node: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Random number of this front; 0 until the first connection.
    node: u64,
    /// Store, without account and password.
    store: String,
    outbox: BoundedOutbox,
    nodes: Nodes,
    is_connected: bool,
    was_connected: bool,
    /// Why there is no connection, as last logged.
    why: String,
}

impl BroadcastRelay {
    /// Sends an encoded message to other servers, if there is a store. Never waits.
    pub fn publish(&self, encoded: &[u8]) {
        if !self.is_on.load(Relaxed) {
            return;
        }
        let mut state = self.lock();
        if state.outbox.push(encoded, Instant::now()) {
            let (store, why) = (&state.store, if state.is_connected { "is too slow" } else { "is away" });
            log::warn(
                "front",
                format_args!(
                    "BroadcastTransport {store} {why}; dropping further messages for other servers until there is room"
                ),
            );
        }
        drop(state);
        self.wanted.notify_one();
    }

    /// Handles a changed channel of this server.
    pub fn changed(&self) {
        if self.is_on.load(Relaxed) {
            self.wanted.notify_one();
        }
    }

    /// Number of subscriptions of other servers to a channel.
    pub fn presence(&self, channel: &[u8]) -> u64 {
        match self.is_on.load(Relaxed) {
            true => self.lock().nodes.presence(channel, Instant::now()),
            false => 0,
        }
    }

    /// Counts and state; `None` without a store.
    pub fn status(&self) -> Option<BroadcastTransportStatus> {
        let state = self.is_on.load(Relaxed).then(|| self.lock())?;
        Some(BroadcastTransportStatus {
            store: state.store.clone(),
            connected: state.is_connected,
            error: if state.is_connected { String::new() } else { state.why.clone() },
            nodes: state.nodes.count(Instant::now()),
            sent: self.sent.load(Relaxed),
            received: self.received.load(Relaxed),
            dropped: state.outbox.dropped(),
            unusable: self.unusable.load(Relaxed),
            reconnects: self.reconnects.load(Relaxed),
            waiting_bytes: state.outbox.bytes() as u64,
        })
    }

    /// Number of this server.
    pub(crate) fn node(&self) -> u64 {
        self.lock().node
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to collect messages for a store.
    pub(crate) fn begin(&self, store: &StoreUrl) -> Result<(), String> {
        let mut state = self.lock();
        if state.node == 0 {
            let mut number = [0; 8];
            SystemRandom::new().fill(&mut number).map_err(|_| "the system has no random numbers")?;
            state.node = u64::from_ne_bytes(number).max(1);
        }
        (state.store, state.was_connected, state.why) = (store.to_string(), false, String::new());
        self.is_on.store(true, Relaxed);
        Ok(())
    }

    /// Ends the collection of messages, and forgets other servers.
    pub(crate) fn end(&self) {
        self.is_on.store(false, Relaxed);
        let mut state = self.lock();
        state.outbox.clear();
        (state.nodes, state.is_connected) = (Nodes::default(), false);
    }

    /// Notes and logs a connection. One after a failure is as important as the failure.
    pub(crate) fn connected(&self) {
        let mut state = self.lock();
        state.is_connected = true;
        self.is_unusable_logged.store(false, Relaxed);
        if std::mem::replace(&mut state.was_connected, true) {
            self.reconnects.fetch_add(1, Relaxed);
        }
        let line = format!("BroadcastTransport {}: connected", state.store);
        match std::mem::take(&mut state.why).is_empty() {
            true => log::notice("front", line),
            false => log::warn("front", line),
        }
    }

    /// Notes the lack of a connection, and logs it if it is new or has another reason.
    pub(crate) fn away(&self, why: &str) {
        let mut state = self.lock();
        state.is_connected = false;
        if state.why != why {
            why.clone_into(&mut state.why);
            let advice = "messages reach this server only until there is a connection";
            log::warn("front", format_args!("BroadcastTransport {}: {why}; {advice}", state.store));
        }
    }

    /// Takes the next messages for the store, in envelopes.
    pub(crate) fn take(&self, most: usize, bytes: usize) -> Vec<Sending> {
        let mut state = self.lock();
        let node = state.node;
        let taken = state.outbox.take(most, bytes, Instant::now());
        drop(state);
        let enveloped = |encoded: Arc<[u8]>| {
            let channel = BroadcastMessage::read(&encoded).ok()?.channel.to_vec();
            Some(self.envelope(node, Some(channel), Content::Message(&encoded)))
        };
        taken.into_iter().filter_map(enveloped).collect()
    }

    /// A report of counts in an envelope.
    pub(crate) fn report(&self, body: &[u8]) -> Sending {
        self.envelope(self.node(), None, Content::Counts(body))
    }

    fn envelope(&self, node: u64, channel: Option<Vec<u8>>, content: Content<'_>) -> Sending {
        let number = self.next.fetch_add(1, Relaxed);
        Sending { node, number, channel, envelope: Envelope { node, number, content }.encode() }
    }

    /// Counts messages that the store has, or has not, accepted.
    pub(crate) fn sent(&self, messages: usize, are_accepted: bool) {
        match are_accepted {
            true => drop(self.sent.fetch_add(messages as u64, Relaxed)),
            false => self.lock().outbox.lost(messages),
        }
    }

    /// Drops messages that wait too long, and forgets servers that do not report any more.
    pub(crate) fn expire(&self) {
        let mut state = self.lock();
        state.outbox.expire(Instant::now());
        state.nodes.expire(Instant::now());
    }

    /// Handles an envelope from the store. Messages must have come by their own channel, if there is one for each.
    pub(crate) fn receive(&self, bytes: &[u8], by: Option<&[u8]>, to: &dyn LocalChannels) {
        let envelope = match Envelope::read(bytes) {
            Ok(envelope) => envelope,
            Err(Unusable::Version(version)) => return self.unusable_version(version),
            Err(Unusable::Malformed) => return self.malformed(),
        };
        if envelope.node == self.node() {
            return;
        }
        match envelope.content {
            Content::Message(encoded) => match BroadcastMessage::read(encoded) {
                Ok(message) if by.is_none_or(|by| by == message.channel) => {
                    self.received.fetch_add(1, Relaxed);
                    to.deliver(encoded);
                }
                _ => self.malformed(),
            },
            Content::Counts(body) => match envelope::counts(body) {
                Ok(counts) => {
                    if self.lock().nodes.report(envelope.node, &counts, Instant::now()) {
                        self.has_new_node.store(true, Relaxed);
                        self.wanted.notify_one();
                    }
                }
                Err(_) => self.malformed(),
            },
        }
    }

    /// Drops an envelope of another version.
    pub(crate) fn unusable_version(&self, version: u8) {
        let own = envelope::VERSION;
        let advice = "use one release on all servers";
        self.unusable(format_args!("messages of version {version}, because this release has version {own}; {advice}"));
    }

    /// Drops an envelope that is malformed.
    pub(crate) fn malformed(&self) {
        self.unusable(format_args!("malformed messages; choose a prefix that nobody else uses"));
    }

    /// Counts an envelope that is dropped, and logs the first since the last connection.
    fn unusable(&self, what: impl std::fmt::Display) {
        self.unusable.fetch_add(1, Relaxed);
        if !self.is_unusable_logged.swap(true, Relaxed) {
            let store = self.lock().store.clone();
            log::warn("front", format_args!("BroadcastTransport {store}: dropping {what}"));
        }
    }
}

/// An envelope on its way to the store.
#[derive(Debug)]
pub(crate) struct Sending {
    pub node: u64,
    pub number: u64,
    /// The channel of a message; `None` for a report of counts.
    pub channel: Option<Vec<u8>>,
    pub envelope: Vec<u8>,
}
