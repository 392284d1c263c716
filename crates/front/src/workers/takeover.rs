//! Takes over workers of an earlier front, which has died. The master holds their sockets, so these workers notice only
//! that their replies are not read.
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

use super::Failure;
use super::shared_pool::SharedPool;
use super::worker::Worker;

/// Takes over `worker`. Its current request may run for `allowed`, like a request of an old generation; then the worker
/// is discarded. Zero: no limit.
pub fn take_over(pool: &Arc<SharedPool>, worker: &Arc<Worker>, allowed: Duration) {
    pool.empty(worker);
    if let Err(error) = worker.greet() {
        return pool.discard(
            worker.id,
            &format!("cannot receive messages from the new front: {error}"),
            Failure::WorkerGone,
        );
    }
    if allowed.is_zero() {
        return;
    }
    let (pool, worker) = (pool.clone(), worker.clone());
    tokio::task::spawn_local(async move {
        sleep(allowed).await;
        if pool.is_adopted(&worker) {
            let reason = format!("is still busy with a request of a front that died {allowed:.0?} ago");
            pool.discard(worker.id, &reason, Failure::WorkerGone);
        }
    });
}

impl SharedPool {
    /// Whether replies of `worker` may still be for the earlier front.
    pub(super) fn is_adopted(&self, worker: &Worker) -> bool {
        self.look(|state| state.scheduler.is_adopted(worker.id))
    }
}
