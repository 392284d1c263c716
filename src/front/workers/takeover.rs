//! Workers that had another front, which has died. The master holds their sockets, so they have noticed nothing but that
//! nobody takes what they say.
//!
//! ```text
//!   new front                            worker
//!     takes back what it has not begun
//!     Greet ───────────────────────────▶ still at a request: `aborted` is true from here on
//!     ◀── Head Body* End, passed over ── ends it
//!     ◀───────────────────── Greeted ─── is Idle
//! ```

use std::rc::Rc;
use std::time::Duration;

use tokio::time::sleep;
use wire::Malformed;
use wire::reply::{Packet, Reply};

use super::worker::{Next, Worker};
use super::{Failure, Workers};

/// Takes `worker` over. What it works on is for nobody, and may take as long as it is `allowed`, which a request of an old
/// generation may, too.
pub fn take_over(workers: &Rc<Workers>, worker: &Rc<Worker>, allowed: Duration) {
    workers.empty(worker);
    if let Err(error) = worker.greet() {
        return workers.discard(worker, &format!("cannot be greeted: {error}"), Failure::WorkerGone);
    }
    if allowed.is_zero() {
        return;
    }
    let (workers, worker) = (workers.clone(), worker.clone());
    tokio::task::spawn_local(async move {
        sleep(allowed).await;
        if workers.is_adopted(&worker) {
            let reason = format!("is still at a request of a front that died {allowed:.0?} ago");
            workers.discard(&worker, &reason, Failure::WorkerGone);
        }
    });
}

impl Workers {
    /// What lies in its socket is for nobody.
    fn empty(&self, worker: &Worker) {
        drop(worker.take_back(&mut self.buffer.borrow_mut()));
    }

    fn is_adopted(&self, worker: &Worker) -> bool {
        self.pool.borrow().is_adopted(worker.id)
    }

    /// Passes over what is for the front before us.
    pub(super) fn await_greeting(&self, worker: &Rc<Worker>, packet: &[u8]) -> Result<Next, Malformed> {
        for message in Packet::new(packet) {
            if let (0, Reply::Greeted { fork_us }) = message? {
                self.ready(worker, fork_us)?;
                return Ok(Next::Nothing);
            }
        }
        Ok(Next::Packet)
    }
}
