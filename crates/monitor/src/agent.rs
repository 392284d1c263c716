//! HAProxy's agent check (`AgentCheckListen`): each connection gets one line, and is closed.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use super::hub::Hub;

/// Maximum number of connections. Further ones wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 50;
/// Time for which a connection may take the line.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum number of connections that have the line and are still open. Further ones are closed at once.
const MAX_LINGERING: usize = 200;
/// Time for which such a connection stays open: HAProxy's `agent-send` arrives by then.
const LINGER: Duration = Duration::from_millis(200);
/// Maximum number of bytes that are read: HAProxy's `agent-send` is ignored.
const MAX_INPUT: u64 = 4096;
/// Pause after accept failed for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the connections of the listening socket `fd`.
pub fn listen(fd: OwnedFd, hub: Rc<Hub>) -> io::Result<()> {
    let listener = TcpListener::from_std(fd.into())?;
    spawn_local(accept(listener, hub));
    Ok(())
}

async fn accept(listener: TcpListener, hub: Rc<Hub>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let lingering = Rc::new(Semaphore::new(MAX_LINGERING));
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                // An agent that does not answer changes nothing in HAProxy.
                let Some(line) = hub.agent_line() else { continue };
                let lingering = lingering.clone();
                spawn_local(async move {
                    let answered = timeout(PATIENCE, answer(stream, line)).await;
                    drop(permit);
                    if let (Ok(Ok(stream)), Ok(_place)) = (answered, lingering.try_acquire()) {
                        let _ = timeout(LINGER, linger(stream)).await;
                    }
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Sends the line.
async fn answer(mut stream: TcpStream, line: String) -> io::Result<TcpStream> {
    stream.write_all(format!("{line}\n").as_bytes()).await?;
    stream.shutdown().await?;
    Ok(stream)
}

/// Waits for the end of the connection: a close with unread bytes would reset it, and HAProxy could lose the line.
async fn linger(stream: TcpStream) -> io::Result<()> {
    tokio::io::copy(&mut stream.take(MAX_INPUT), &mut tokio::io::sink()).await.map(drop)
}
