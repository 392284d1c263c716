//! Accepts connections on the sockets that the master bound.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::socket::sockopt::TcpNoDelay;
use nix::sys::socket::{AddressFamily, SockaddrLike, SockaddrStorage, getsockname, setsockopt};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::AbortHandle;

use super::Front;
use super::client::{Address, Client};
use super::crowd::EVICTED_AT_ONCE;
use super::socket::Socket;
use super::{connection, proxy_protocol};
use crate::log;

/// How long to wait when the kernel has no descriptors left for us.
const PAUSE: Duration = Duration::from_millis(100);

/// The accept loops, by the address as the master wrote it.
#[derive(Default)]
pub struct Listeners(RefCell<HashMap<String, AbortHandle>>);

enum Listener {
    /// With its address, unless connections must be asked because it listens on all.
    Tcp(TcpListener, Option<Address>),
    Unix(UnixListener),
}

impl Listeners {
    /// Accepts on exactly these; connections of a listener that goes live on.
    pub fn set(&self, front: &Rc<Front>, wanted: Vec<(String, OwnedFd)>) -> io::Result<()> {
        let mut running = self.0.borrow_mut();
        running.retain(|address, accepting| {
            let keep = wanted.iter().any(|(name, _)| name == address);
            if !keep {
                accepting.abort();
            }
            keep
        });
        for (address, socket) in wanted {
            if let Entry::Vacant(new) = running.entry(address) {
                let accepting = tokio::task::spawn_local(accept(front.clone(), Listener::new(socket)?));
                new.insert(accepting.abort_handle());
            }
        }
        Ok(())
    }

    /// Accepts no more.
    pub fn close(&self) {
        for (_, accepting) in self.0.borrow_mut().drain() {
            accepting.abort();
        }
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

    async fn accept(&self) -> io::Result<(Socket, Address, Address)> {
        match self {
            Listener::Tcp(listener, local) => {
                let (socket, remote) = listener.accept().await?;
                let local = match local {
                    Some(local) => local.clone(),
                    None => Address::tcp(socket.local_addr()?),
                };
                Ok((Socket::Tcp(socket), Address::tcp(remote), local))
            }
            Listener::Unix(listener) => {
                let (socket, _) = listener.accept().await?;
                Ok((Socket::Unix(socket), Address::unix(), Address::unix()))
            }
        }
    }
}

async fn accept(front: Rc<Front>, listener: Listener) {
    let mut complained = false;
    loop {
        match listener.accept().await {
            Ok((socket, remote, local)) => {
                complained = false;
                let Some(site) = front.serving() else { continue };
                let stands_for_others = proxy_protocol::is_expected(&site.config, &remote, &local);
                let Some(place) = front.enter(&site, (!stands_for_others).then_some(&remote)) else {
                    front.crowd.turn_away(socket);
                    continue;
                };
                let client = Client::new(front.clone(), site, remote, local);
                if stands_for_others {
                    tokio::task::spawn_local(proxy_protocol::serve(client, socket, place));
                } else {
                    tokio::task::spawn_local(connection::serve(client, socket, place));
                }
            }
            Err(error) if is_clients_fault(&error) => {}
            Err(error) => {
                if !complained {
                    log::error("front", format_args!("cannot accept connections: {error}"));
                }
                complained = true;
                front.connections.evict(EVICTED_AT_ONCE);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn is_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(error.kind(), ConnectionAborted | ConnectionReset | NotConnected)
}
