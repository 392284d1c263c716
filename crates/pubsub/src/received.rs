//! The way of a store's messages to the subscribers of this server.

use std::sync::Arc;

use crate::relay::{BroadcastRelay, LocalChannels};

/// Where envelopes of the store go.
pub struct Received {
    relay: Arc<BroadcastRelay>,
    channels: Arc<dyn LocalChannels>,
}

impl Received {
    pub fn new(relay: Arc<BroadcastRelay>, channels: Arc<dyn LocalChannels>) -> Received {
        Received { relay, channels }
    }

    /// Handles an envelope. `by` is the channel by which the store has sent it, if it has one for each.
    pub fn receive(&self, envelope: &[u8], by: Option<&[u8]>) {
        self.relay.receive(envelope, by, &*self.channels);
    }

    /// Number of this server.
    pub fn node(&self) -> u64 {
        self.relay.node()
    }

    /// Handles a payload of another version.
    pub fn unusable_version(&self, version: &str) {
        match version.parse() {
            Ok(version) => self.relay.unusable_version(version),
            Err(_) => self.malformed(),
        }
    }

    /// Handles a payload that is malformed.
    pub fn malformed(&self) {
        self.relay.malformed();
    }
}
