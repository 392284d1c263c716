//! Looks up names of backends. Lookups block, so each has a thread, and their number is limited.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::thread::Builder;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;

/// Maximum number of lookups at once, in all threads of the front.
static LOOKUPS: Semaphore = Semaphore::const_new(16);
/// As [`LOOKUPS`], for names that are compared with networks.
static COMPARED: Semaphore = Semaphore::const_new(4);
/// Time for which addresses of a name are used.
const REMEMBERED: Duration = Duration::from_secs(5);

/// Names and their addresses.
#[derive(Default)]
pub(crate) struct Names {
    known: RefCell<HashMap<(String, u16), KnownName>>,
}

/// The addresses of a name, and when they are looked up again.
#[derive(Clone)]
struct KnownName {
    until: Instant,
    addresses: Vec<SocketAddr>,
}

impl Names {
    /// The addresses of a host name. A literal address is returned as is.
    pub async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        self.found(host, port, &LOOKUPS).await
    }

    /// As [`Names::addresses`], with lookups that are counted apart.
    pub async fn addresses_apart(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        self.found(host, port, &COMPARED).await
    }

    async fn found(&self, host: &str, port: u16, lookups: &'static Semaphore) -> io::Result<Vec<SocketAddr>> {
        if let Ok(ip) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, port)]);
        }
        let key = (host.to_owned(), port);
        let known = self.known.borrow().get(&key).filter(|known| known.until > Instant::now()).cloned();
        if let Some(known) = known {
            return Ok(known.addresses);
        }
        let addresses = look_up(key.clone(), lookups).await?;
        let (mut known, now) = (self.known.borrow_mut(), Instant::now());
        known.retain(|_, known| known.until > now);
        known.insert(key, KnownName { until: now + REMEMBERED, addresses: addresses.clone() });
        Ok(addresses)
    }
}

/// Queries the system's resolver. The permit is held until the resolver has answered, even if the requests that wait
/// have ended.
async fn look_up(name: (String, u16), lookups: &'static Semaphore) -> io::Result<Vec<SocketAddr>> {
    let permit = lookups.acquire().await.map_err(io::Error::other)?;
    let (tell, receiver) = oneshot::channel();
    Builder::new().name("cameleer-names".to_owned()).spawn(move || {
        let found = name.to_socket_addrs().map(Iterator::collect);
        drop(permit);
        let _ = tell.send(found);
    })?;
    receiver.await.map_err(io::Error::other)?
}
