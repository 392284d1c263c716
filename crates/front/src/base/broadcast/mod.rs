//! Messages of workers to subscribers in other workers (`Cameleer::Broadcast`), of all pools and generations, and of
//! other servers.
//!
//! ```text
//!   publisher ── Publish ──▶ Register: channel ──▶ Subscriber of each worker ── Broadcast ──▶ worker
//!                  │      ▲                        ◀────────────────────────── Taken ────────
//!                  ▼      │
//!                BroadcastRelay   LocalChannels ◀── other servers (`BroadcastTransport`)
//! ```
//!
//! The sockets of all workers are read by the first thread, so messages of one publisher stay in their order.

mod register;
mod subscriber;

use std::sync::{Arc, Mutex};

use wire::Malformed;
use wire::control::{BroadcastStatus, BroadcastTransportStatus, WorkerId};
use wire::transport::{SocketFront, WorkerOrder};

use super::lock::lock;
use base::log;
use pubsub::{BroadcastRelay, LocalChannels};
use register::Register;
use subscriber::Sink;

/// The subscriptions of all workers, and the way to other servers.
#[derive(Default)]
pub struct Broadcasts {
    register: Mutex<Register<Arc<SocketFront>>>,
    relay: Arc<BroadcastRelay>,
}

impl Sink for Arc<SocketFront> {
    fn send(&self, message: &[u8]) -> bool {
        SocketFront::send(self, &WorkerOrder::Broadcast { message }).is_ok()
    }
}

impl Broadcasts {
    /// Sends an encoded message of a worker to the workers with subscribers of its channel, and to other servers.
    pub fn publish(&self, encoded: &[u8]) -> Result<(), Malformed> {
        let slow = lock(&self.register).publish(encoded)?;
        warn_about(&slow);
        self.relay.publish(encoded);
        Ok(())
    }

    /// Sets the number of subscriptions of a worker to a channel.
    pub fn subscribe(
        &self,
        worker: WorkerId,
        socket: &Arc<SocketFront>,
        channel: &[u8],
        count: u32,
    ) -> Result<(), Malformed> {
        lock(&self.register).subscribe(worker, || socket.clone(), channel, count)?;
        self.relay.changed();
        Ok(())
    }

    /// Sends further messages to a worker that has received some of this [`cost`](wire::broadcast::cost).
    pub fn taken(&self, worker: WorkerId, cost: u32) {
        lock(&self.register).taken(worker, cost as usize);
    }

    /// Ends the subscriptions of a worker that has ended.
    pub fn gone(&self, worker: WorkerId) {
        lock(&self.register).gone(worker);
        self.relay.changed();
    }

    /// Number of subscriptions to a channel, on all servers.
    pub fn presence(&self, channel: &[u8]) -> u64 {
        let own = lock(&self.register).presence(channel);
        own + self.relay.presence(channel)
    }

    /// Counts for the status.
    pub fn status(&self) -> BroadcastStatus {
        lock(&self.register).status()
    }

    /// State of the way to other servers; `None` without one.
    pub fn transport(&self) -> Option<BroadcastTransportStatus> {
        self.relay.status()
    }

    /// The way to other servers.
    pub fn relay(&self) -> &Arc<BroadcastRelay> {
        &self.relay
    }
}

fn warn_about(slow: &[WorkerId]) {
    for worker in slow {
        log::warn(
            "front",
            format_args!(
                "worker={} does not read its broadcast messages; dropping further ones until it has read those that wait",
                worker.slot
            ),
        );
    }
}

impl LocalChannels for Broadcasts {
    fn deliver(&self, encoded: &[u8]) {
        // Malformed messages do not come this far.
        let slow = lock(&self.register).deliver(encoded).unwrap_or_default();
        warn_about(&slow);
    }

    fn all(&self) -> Vec<(Box<[u8]>, u64)> {
        lock(&self.register).watch()
    }

    fn changes(&self) -> Vec<(Box<[u8]>, u64)> {
        lock(&self.register).changes()
    }

    fn forget(&self) {
        lock(&self.register).unwatch();
    }
}
