//! Accepts connections on the sockets that the master bound.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::socket::sockopt::TcpNoDelay;
use nix::sys::socket::{AddressFamily, SockaddrLike, SockaddrStorage, getsockname, setsockopt};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;

use super::Acceptor;
use super::accepted::{Accepted, is_clients_fault};
use super::backlog::Backlog;
use crate::front::base::address::Address;
use crate::front::limits::connections::EVICTED_AT_ONCE;
use crate::log;

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
    Tcp(TcpListener, Option<Address>),
    Unix(UnixListener),
}

/// Counts a loop as long as it has its socket.
struct Open(Rc<Cell<u32>>);

impl Listeners {
    /// Accepts on exactly these sockets. Connections that came by a listener that is closed go on.
    pub fn set(&self, acceptor: &Rc<Acceptor>, wanted: Vec<(String, OwnedFd)>) -> io::Result<()> {
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
        use std::os::fd::AsRawFd;
        let name: SockaddrStorage = getsockname(socket.as_raw_fd())?;
        if name.family() == Some(AddressFamily::Unix) {
            let socket = std::os::unix::net::UnixListener::from(socket);
            socket.set_nonblocking(true)?;
            return Ok(Listener::Unix(UnixListener::from_std(socket)?));
        }
        let socket = std::net::TcpListener::from(socket);
        socket.set_nonblocking(true)?;
        // Connections inherit it.
        setsockopt(&socket, TcpNoDelay, &true)?;
        let local = Some(socket.local_addr()?).filter(|local| !local.ip().is_unspecified());
        Ok(Listener::Tcp(TcpListener::from_std(socket)?, local.map(Address::tcp)))
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Listener::Tcp(listener, local) => {
                let (socket, remote) = listener.accept().await?;
                Accepted::tcp(socket, remote, local.as_ref())
            }
            Listener::Unix(listener) => Ok(Accepted::unix(listener.accept().await?.0)),
        }
    }
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
                acceptor.services.connections.evict(EVICTED_AT_ONCE);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    let backlog = match listener {
        Listener::Tcp(listener, local) => listener.into_std().map(|listener| Backlog::Tcp(listener, local)),
        Listener::Unix(listener) => listener.into_std().map(Backlog::Unix),
    };
    match backlog {
        Ok(backlog) => backlog.accept(&acceptor).await,
        Err(error) => log::error("front", format_args!("connections that wait may be reset: {error}")),
    }
    drop(open);
    acceptor.services.shared.clock.start();
}
