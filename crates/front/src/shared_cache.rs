//! The task of a generation that exchanges stored responses and purges with other servers (`CacheStore`). The first
//! thread runs it until all requests of the generation are answered, because each of them may change a page, and until
//! the store has its purges.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::spawn_local;
use tokio::time::sleep;

use super::cache::Cache;
use super::cache::shared::{SharedCache, writer};
use super::generation::Generation;
use super::limits::pace::read_login;
use super::request::purge_here;

/// Interval between looks whether the generation is over.
const INTERVAL: Duration = Duration::from_secs(1);

/// Starts the task, if the generation's configuration has the directive.
pub fn start(generation: &Arc<Generation>) {
    let Some(cache) = generation.cache.clone() else { return };
    let Some(shared) = cache.shared().cloned() else { return };
    let (config, generation) = (generation.config.clone(), Arc::downgrade(generation));
    spawn_local(async move {
        let read = async || read_login(shared.store(), "CacheStore").await;
        let purge = async |url: &str| purge_here(&config, &cache, url).await;
        tokio::select! {
            () = writer::run(&cache, &shared, read, purge) => {}
            () = end(generation, &cache, &shared) => {}
        }
    });
}

/// Waits until the generation is over, and the store has its purges.
async fn end(generation: Weak<Generation>, cache: &Cache, shared: &SharedCache) {
    while generation.upgrade().is_some_and(|generation| !generation.is_over()) {
        sleep(INTERVAL).await;
    }
    cache.forget_all(|_| true).await;
    while shared.has_purges() {
        sleep(INTERVAL).await;
    }
}
