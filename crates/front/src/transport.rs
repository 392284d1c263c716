//! The task that exchanges broadcast messages with other servers (`BroadcastTransport`). It runs on the first thread,
//! which reads the sockets of all workers, and only where the serving configuration has the directive.

use std::cell::RefCell;
use std::sync::Arc;

use tokio::task::{JoinHandle, spawn_local};

use super::base::broadcast::Broadcasts;
use super::limits::pace::read_login;
use config::StoreUrl;

/// The task, and the store of its connection.
#[derive(Default)]
pub struct BroadcastTransport(RefCell<Option<(StoreUrl, JoinHandle<()>)>>);

impl BroadcastTransport {
    /// Uses this store from now on. A connection to the same store stays.
    pub fn set(&self, broadcasts: &Arc<Broadcasts>, store: Option<&StoreUrl>) {
        let mut running = self.0.borrow_mut();
        if running.as_ref().map(|(store, _)| store) == store {
            return;
        }
        let before = running.take().map(|(_, task)| task);
        if let Some(task) = &before {
            task.abort();
        }
        let Some(store) = store else { return };
        let (broadcasts, to) = (broadcasts.clone(), Arc::new(store.clone()));
        let task = spawn_local(async move {
            if let Some(before) = before {
                // Its end would end this one as well.
                let _ = before.await;
            }
            let of = to.clone();
            let read = async || read_login(&of, "BroadcastTransport").await;
            pubsub::run(to, broadcasts.relay().clone(), broadcasts, read).await;
        });
        *running = Some((store.clone(), task));
    }
}
