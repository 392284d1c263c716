//! How many connections there may be: of all clients, and of one. For a new one those make room that were idle for longest;
//! when none is idle, or its client has enough, it is told to come back and closed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::front::Front;
use crate::front::base::address::Address;
use crate::front::client::transport::Socket;
use crate::front::site::Site;
use crate::log;

/// Closing idle connections one by one would look through all of them for each.
pub const EVICTED_AT_ONCE: usize = 32;
/// Descriptors that are not for connections, besides logs and listeners.
const OURS: u64 = 32;
/// And for each worker: its socket, the copy of its end, a body on its way.
const OF_A_WORKER: u64 = 3;
/// One line an event and minute.
const TOLD_FOR: Duration = Duration::from_secs(60);
/// Clients that were complained about; more are forgotten early.
const MAX_TOLD: usize = 1000;
/// Connections at one time that are told why they are closed; further ones are just closed.
const MAX_GOODBYES: u32 = 32;
const GOODBYE_TIME: Duration = Duration::from_secs(2);
const GOODBYE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 48\r\n\
    Retry-After: 2\r\nConnection: close\r\n\r\nThe server is busy. Please try again in a while.";

/// See the module's text.
pub struct Crowd {
    descriptors: u64,
    total: Rc<Cell<u32>>,
    by_client: Rc<RefCell<HashMap<Origin, u32>>>,
    told: RefCell<HashMap<Option<Origin>, Instant>>,
    goodbyes: Rc<Cell<u32>>,
}

/// Whose connections count together: an address; of IPv6 the 64 bits that a customer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin(u64);

/// A connection's place, free again when this goes.
pub struct Place {
    origin: Option<Origin>,
    total: Rc<Cell<u32>>,
    by_client: Rc<RefCell<HashMap<Origin, u32>>>,
}

impl Origin {
    /// `None` for a unix socket: what is behind that limits its clients itself.
    pub fn of(socket: Option<SocketAddr>) -> Option<Origin> {
        Some(match socket?.ip() {
            // No IPv6 network that is in use begins with 32 zero bits.
            IpAddr::V4(ip) => Origin(u64::from(ip.to_bits())),
            IpAddr::V6(ip) => Origin((ip.to_bits() >> 64) as u64),
        })
    }
}

impl Crowd {
    /// Nobody yet, in a process that may have so many open files.
    pub fn new(descriptors: u64) -> Crowd {
        Crowd {
            descriptors,
            total: Rc::default(),
            by_client: Rc::default(),
            told: RefCell::default(),
            goodbyes: Rc::default(),
        }
    }

    /// How many connections the limit on open files allows beside so many workers and logs; a quarter is left for the files that
    /// they ask for.
    fn room(&self, workers: usize, logs: usize) -> u64 {
        let kept = OURS + OF_A_WORKER * workers as u64 + logs as u64;
        (self.descriptors.saturating_sub(kept) / 4 * 3).max(1)
    }

    fn count_of(&self, origin: Option<Origin>) -> u32 {
        origin.and_then(|origin| self.by_client.borrow().get(&origin).copied()).unwrap_or(0)
    }

    fn place(&self) -> Place {
        self.total.update(|n| n + 1);
        Place { origin: None, total: self.total.clone(), by_client: self.by_client.clone() }
    }

    /// Says it, unless that was said within the last minute.
    fn tell(&self, about: Option<Origin>, message: std::fmt::Arguments<'_>) {
        let now = Instant::now();
        let mut told = self.told.borrow_mut();
        if told.len() >= MAX_TOLD {
            told.retain(|_, at| now.duration_since(*at) < TOLD_FOR);
        }
        let is_news = told.get(&about).is_none_or(|at| now.duration_since(*at) >= TOLD_FOR);
        if is_news && told.len() < MAX_TOLD {
            told.insert(about, now);
            log::warn("front", message);
        }
    }

    /// Answers 503 without having read the request, and closes.
    pub fn turn_away(&self, socket: Socket) {
        if self.goodbyes.get() < MAX_GOODBYES {
            self.goodbyes.update(|n| n + 1);
            let goodbyes = self.goodbyes.clone();
            tokio::task::spawn_local(async move {
                let _ = timeout(GOODBYE_TIME, say_goodbye(socket)).await;
                goodbyes.update(|n| n - 1);
            });
        }
    }
}

impl Front {
    /// A place for a new connection, if there is one; a client that is not known yet gets it by [`Front::settle`].
    pub fn enter(&self, site: &Site, remote: Option<&Address>) -> Option<Place> {
        if remote.is_some_and(|remote| !self.admits(site, remote)) {
            return None;
        }
        let mut place = self.any_place(site)?;
        remote.inspect(|remote| place.take(Origin::of(remote.socket)));
        Some(place)
    }

