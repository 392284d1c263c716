//! Limits on connections: of all clients, and of each. A new connection replaces the longest idle ones. If none is
//! idle, or its client has reached its limit, the response is 503.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::base::address::Address;
use crate::base::lock::lock;
use crate::client::registry::Connections;
use crate::client::socket::Socket;
use base::log;
use config::Clients;

/// Idle connections closed by one search, because each search scans all connections.
pub const EVICTED_AT_ONCE: usize = 32;
/// Descriptors reserved for other uses, besides those that [`OtherDescriptors`] counts.
const RESERVED_DESCRIPTORS: u64 = 32;
/// Descriptors of each worker beside one bell for each thread.
const DESCRIPTORS_PER_WORKER: u64 = 2;
/// Minimum interval between two equal warnings.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of clients whose last warning is stored.
const MAX_WARNED_CLIENTS: usize = 1000;
/// Maximum number of connections at one time that get a 503; further ones are closed without a response.
const MAX_REFUSALS: u32 = 32;
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(2);
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 48\r\n\
    Retry-After: 2\r\nCameleer-Begun: no\r\nConnection: close\r\n\r\nThe server is busy. Please try again in a while.";

pub struct ConnectionLimit {
    descriptors: u64,
    counts: Arc<Counts>,
    warned: Mutex<HashMap<Option<ClientNetwork>, Instant>>,
    refusals: Arc<AtomicU32>,
}

#[derive(Default)]
struct Counts {
    total: AtomicU32,
    by_client: Mutex<HashMap<ClientNetwork, u32>>,
}

/// Unit of the limit for each client: an IPv4 address, or a /64 network of IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientNetwork(u64);

/// Descriptors in use beside connections, depending on the configuration.
#[derive(Debug, Clone, Copy)]
pub struct OtherDescriptors {
    /// Workers of all generations.
    pub workers: usize,
    /// Threads of the front; each worker has one bell for each.
    pub threads: usize,
    /// Logs of all generations, and listeners.
    pub logs: usize,
}

/// Counts a connection until it is dropped.
pub struct Permit {
    network: Option<ClientNetwork>,
    counts: Arc<Counts>,
    /// Number of connections of its thread.
    thread: Option<Arc<AtomicUsize>>,
}

impl ClientNetwork {
    /// The network of a client; `None` for a Unix socket, whose peer must limit its own clients.
    pub fn of(socket: Option<SocketAddr>) -> Option<ClientNetwork> {
        Some(match socket?.ip() {
            // No IPv6 network in use begins with 32 zero bits, so IPv4 addresses cannot collide.
            IpAddr::V4(ip) => ClientNetwork(u64::from(ip.to_bits())),
            IpAddr::V6(ip) => ClientNetwork((ip.to_bits() >> 64) as u64),
        })
    }
}

impl ConnectionLimit {
    /// Creates a limit; `descriptors` is the process's limit on open files.
    pub fn new(descriptors: u64) -> ConnectionLimit {
        ConnectionLimit { descriptors, counts: Arc::default(), warned: Mutex::default(), refusals: Arc::default() }
    }

    /// Maximum number of connections within the limit on open files, beside workers and logs. A quarter of the
    /// descriptors is reserved for files that connections request.
    fn room(&self, taken: OtherDescriptors) -> u64 {
        let reserved = RESERVED_DESCRIPTORS
            + (DESCRIPTORS_PER_WORKER + taken.threads as u64) * taken.workers as u64
            + taken.logs as u64;
        (self.descriptors.saturating_sub(reserved) / 4 * 3).max(1)
    }

    fn count_of(&self, network: Option<ClientNetwork>) -> u32 {
        network.and_then(|network| lock(&self.counts.by_client).get(&network).copied()).unwrap_or(0)
    }

    fn permit(&self) -> Permit {
        self.counts.total.fetch_add(1, SeqCst);
        Permit { network: None, counts: self.counts.clone(), thread: None }
    }

    /// Logs a warning, unless an equal one was logged within the last minute.
    fn warn(&self, about: Option<ClientNetwork>, message: std::fmt::Arguments<'_>) {
        let now = Instant::now();
        let mut warned = lock(&self.warned);
        if warned.len() >= MAX_WARNED_CLIENTS {
            warned.retain(|_, at| now.duration_since(*at) < WARNING_INTERVAL);
        }
        let is_due = warned.get(&about).is_none_or(|at| now.duration_since(*at) >= WARNING_INTERVAL);
        if is_due && warned.len() < MAX_WARNED_CLIENTS {
            warned.insert(about, now);
            log::warn("front", message);
        }
    }

    /// Answers 503 without reading the request, and closes.
    pub fn turn_away(&self, socket: Socket) {
        if self.refusals.load(SeqCst) < MAX_REFUSALS {
            self.refusals.fetch_add(1, SeqCst);
            let refusals = self.refusals.clone();
            tokio::task::spawn_local(async move {
                let _ = timeout(REFUSAL_TIMEOUT, refuse(socket)).await;
                refusals.fetch_sub(1, SeqCst);
            });
        }
    }
}

