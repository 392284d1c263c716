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

use tokio::time::sleep;
use wire::Malformed;
use wire::reply::{Packet, Reply};

use super::worker::{Next, Worker};
use super::{Failure, Workers};
use crate::front::site::Site;

/// Takes `worker` over. What it works on is for nobody: it may take as long as a request of an old generation.
pub fn take_over(site: &Rc<Site>, worker: &Rc<Worker>) {
    site.pool.empty(worker);
    if let Err(error) = worker.greet() {
        return site.pool.discard(worker, &format!("cannot be greeted: {error}"), Failure::WorkerGone);
    }
    let allowed = site.config.timeouts.graceful;
    if allowed.is_zero() {
        return;
    }
    let (site, worker) = (site.clone(), worker.clone());
    tokio::task::spawn_local(async move {
        sleep(allowed).await;
        if site.pool.is_adopted(&worker) {
            let reason = format!("is still at a request of a front that died {allowed:.0?} ago");
            site.pool.discard(&worker, &reason, Failure::WorkerGone);
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
