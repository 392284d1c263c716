//! Messages of workers to subscribers in other workers (`Cameleer::Broadcast`), of all pools and generations, to
//! clients whose responses the front holds, and to other servers.
//!
//! ```text
//!   publisher ── Publish ──▶ Register: channel ──▶ Subscriber of each worker ── Broadcast ──▶ worker
//!                  │      ▲             │          ◀────────────────────────── Taken ────────
//!                  │      │             └────────▶ HeldClients ──▶ connections on all threads
//!                  ▼      │
//!                BroadcastRelay   LocalChannels ◀── other servers (`BroadcastTransport`)
//! ```
//!
//! The sockets of all workers are read by the first thread, so messages of one publisher stay in their order.

pub mod events;
pub mod held;
pub mod hold;
mod register;
mod subscriber;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;
use wire::Malformed;
use wire::control::{BroadcastStatus, BroadcastTransportStatus, GenerationNumber, WorkerId};
use wire::transport::{SocketFront, WorkerOrder};

use super::lock::lock;
use base::log;
use held::{Held, HeldClients, NotHeld};
use hold::{HoldRequest, HoldTerms};
use pubsub::{BroadcastRelay, LocalChannels};
use register::Register;
use subscriber::Sink;

/// The subscriptions of all workers and held clients, and the way to other servers.
#[derive(Default)]
pub struct Broadcasts {
    subscriptions: Subscriptions,
    held: Arc<HeldClients>,
}

/// What a subscriber changes.
#[derive(Clone, Default)]
pub struct Subscriptions {
    register: Arc<Mutex<Register<BroadcastSink>>>,
    relay: Arc<BroadcastRelay>,
}

/// The subscriber that stands for all held clients.
const HELD: WorkerId = WorkerId { slot: u32::MAX, serial: u64::MAX };

/// Time over which held responses of earlier generations end, and the number of parts that end at once.
const SPREAD: Duration = Duration::from_secs(5);
const PARTS: u32 = 20;

/// The receiver of a subscriber's messages.
#[derive(Clone)]
pub enum BroadcastSink {
    Worker(Arc<SocketFront>),
    Held(Arc<HeldClients>),
}

impl Sink for BroadcastSink {
    fn send(&self, message: &[u8]) -> bool {
        match self {
            BroadcastSink::Worker(socket) => socket.send(&WorkerOrder::Broadcast { message }).is_ok(),
            BroadcastSink::Held(clients) => {
                clients.deliver(message);
                true
            }
        }
    }

    fn confirms(&self) -> bool {
        matches!(self, BroadcastSink::Worker(_))
    }
}

impl Broadcasts {
    /// Sends an encoded message of a worker to the workers with subscribers of its channel, and to other servers.
    pub fn publish(&self, encoded: &[u8]) -> Result<(), Malformed> {
        let slow = lock(&self.subscriptions.register).publish(encoded)?;
        warn_about(&slow);
        self.subscriptions.relay.publish(encoded);
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
        lock(&self.subscriptions.register).subscribe(
            worker,
            || BroadcastSink::Worker(socket.clone()),
            channel,
            count,
        )?;
        self.subscriptions.relay.changed();
        Ok(())
    }

    /// Sends further messages to a worker that has received some of this [`cost`](wire::broadcast::cost).
    pub fn taken(&self, worker: WorkerId, cost: u32) {
        lock(&self.subscriptions.register).taken(worker, cost as usize);
    }

    /// Ends the subscriptions of a worker that has ended.
    pub fn gone(&self, worker: WorkerId) {
        lock(&self.subscriptions.register).gone(worker);
        self.subscriptions.relay.changed();
    }

    /// Number of subscriptions to a channel, on all servers.
    pub fn presence(&self, channel: &[u8]) -> u64 {
        let own = lock(&self.subscriptions.register).presence(channel);
        own + self.subscriptions.relay.presence(channel)
    }

    /// Subscribes a client that the front holds from now on.
    pub fn hold(&self, request: &HoldRequest, terms: HoldTerms) -> Result<Held, NotHeld> {
        self.held.hold(&self.subscriptions, request, terms)
    }

    /// Ends all held responses, as the front stops.
    pub fn end_held(&self) {
        self.held.end();
    }

    /// Ends held responses of earlier generations over [`SPREAD`], so that clients do not all come back at once.
    pub async fn end_earlier_held(&self, serving: GenerationNumber) {
        for part in 0..PARTS {
            self.held.end_earlier(serving, part.into(), PARTS.into());
            sleep(SPREAD / PARTS).await;
        }
    }

    /// Counts for the status.
    pub fn status(&self) -> BroadcastStatus {
        let [held_streams, held_responses, held_slow] = self.held.counts();
        BroadcastStatus { held_streams, held_responses, held_slow, ..lock(&self.subscriptions.register).status() }
    }

    /// State of the way to other servers; `None` without one.
    pub fn transport(&self) -> Option<BroadcastTransportStatus> {
        self.subscriptions.relay.status()
    }

    /// The way to other servers.
    pub fn relay(&self) -> &Arc<BroadcastRelay> {
        &self.subscriptions.relay
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
        let slow = lock(&self.subscriptions.register).deliver(encoded).unwrap_or_default();
        warn_about(&slow);
    }

    fn all(&self) -> Vec<(Box<[u8]>, u64)> {
        lock(&self.subscriptions.register).watch()
    }

    fn changes(&self) -> Vec<(Box<[u8]>, u64)> {
        lock(&self.subscriptions.register).changes()
    }

    fn forget(&self) {
        lock(&self.subscriptions.register).unwatch();
    }
}