    /// Makes the place that of `remote`, unless it has enough.
    pub fn settle(&self, site: &Site, remote: &Address, place: &mut Place) -> bool {
        let admitted = self.admits(site, remote);
        if admitted {
            place.take(Origin::of(remote.socket));
        }
        admitted
    }

    /// Whether a client may have one more.
    fn admits(&self, site: &Site, remote: &Address) -> bool {
        let most = site.config.clients.connections_per_client;
        let origin = Origin::of(remote.socket);
        let admitted = most == 0 || self.crowd.count_of(origin) < most;
        if !admitted {
            let ip = &remote.ip;
            self.crowd.tell(
                origin,
                format_args!("[client {ip}] has MaxConnectionsPerClient {most} connections: 503 for more"),
            );
        }
        admitted
    }

    fn any_place(&self, site: &Site) -> Option<Place> {
        let limits = &site.config.clients;
        let sites = self.sites.borrow();
        let logs = |site: &Rc<Site>| site.config.logs.len() + site.config.error_logs.len();
        let room = self.crowd.room(
            sites.iter().map(|site| site.pool.count()).sum(),
            sites.iter().map(logs).sum::<usize>() + site.config.listen.len(),
        );
        let most = u64::from(limits.connections).min(room);
        if u64::from(self.crowd.total.get()) >= most && self.connections.evict(EVICTED_AT_ONCE) == 0 {
            self.crowd.tell(
                None,
                format_args!("{most} connections, none of them idle: 503 for more (MaxConnections, open files)"),
            );
            return None;
        }
        Some(self.crowd.place())
    }
}

impl Place {
    /// Whose it is; it was nobody's.
    fn take(&mut self, origin: Option<Origin>) {
        if let Some(origin) = origin {
            *self.by_client.borrow_mut().entry(origin).or_default() += 1;
        }
        self.origin = origin;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.total.update(|n| n - 1);
        let Some(origin) = self.origin else { return };
        let mut by_client = self.by_client.borrow_mut();
        if let Some(count) = by_client.get_mut(&origin) {
            *count -= 1;
            if *count == 0 {
                by_client.remove(&origin);
            }
        }
    }
}

/// A close with bytes unread would be a reset, which takes the answer with it: what comes is read for a while.
async fn say_goodbye(socket: Socket) -> std::io::Result<()> {
    let mut unread = [0; 1024];
    match socket {
        Socket::Tcp(mut socket) => {
            socket.write_all(GOODBYE).await?;
            socket.shutdown().await?;
            while socket.read(&mut unread).await? > 0 {}
        }
        Socket::Unix(mut socket) => {
            socket.write_all(GOODBYE).await?;
            socket.shutdown().await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(address: &str) -> Option<Origin> {
        Origin::of(Some(SocketAddr::new(address.parse().expect("an address"), 1)))
    }

    #[test]
    fn a_client_is_an_address_or_a_network_of_64_bits() {
        assert_ne!(origin("192.0.2.1"), origin("192.0.2.2"));
        assert_eq!(origin("2001:db8:1:2::1"), origin("2001:db8:1:2:ffff::9"));
        assert_ne!(origin("2001:db8:1:2::1"), origin("2001:db8:1:3::1"));
        assert_ne!(origin("::1"), origin("0.0.0.1"), "of a client on this host");
        assert_eq!(Origin::of(None), None);
    }

    #[test]
    fn a_place_is_free_again() {
        let crowd = Crowd::new(1000);
        let client = origin("192.0.2.1");
        let place = |origin| {
            let mut place = crowd.place();
            place.take(origin);
            place
        };
        let places = [place(client), place(client), place(origin("192.0.2.2")), crowd.place()];
        assert_eq!((crowd.total.get(), crowd.count_of(client)), (4, 2));
        drop(places);
        assert_eq!((crowd.total.get(), crowd.by_client.borrow().len()), (0, 0));
    }

    #[test]
    fn open_files_leave_room_for_what_connections_ask_for() {
        assert_eq!(Crowd::new(1024).room(16, 0), (1024 - 32 - 48) / 4 * 3);
        assert_eq!(Crowd::new(4096).room(16, 2000), (4096 - 32 - 48 - 2000) / 4 * 3);
        assert_eq!(Crowd::new(10).room(16, 0), 1);
    }

    #[test]
    fn the_goodbye_is_as_long_as_it_says() {
        let (head, body) = GOODBYE.split_at(GOODBYE.windows(4).position(|w| w == b"\r\n\r\n").expect("a head") + 4);
        assert!(String::from_utf8_lossy(head).contains(&format!("Content-Length: {}\r\n", body.len())));
    }
}
