//! Notices: decisions of the pool, sent to the thread that owns the request.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use smallvec::SmallVec;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use wire::control::{GenerationNumber, PoolId};

use super::scheduler::RequestId;
use super::submitted::RequestStart;
use super::worker::{ReplyPath, Worker};
use crate::base::failure::Failure;
use crate::base::lock::lock;

/// A decision of the pool for one thread.
pub enum Notice {
    /// A worker was added; its replies reach the thread by this way.
    Worker(Arc<Worker>, ReplyPath),
    /// Requests wait for the worker of this request: spool the response to a file.
    Spill(RequestId),
    /// Requests wait for the worker of this request: cut the response if its client is too slow during this time.
    Press(RequestId, Duration),
    /// The request is over: its response is complete, or its client has left.
    Over(RequestId, Option<RequestStart>),
    /// The request failed before or during its response.
    Failed(RequestId, Failure, Option<RequestStart>),
    /// The generation is over: an idle thread must release its view of it.
    GenerationIsOver,
}

/// Notices of one event; usually one.
pub type Notices = SmallVec<[Notice; 1]>;

/// Receives the notices for one thread.
pub type Mailbox = UnboundedReceiver<(PoolId, Notice)>;

/// Sends notices to one thread.
pub type MailboxAddress = UnboundedSender<(PoolId, Notice)>;

/// Creates the mailbox of a thread.
pub fn mailbox() -> (MailboxAddress, Mailbox) {
    unbounded_channel()
}

/// Addresses of all threads, by thread index.
#[derive(Clone, Default)]
pub struct Mailboxes(Arc<Mutex<Vec<MailboxAddress>>>);

impl Mailboxes {
    /// Adds the address of the next thread.
    pub fn add(&self, address: MailboxAddress) {
        lock(&self.0).push(address);
    }

    /// Makes all threads listen to a worker; `ways` are in the order of the threads.
    pub fn listen(&self, pool: PoolId, worker: &Arc<Worker>, ways: Vec<ReplyPath>) {
        for (thread, way) in (0..).zip(ways) {
            self.send(thread, pool, Notice::Worker(worker.clone(), way));
        }
    }

    /// Notifies all threads that a generation is over.
    pub fn send_over(&self, generation: GenerationNumber) {
        lock(&self.0)
            .iter()
            .for_each(|address| drop(address.send((PoolId { generation, pool: 0 }, Notice::GenerationIsOver))));
    }

    /// Sends a notice to a thread. A thread that has ended has no requests, so a failed send is ignored.
    pub(super) fn send(&self, thread: u8, pool: PoolId, notice: Notice) {
        if let Some(address) = lock(&self.0).get(usize::from(thread)) {
            let _ = address.send((pool, notice));
        }
    }
}