impl ConnectionLimit {
    /// A permit for a new connection, if the limits allow. With `remote` unknown, [`ConnectionLimit::settle`] charges
    /// it later.
    pub fn enter(
        &self,
        limits: &Clients,
        remote: Option<&Address>,
        taken: OtherDescriptors,
        connections: &Connections,
    ) -> Option<Permit> {
        if remote.is_some_and(|remote| !self.admits(limits, remote)) {
            return None;
        }
        let mut permit = self.any(limits, taken, connections)?;
        remote.inspect(|remote| permit.take(ClientNetwork::of(remote.socket)));
        Some(permit)
    }

    /// Charges the permit to `remote`, unless that client has reached its limit.
    pub fn settle(&self, limits: &Clients, remote: &Address, permit: &mut Permit) -> bool {
        let admitted = self.admits(limits, remote);
        if admitted {
            permit.take(ClientNetwork::of(remote.socket));
        }
        admitted
    }

    /// Whether a client may have another connection.
    fn admits(&self, limits: &Clients, remote: &Address) -> bool {
        let most = limits.connections_per_client;
        let network = ClientNetwork::of(remote.socket);
        let admitted = most == 0 || self.count_of(network) < most;
        if !admitted {
            let ip = &remote.ip;
            self.warn(
                network,
                format_args!("[client {ip}] has reached MaxConnectionsPerClient {most}: further connections get 503"),
            );
        }
        admitted
    }

    fn any(&self, limits: &Clients, taken: OtherDescriptors, connections: &Connections) -> Option<Permit> {
        let most = u64::from(limits.connections).min(self.room(taken));
        if u64::from(self.counts.total.load(SeqCst)) >= most && connections.evict(EVICTED_AT_ONCE) == 0 {
            self.warn(
                None,
                format_args!("{most} connections are open and none is idle: further connections get 503 (MaxConnections, open files)"),
            );
            return None;
        }
        Some(self.permit())
    }
}

impl Permit {
    /// Charges the permit to a client; before, no client was charged.
    fn take(&mut self, network: Option<ClientNetwork>) {
        if let Some(network) = network {
            *lock(&self.counts.by_client).entry(network).or_default() += 1;
        }
        self.network = network;
    }

    pub fn is_of(&mut self, thread: &Arc<AtomicUsize>) {
        thread.fetch_add(1, SeqCst);
        self.thread = Some(thread.clone());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.counts.total.fetch_sub(1, SeqCst);
        if let Some(thread) = &self.thread {
            thread.fetch_sub(1, SeqCst);
        }
        let Some(network) = self.network else { return };
        let mut by_client = lock(&self.counts.by_client);
        if let Some(count) = by_client.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                by_client.remove(&network);
            }
        }
    }
}

/// Closing with unread bytes would send a reset and discard the response, so input is read for a while.
async fn refuse(mut socket: Socket) -> std::io::Result<()> {
    let mut unread = [0; 1024];
    socket.write_all(REFUSAL).await?;
    socket.shutdown().await?;
    while socket.read(&mut unread).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> Option<ClientNetwork> {
        ClientNetwork::of(Some(SocketAddr::new(address.parse().expect("an address"), 1)))
    }

    #[test]
    fn a_client_is_an_address_or_a_network_of_64_bits() {
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_ne!(network("::1"), network("0.0.0.1"), "of a client on this host");
        assert_eq!(ClientNetwork::of(None), None);
    }

    #[test]
    fn a_permit_is_free_again() {
        let limit = ConnectionLimit::new(1000);
        let client = network("192.0.2.1");
        let permit = |network| {
            let mut permit = limit.permit();
            permit.take(network);
            permit
        };
        let permits = [permit(client), permit(client), permit(network("192.0.2.2")), limit.permit()];
        assert_eq!((limit.counts.total.load(SeqCst), limit.count_of(client)), (4, 2));
        drop(permits);
        assert_eq!((limit.counts.total.load(SeqCst), lock(&limit.counts.by_client).len()), (0, 0));
    }

    #[test]
    fn open_files_leave_descriptors_for_connections() {
        let room = |files, logs| ConnectionLimit::new(files).room(OtherDescriptors { workers: 16, threads: 1, logs });
        assert_eq!(room(1024, 0), (1024 - 32 - 48) / 4 * 3);
        assert_eq!(room(4096, 2000), (4096 - 32 - 48 - 2000) / 4 * 3);
        assert_eq!(room(10, 0), 1);
    }

    #[test]
    fn the_503_of_a_refused_connection_has_its_content_length() {
        let (head, body) = REFUSAL.split_at(REFUSAL.windows(4).position(|w| w == b"\r\n\r\n").expect("a head") + 4);
        assert!(String::from_utf8_lossy(head).contains(&format!("Content-Length: {}\r\n", body.len())));
    }
}
