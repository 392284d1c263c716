//! The end of a listener. The kernel completes handshakes and queues connections by itself, and a close resets those that
//! nobody has accepted, though their clients have sent requests already.
//!
//! The master has told the kernel to let nobody in any more. So what is left is what waits in the queue, and handshakes that
//! have begun: the client believes that it is connected when it has our half of one, and sends. To the kernel that is also a
//! connection whose request it waits for (`TCP_DEFER_ACCEPT`).

use std::fs;
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::yield_now;
use tokio::time::sleep;

use super::Acceptor;
use super::accepted::{Accepted, SILENCE, is_clients_fault};
use crate::base::address::Address;
use crate::base::blocking;
use crate::client::last_call::LAST_CALL;

/// Between two looks at the queue. The kernel may still be at a segment that came before it was told to drop new ones.
const PAUSE: Duration = Duration::from_millis(10);
/// At least as many looks at the queue.
const LOOKS: u32 = 2;
/// So many connections are accepted before other tasks have their turn.
const A_TURN: u32 = 64;
/// How /proc writes that a handshake has begun.
const SYN_RECV: &str = "03";

/// A listener whose queue is emptied before it is closed. The runtime only knows of connections that it was told of, so the
/// kernel is asked.
pub enum Backlog {
    /// With its address, unless it listens on all.
    Tcp(TcpListener, Option<Address>),
    Unix(UnixListener),
}

impl Backlog {
    /// Serves all that the kernel has accepted, and closes.
    pub async fn accept(self, acceptor: &Rc<Acceptor>) {
        let by = Instant::now() + SILENCE + LAST_CALL;
        for look in 1.. {
            self.empty(acceptor, by).await;
            if Instant::now() >= by || (look > LOOKS && !self.is_amid_a_handshake().await) {
                break;
            }
            sleep(PAUSE).await;
        }
        // After the last look, which may have waited for another thread.
        self.empty(acceptor, by).await;
    }

    /// Accepts until the queue is empty. Where another process listens on the same socket that may be never, hence `by`.
    async fn empty(&self, acceptor: &Rc<Acceptor>, by: Instant) {
        for count in 1_u32.. {
            if count.is_multiple_of(A_TURN) {
                yield_now().await;
            }
            match self.next() {
                Ok(accepted) => acceptor.serve(accepted),
                Err(error) if is_clients_fault(&error) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The queue is empty, or the descriptors are used up.
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
        // Clients of IPv4 that come to a listener of IPv6 stand in its file, too.
        let file = if address.is_ipv6() { "/proc/net/tcp6" } else { "/proc/net/tcp" };
        // The kernel goes through all that it could hold, and with thousands of connections the file is long: another thread reads it.
        let begun = move || begins(file, address.port());
        blocking::run("look for handshakes that have begun", begun).await.unwrap_or(false)
    }
}

/// Whether a handshake with that port of ours has begun.
fn begins(file: &str, port: u16) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().skip(1).any(|line| is_begun(line, port))
}

/// `  12: 0100007F:1F90 0100007F:D431 03 …`
fn is_begun(line: &str, port: u16) -> bool {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, _, state) = (fields.next(), fields.next(), fields.next());
    let local = local.and_then(|local| local.rsplit_once(':')).and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
    state == Some(SYN_RECV) && local == Some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshakes_are_told_from_connections_and_from_those_with_others() {
        let line = |port, state| format!("  12: 0100007F:{port} 0100007F:D431 {state} 00000000:00000000 01:00000064");
        assert!(is_begun(&line("1F90", "03"), 8080));
        assert!(!is_begun(&line("1F90", "01"), 8080));
        assert!(!is_begun(&line("1F91", "03"), 8080));
        assert!(!is_begun("", 8080) && !is_begun("nonsense", 8080));
        let six =
            "   0: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:BC5C 03 00000000:00000000";
        assert!(is_begun(six, 8080));
    }
}
