//! Messages of workers to subscribers in other workers (`Cameleer::Broadcast`), of all pools and generations.
//!
//! ```text
//!   publisher ── Publish ──▶ Register: channel ──▶ Subscriber of each worker ── Broadcast ──▶ worker
//!                                                  ◀────────────────────────── Taken ────────
//! ```
//!
//! The sockets of all workers are read by the first thread, so messages of one publisher stay in their order.

mod register;
mod subscriber;

use std::sync::{Arc, Mutex};

use wire::Malformed;
use wire::control::{BroadcastStatus, WorkerId};
use wire::transport::{SocketFront, WorkerOrder};

use super::lock::lock;
use base::log;
use register::Register;
use subscriber::Sink;

/// The subscriptions of all workers.
#[derive(Default)]
pub struct Broadcasts(Mutex<Register<Arc<SocketFront>>>);

impl Sink for Arc<SocketFront> {
    fn send(&self, message: &[u8]) -> bool {
        SocketFront::send(self, &WorkerOrder::Broadcast { message }).is_ok()
    }
}

impl Broadcasts {
    /// Sends an encoded message to the workers with subscribers of its channel.
    pub fn publish(&self, encoded: &[u8]) -> Result<(), Malformed> {
        let slow = lock(&self.0).publish(encoded)?;
        for worker in slow {
            log::warn(
                "front",
                format_args!(
                    "worker={} does not read its broadcast messages; dropping further ones until it has read those that wait",
                    worker.slot
                ),
            );
        }
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
        lock(&self.0).subscribe(worker, || socket.clone(), channel, count)
    }

    /// Sends further messages to a worker that has received some of this [`cost`](wire::broadcast::cost).
    pub fn taken(&self, worker: WorkerId, cost: u32) {
        lock(&self.0).taken(worker, cost as usize);
    }

    /// Ends the subscriptions of a worker that has ended.
    pub fn gone(&self, worker: WorkerId) {
        lock(&self.0).gone(worker);
    }

    /// Number of subscriptions to a channel.
    pub fn presence(&self, channel: &[u8]) -> u64 {
        lock(&self.0).presence(channel)
    }

    /// Counts for the status.
    pub fn status(&self) -> BroadcastStatus {
        lock(&self.0).status()
    }
}
