//! What the pool decides about a request goes to the thread that has the request.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use smallvec::SmallVec;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use wire::control::{GenerationNumber, PoolId};

use super::pool::RequestId;
use super::submitted::Begun;
use super::worker::{Way, Worker};
use crate::base::failure::Failure;
use crate::base::lock::lock;

/// What a thread is to know.
pub enum Notice {
    /// There is a worker, and this is how its answers reach the thread.
    Worker(Arc<Worker>, Way),
    /// Others wait for its worker: what its client does not take goes to a file.
    Spill(RequestId),
    /// Its client holds a worker that others wait for, and must not be too slow for so long.
    Press(RequestId, Duration),
    /// It has its whole answer, or nobody waits for one.
    Over(RequestId, Option<Begun>),
    /// It will not be answered, or not whole.
    Failed(RequestId, Failure, Option<Begun>),
    /// The generation is over: a thread that has nothing to do must let go of it, too.
    GenerationIsOver,
}

/// Mostly it is one.
pub type Notices = SmallVec<[Notice; 1]>;

/// Where notices about requests of a pool reach a thread.
pub type Mailbox = UnboundedReceiver<(PoolId, Notice)>;

/// The way there.
pub type Address = UnboundedSender<(PoolId, Notice)>;

/// For a thread.
pub fn mailbox() -> (Address, Mailbox) {
    unbounded_channel()
}

/// The ways to all threads, by their numbers.
#[derive(Clone, Default)]
pub struct Mailboxes(Arc<Mutex<Vec<Address>>>);

impl Mailboxes {
    /// Adds the next thread.
    pub fn add(&self, address: Address) {
        lock(&self.0).push(address);
    }

    /// Has all threads listen to a worker, each on its way, the first thread's first.
    pub fn listen(&self, pool: PoolId, worker: &Arc<Worker>, ways: Vec<Way>) {
        for (thread, way) in (0..).zip(ways) {
            self.tell(thread, pool, Notice::Worker(worker.clone(), way));
        }
    }

    /// Tells all threads that a generation is over.
    pub fn tell_over(&self, generation: GenerationNumber) {
        lock(&self.0)
            .iter()
            .for_each(|address| drop(address.send((PoolId { generation, pool: 0 }, Notice::GenerationIsOver))));
    }

    /// Tells a thread. One that is not there any more has no requests.
    pub(super) fn tell(&self, thread: u8, pool: PoolId, notice: Notice) {
        if let Some(address) = lock(&self.0).get(usize::from(thread)) {
            let _ = address.send((pool, notice));
        }
    }
}
