//! Accept loops for the sockets that the master has bound.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::socket::sockopt::TcpNoDelay;
use nix::sys::socket::{AddressFamily, SockaddrLike, SockaddrStorage, getsockname, setsockopt};
use rustix::net::{SocketFlags, accept_with, acceptfrom_with};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

use super::Acceptor;
use super::accepted::{Accepted, SILENCE, is_clients_fault};
use super::backlog::Backlog;
use crate::base::address::Address;
use crate::limits::connections::EVICTED_AT_ONCE;
use base::log;

const NEW: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
/// Pause after `accept` fails, for example because the descriptors are used up.
const PAUSE: Duration = Duration::from_millis(100);

/// The accept loops, by the address in the master's notation.
#[derive(Default)]
pub struct AcceptLoops {
    /// Dropping the sender ends the loop.
    running: RefCell<HashMap<String, oneshot::Sender<()>>>,
    /// Number of loops whose socket is open.
    open: Rc<Cell<u32>>,
}

enum Listener {
    /// A TCP listener and its address; `None`: it listens on all addresses, and each connection is queried for its
    /// local one.
    Tcp(AsyncFd<TcpListener>, Option<Address>),
    Unix(AsyncFd<UnixListener>),
}

/// Counts a loop while its socket is open.
struct OpenLoop(Rc<Cell<u32>>);

impl AcceptLoops {
    /// Makes exactly these sockets accept. Connections of a listener that is closed are not affected.
    pub fn set(&self, acceptor: &Rc<Acceptor>, wanted: Vec<(String, OwnedFd)>) -> io::Result<()> {
        wanted.iter().try_for_each(|(_, socket)| defer(acceptor, socket))?;
        let mut running = self.running.borrow_mut();
        running.retain(|address, _| wanted.iter().any(|(name, _)| name == address));
        for (address, socket) in wanted {
            if let Entry::Vacant(new) = running.entry(address) {
                let (end, ended) = oneshot::channel();
                let open = OpenLoop::new(&self.open);
                tokio::task::spawn_local(run(acceptor.clone(), Listener::new(socket)?, ended, open));
                new.insert(end);
            }
        }
        Ok(())
    }

    /// Closes all listeners after accepting what is in the kernel's queues; [`Self::are_closed`] reports the end.
    pub fn close(&self) {
        self.running.borrow_mut().clear();
    }

    /// Whether all sockets are closed.
    pub fn are_closed(&self) -> bool {
        self.open.get() == 0
    }
}

impl OpenLoop {
    fn new(count: &Rc<Cell<u32>>) -> OpenLoop {
        count.update(|n| n + 1);
        OpenLoop(count.clone())
    }
}

impl Drop for OpenLoop {
    fn drop(&mut self) {
        self.0.update(|n| n - 1);
    }
}

impl Listener {
    fn new(socket: OwnedFd) -> io::Result<Listener> {
        let name: SockaddrStorage = getsockname(socket.as_raw_fd())?;
        if name.family() == Some(AddressFamily::Unix) {
            let socket = UnixListener::from(socket);
            socket.set_nonblocking(true)?;
            return Ok(Listener::Unix(waiting(socket)?));
        }
        let socket = TcpListener::from(socket);
        socket.set_nonblocking(true)?;
        // Accepted connections inherit the option on Linux.
        setsockopt(&socket, TcpNoDelay, &true)?;
        let local = Some(socket.local_addr()?).filter(|local| !local.ip().is_unspecified());
        Ok(Listener::Tcp(waiting(socket)?, local.map(Address::tcp)))
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Listener::Tcp(listener, local) => {
                let (stream, remote) = listener.async_io(Interest::READABLE, accept_tcp).await?;
                Accepted::tcp(stream, remote, local.as_ref())
            }
            Listener::Unix(listener) => {
                let accept = |listener: &UnixListener| Ok(accept_with(listener, NEW)?);
                Ok(Accepted::unix(listener.async_io(Interest::READABLE, accept).await?.into()))
            }
        }
    }
}

/// Defers accept for HTTP, whose clients send first. A client of a connection handler may wait for a greeting, so
/// nothing is deferred.
fn defer(acceptor: &Acceptor, listener: &OwnedFd) -> io::Result<()> {
    let name: SockaddrStorage = getsockname(listener.as_raw_fd())?;
    let Some(local) = socket_address(&name) else { return Ok(()) };
    let config = acceptor.server.services.generations.serving().map(|generation| generation.config.clone());
    let is_greeted = config.is_some_and(|config| config.may_hand_over(local));
    sys::defer_accept(listener, if is_greeted { Duration::ZERO } else { SILENCE })
}

/// The TCP address; `None` for a Unix socket.
fn socket_address(name: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = name.as_sockaddr_in().map(|name| SocketAddr::V4((*name).into()));
    v4.or_else(|| name.as_sockaddr_in6().map(|name| SocketAddr::V6((*name).into())))
}

#[allow(deprecated, reason = "the new spelling is unsafe; a listener owns its descriptor and never changes it")]
fn waiting<L: AsRawFd>(listener: L) -> io::Result<AsyncFd<L>> {
    AsyncFd::with_interest(listener, Interest::READABLE)
}

/// Accepts without registering the stream with a runtime, because another thread may serve it.
fn accept_tcp(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, remote) = acceptfrom_with(listener, NEW)?;
    let remote = remote.and_then(|remote| SocketAddr::try_from(remote).ok());
    Ok((stream.into(), remote.ok_or(io::ErrorKind::ConnectionAborted)?))
}

/// The accept loop: runs until `ended`, then empties the kernel's queue.
async fn run(acceptor: Rc<Acceptor>, listener: Listener, mut ended: oneshot::Receiver<()>, open: OpenLoop) {
    let mut complained = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut ended => break,
        };
        match accepted {
            Ok(accepted) => {
                complained = false;
                acceptor.serve(accepted);
            }
            Err(error) if is_clients_fault(&error) => {}
            Err(error) => {
                if !complained {
                    log::error("front", format_args!("cannot accept connections: {error}"));
                }
                complained = true;
                acceptor.server.services.connections.evict(EVICTED_AT_ONCE);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    let backlog = match listener {
        Listener::Tcp(listener, local) => Backlog::Tcp(listener.into_inner(), local),
        Listener::Unix(listener) => Backlog::Unix(listener.into_inner()),
    };
    backlog.accept(&acceptor).await;
    drop(open);
    acceptor.server.services.shared.clock.start();
}
