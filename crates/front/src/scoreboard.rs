//! Sends the data of `cameleer status` to this server's workers, for Apache::Scoreboard: see decision 0005.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener as StdListener};
use std::rc::Rc;
use std::time::Duration;

use nix::unistd::geteuid;
use tokio::io::AsyncWriteExt;
use tokio::net::{UnixListener, UnixStream};

use super::request::services::Services;
use base::log;

/// Pause after `accept` fails, for example because the descriptors are used up.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers workers until it is aborted. `master` is the master's pid in the workers' namespace.
pub async fn run(services: Rc<Services>, master: u32) {
    let listener = match listen(&master.to_string()) {
        Ok(listener) => listener,
        Err(error) => return log::warn("front", format_args!("no scoreboard for workers: {error}")),
    };
    loop {
        match listener.accept().await {
            Ok((worker, _)) if is_ours(&worker) => {
                tokio::task::spawn_local(send_status(services.clone(), worker));
            }
            Ok(_) => {}
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Listens on an abstract name, which ends with `end`. Such a name is gone with the process, and needs no folder that
/// workers may enter. The pid namespace is a part of it, because containers that share a network may have equal pids:
/// `cameleer/pid:[4026531836]/812`.
pub(super) fn listen(end: &str) -> io::Result<UnixListener> {
    let pids = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let name = SocketAddr::from_abstract_name(format!("cameleer/{}/{end}", pids.display()))?;
    let listener = StdListener::bind_addr(&name)?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// Whether the peer may read the status. Any user of the host may connect, but requested paths are private.
pub(super) fn is_ours(worker: &UnixStream) -> bool {
    worker.peer_cred().is_ok_and(|peer| peer.uid() == 0 || peer.uid() == geteuid().as_raw())
}

async fn send_status(services: Rc<Services>, mut worker: UnixStream) {
    if let Ok(text) = serde_json::to_vec(&services.status()) {
        // A worker that has left does not need the status, so an error is ignored.
        let _ = worker.write_all(&text).await;
    }
}
