//! Closes a listener without losing connections. The kernel completes handshakes and queues connections by itself. A
//! close resets queued connections, although their clients may have sent requests.
//!
//! The master has already made the kernel drop new SYN segments. What remains is the accept queue and unfinished
//! handshakes: a client with our SYN-ACK believes that it is connected, and sends. The kernel also counts a deferred
//! connection (`TCP_DEFER_ACCEPT`) as an unfinished handshake.

use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::yield_now;
use tokio::time::sleep;

use super::accepted::{Accepted, SILENCE, is_clients_fault};
use super::{Acceptor, handshakes};
use crate::base::address::Address;
use crate::base::blocking;
use crate::client::last_call::LAST_CALL;

/// Interval between looks at the queue. The kernel may still process a segment from before it dropped new ones.
const PAUSE: Duration = Duration::from_millis(10);
/// Minimum number of looks at the queue.
const LOOKS: u32 = 2;
/// Number of connections accepted before other tasks run.
const A_TURN: u32 = 64;

/// A listener whose queue is emptied before it is closed. It is used without the runtime, whose readiness may lag
/// behind the kernel's queue.
pub enum Backlog {
    /// A TCP listener and its address, `None` if it listens on all.
    Tcp(TcpListener, Option<Address>),
    Unix(UnixListener),
}

impl Backlog {
    /// Serves all connections in the queue, and closes the listener.
    pub async fn accept(self, acceptor: &Rc<Acceptor>) {
        let by = Instant::now() + SILENCE + LAST_CALL;
        for look in 1.. {
            self.empty(acceptor, by).await;
            if Instant::now() >= by || (look > LOOKS && !self.is_amid_a_handshake().await) {
                break;
            }
            sleep(PAUSE).await;
        }
        // The last look may have waited for another thread, so the queue may have filled again.
        self.empty(acceptor, by).await;
    }

    /// Accepts until the queue is empty, or until shortly after `by`: another process may listen on the same socket and
    /// keep the queue full.
    async fn empty(&self, acceptor: &Rc<Acceptor>, by: Instant) {
        for count in 1_u32.. {
            if count.is_multiple_of(A_TURN) {
                yield_now().await;
            }
            match self.next() {
                Ok(accepted) => acceptor.serve(accepted),
                Err(error) if is_clients_fault(&error) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The queue is empty, or there are no descriptors left.
                Err(_) => return,
            }
            if Instant::now() >= by + LAST_CALL {
                return;
            }
        }
    }

    fn next(&self) -> io::Result<Accepted> {
        match self {
            Backlog::Tcp(listener, local) => {
                let (socket, remote) = listener.accept()?;
                socket.set_nonblocking(true)?;
                Accepted::tcp(socket, remote, local.as_ref())
            }
            Backlog::Unix(listener) => {
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(true)?;
                Ok(Accepted::unix(socket))
            }
        }
    }

    async fn is_amid_a_handshake(&self) -> bool {
        let Backlog::Tcp(listener, _) = self else { return false };
        let Ok(address) = listener.local_addr() else { return false };
        // The kernel scans its whole hash table of connections, so another thread asks.
        let begun = move || handshakes::are_unfinished(address.is_ipv6(), address.port());
        blocking::run("look for handshakes that have begun", begun).await.unwrap_or(false)
    }
}
