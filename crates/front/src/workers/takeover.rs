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

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::shared_pool::SharedPool;
use super::worker::Worker;
use super::{Failure, Workers};

/// Takes `worker` over. What it works on is for nobody, and may take as long as it is `allowed`, which a request of an old
/// generation may, too.
pub fn take_over(pool: &Arc<SharedPool>, worker: &Arc<Worker>, allowed: Duration) {
    pool.empty(worker);
    if let Err(error) = worker.greet() {
        return pool.discard(worker.id, &format!("cannot be greeted: {error}"), Failure::WorkerGone);
    }
    if allowed.is_zero() {
        return;
    }
    let (pool, worker) = (pool.clone(), worker.clone());
    tokio::task::spawn_local(async move {
        sleep(allowed).await;
        if pool.is_adopted(&worker) {
            let reason = format!("is still at a request of a front that died {allowed:.0?} ago");
            pool.discard(worker.id, &reason, Failure::WorkerGone);
        }
    });
}

impl SharedPool {
    /// What `worker` says may be for the front before us.
    fn is_adopted(&self, worker: &Worker) -> bool {
        self.look(|state| state.pool.is_adopted(worker.id))
    }
}

impl Workers {
    pub(super) fn is_adopted(&self, worker: &Worker) -> bool {
        self.pool.is_adopted(worker)
    }
}
