//! Answers workers that want to know how many subscriptions a channel has: `Cameleer::Broadcast->presence`. A socket of
//! its own, as the scoreboard's ([decision 0005]): an answer in the worker's socket would wait behind its orders.
//!
//! [decision 0005]: ../../../docs/decisions/0005-scoreboard.md

use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use wire::broadcast::MAX_CHANNEL;

use super::request::services::Services;
use super::scoreboard::{is_ours, listen};
use base::log;

/// Time in which a worker sends its question.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause after `accept` fails, for example because the descriptors are used up.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers workers until it is aborted. `master` is the master's pid in the workers' namespace.
pub async fn run(services: Rc<Services>, master: u32) {
    let listener = match listen(&format!("{master}/presence")) {
        Ok(listener) => listener,
        Err(error) => return log::warn("front", format_args!("no presence of broadcasts for workers: {error}")),
    };
    loop {
        match listener.accept().await {
            Ok((worker, _)) if is_ours(&worker) => {
                let services = services.clone();
                tokio::task::spawn_local(tokio::time::timeout(PATIENCE, answer(services, worker)));
            }
            Ok(_) => {}
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn answer(services: Rc<Services>, mut worker: UnixStream) -> std::io::Result<()> {
    let mut channel = Vec::new();
    (&mut worker).take(MAX_CHANNEL as u64 + 1).read_to_end(&mut channel).await?;
    let count = services.shared.broadcasts.presence(&channel);
    worker.write_all(count.to_string().as_bytes()).await
}
