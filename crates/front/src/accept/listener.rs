//! Accepts connections on the sockets that the master bound.

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

/// What a new connection is: it does not block, and programs that are started do not inherit it.
const NEW: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
/// How long to wait when the kernel has no descriptors left for us.
const PAUSE: Duration = Duration::from_millis(100);

/// The accept loops, by the address as the master wrote it.
#[derive(Default)]
pub struct Listeners {
    /// Dropping the sender ends the loop.
    running: RefCell<HashMap<String, oneshot::Sender<()>>>,
    /// How many loops still have their socket.
    open: Rc<Cell<u32>>,
}

enum Listener {
    /// With its address, unless it listens on all: then each connection is asked for its own.
    Tcp(AsyncFd<TcpListener>, Option<Address>),
    Unix(AsyncFd<UnixListener>),
}

/// Counts a loop as long as it has its socket.
struct Open(Rc<Cell<u32>>);

impl Listeners {
    /// Accepts on exactly these sockets. Connections that came by a listener that is closed go on.
    pub fn set(&self, acceptor: &Rc<Acceptor>, wanted: Vec<(String, OwnedFd)>) -> io::Result<()> {
        wanted.iter().try_for_each(|(_, socket)| defer(acceptor, socket))?;
        let mut running = self.running.borrow_mut();
        running.retain(|address, _| wanted.iter().any(|(name, _)| name == address));
        for (address, socket) in wanted {
            if let Entry::Vacant(new) = running.entry(address) {
                let (end, ended) = oneshot::channel();
                let open = Open::new(&self.open);
                tokio::task::spawn_local(run(acceptor.clone(), Listener::new(socket)?, ended, open));
                new.insert(end);
            }
        }
        Ok(())
    }

    /// Accepts no connection any more but those in the kernel's queues; [`Self::are_closed`] says when that is done.
    pub fn close(&self) {
        self.running.borrow_mut().clear();
    }

    /// Whether no socket is left.
    pub fn are_closed(&self) -> bool {
        self.open.get() == 0
    }
}

impl Open {
    fn new(count: &Rc<Cell<u32>>) -> Open {
        count.update(|n| n + 1);
        Open(count.clone())
    }
}

impl Drop for Open {
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
        // Connections inherit it.
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

/// A client of HTTP speaks first; one whose connection a worker gets may wait for a greeting.
fn defer(acceptor: &Acceptor, listener: &OwnedFd) -> io::Result<()> {
    let name: SockaddrStorage = getsockname(listener.as_raw_fd())?;
    let Some(local) = socket_address(&name) else { return Ok(()) };
    let config = acceptor.server.services.generations.serving().map(|generation| generation.config.clone());
    let is_greeted = config.is_some_and(|config| config.may_hand_over(local));
    sys::defer_accept(listener, if is_greeted { Duration::ZERO } else { SILENCE })
}

/// `None` for a unix socket.
fn socket_address(name: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = name.as_sockaddr_in().map(|name| SocketAddr::V4((*name).into()));
    v4.or_else(|| name.as_sockaddr_in6().map(|name| SocketAddr::V6((*name).into())))
}

#[allow(deprecated, reason = "the new spelling is unsafe; a listener owns its descriptor and never changes it")]
fn waiting<L: AsRawFd>(listener: L) -> io::Result<AsyncFd<L>> {
    AsyncFd::with_interest(listener, Interest::READABLE)
}

/// The stream belongs to no runtime yet: another thread may be to serve it.
fn accept_tcp(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, remote) = acceptfrom_with(listener, NEW)?;
    let remote = remote.and_then(|remote| SocketAddr::try_from(remote).ok());
    Ok((stream.into(), remote.ok_or(io::ErrorKind::ConnectionAborted)?))
}

/// Accepts until it is ended, then what the kernel has accepted besides.
async fn run(acceptor: Rc<Acceptor>, listener: Listener, mut ended: oneshot::Receiver<()>, open: Open) {
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
