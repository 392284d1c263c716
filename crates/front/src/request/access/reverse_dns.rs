//! Reverse DNS of clients, and forward DNS of names that `Require forward-dns` permits. A lookup can take seconds, so
//! it runs on another thread while only its request waits. Results are valid for a minute.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

use crate::base::address::Address;
use crate::base::blocking::{self, NoThread};
use crate::routing::Route;
use access::names::{Resolver, leads_to, look_up};
use base::cache::BoundedCache;
use config::CanonicalName;

/// Maximum number of concurrent lookups. More threads would only wait for the same name server.
const AT_ONCE: usize = 8;
/// Timeout of a lookup, after which the client has no name.
const PATIENCE: Duration = Duration::from_secs(5);
const GOOD_FOR: Duration = Duration::from_secs(60);
const MAX_NAMES: usize = 4096;

pub struct ReverseDns {
    resolver: Arc<dyn Resolver>,
    threads: Arc<Semaphore>,
    known: RefCell<BoundedCache<Question, CachedName, MAX_NAMES>>,
    forward: RefCell<BoundedCache<ForwardQuestion, (Instant, bool), MAX_NAMES>>,
}

/// An address, and whether its name must resolve back to it.
type Question = (IpAddr, bool);

/// Names of which one must resolve to the address.
type ForwardQuestion = (Vec<String>, IpAddr);

struct CachedName {
    since: Instant,
    name: Rc<OnceCell<Option<Rc<str>>>>,
}

impl ReverseDns {
    pub fn new(resolver: Arc<dyn Resolver>) -> ReverseDns {
        ReverseDns {
            resolver,
            threads: Arc::new(Semaphore::new(AT_ONCE)),
            known: RefCell::default(),
            forward: RefCell::default(),
        }
    }

    /// The name of `address`. Concurrent requests for the same address share one lookup.
    pub async fn of(&self, address: IpAddr, verified: bool) -> Result<Option<Rc<str>>, NoThread> {
        let question = (address, verified);
        let name = self.cell(question);
        let lookup = name
            .get_or_try_init(|| async { timeout(PATIENCE, self.look_up(address, verified)).await.unwrap_or(Ok(None)) });
        lookup.await.cloned()
    }

    /// Whether one of the names has this address. The error, for the log: no answer in time, or too many names.
    pub async fn leads_to(&self, names: &[String], address: IpAddr) -> Result<Result<bool, String>, NoThread> {
        let question = (names.to_vec(), address);
        let known = self.forward.borrow_mut().get(&question).copied();
        if let Some((_, leads)) = known.filter(|(since, _)| since.elapsed() < GOOD_FOR) {
            return Ok(Ok(leads));
        }
        let permit = self.threads.clone().acquire_owned().await.map_err(|_| NoThread)?;
        let (resolver, names) = (self.resolver.clone(), names.to_vec());
        let lookup = blocking::run("look up a name of Require forward-dns", move || {
            let leads = leads_to(&*resolver, &names, address);
            drop(permit);
            leads
        });
        let Ok(leads) = timeout(PATIENCE, lookup).await else {
            return Ok(Err(format!("Require forward-dns {}: no answer in time", question.0.join(" ").escape_debug())));
        };
        let leads = leads?;
        if let Ok(leads) = leads {
            self.forward.borrow_mut().put(question, (Instant::now(), leads));
        }
        Ok(leads)
    }

    fn cell(&self, question: Question) -> Rc<OnceCell<Option<Rc<str>>>> {
        let mut known = self.known.borrow_mut();
        if let Some(good) = known.get(&question).filter(|known| known.since.elapsed() < GOOD_FOR) {
            return good.name.clone();
        }
        let name = Rc::default();
        known.put(question, CachedName { since: Instant::now(), name: Rc::clone(&name) });
        name
    }

    /// The thread holds the permit until the name server has answered, even if no request waits any more.
    async fn look_up(&self, address: IpAddr, verified: bool) -> Result<Option<Rc<str>>, NoThread> {
        let permit = self.threads.clone().acquire_owned().await.map_err(|_| NoThread)?;
        let resolver = self.resolver.clone();
        let lookup = blocking::run("look up a client's name", move || {
            let name = look_up(&*resolver, address, verified);
            drop(permit);
            name
        });
        Ok(lookup.await?.map(Rc::from))
    }
}

/// Implements `UseCanonicalName DNS`: the server name is the DNS name of the connection's local address.
pub async fn named_by_dns(names: &ReverseDns, local: &Address, route: Rc<Route>) -> Rc<Route> {
    if route.settings.response.canonical_name != Some(CanonicalName::Dns) {
        return route;
    }
    match Box::pin(names.of(local.ip_addr(), false)).await {
        Ok(Some(server_name)) => Rc::new(route.named(server_name)),
        _ => route,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, channel};

    use tokio::runtime::Builder;

    use super::*;

    /// A resolver that answers on the test's signal, and counts its concurrent and total calls.
    struct Slow {
        go: Mutex<Receiver<()>>,
        waiting: AtomicUsize,
        most: AtomicUsize,
        asked: AtomicUsize,
    }

    impl Resolver for Slow {
        fn name_of(&self, address: IpAddr) -> Option<String> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let waiting = self.waiting.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(waiting, Ordering::SeqCst);
            let go = self.go.lock().expect("no panic").recv();
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            go.ok().map(|()| format!("host-{}", address.to_string().replace('.', "-")))
        }

        fn addresses_of(&self, _: &str) -> Vec<IpAddr> {
            Vec::new()
        }
    }

    #[test]
    fn a_slow_name_server_delays_only_lookups_and_occupies_few_threads() {
        let (say, go) = channel();
        let slow = Arc::new(Slow {
            go: Mutex::new(go),
            waiting: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
        });
        let names = ReverseDns::new(slow.clone());
        let address = |n: u8| IpAddr::from([192, 0, 2, n]);
        let all = async {
            let many = futures(&names, (0..40).map(|n| address(n % 20)));
            let free = async {
                // The event thread continues while the lookups wait.
                while slow.waiting.load(Ordering::SeqCst) < AT_ONCE {
                    tokio::task::yield_now().await;
                }
                (0..20).for_each(|_| say.send(()).expect("somebody listens"));
            };
            tokio::join!(many, free).0
        };
        let found = Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(all);
        assert_eq!(found[3].as_deref(), Some("host-192-0-2-3"));
        assert!(found.iter().all(Option::is_some) && found[..20] == found[20..]);
        assert_eq!(slow.most.load(Ordering::SeqCst), AT_ONCE);
        assert_eq!(slow.asked.load(Ordering::SeqCst), 20);
    }

    async fn futures(names: &ReverseDns, addresses: impl Iterator<Item = IpAddr>) -> Vec<Option<Rc<str>>> {
        let mut lookups: Vec<_> = addresses.map(|address| Box::pin(names.of(address, false))).collect();
        let mut found = vec![None; lookups.len()];
        let mut open: Vec<usize> = (0..lookups.len()).collect();
        std::future::poll_fn(|cx| {
            open.retain(|at| match lookups[*at].as_mut().poll(cx) {
                std::task::Poll::Ready(name) => {
                    found[*at] = name.expect("a thread");
                    false
                }
                std::task::Poll::Pending => true,
            });
            if open.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        found
    }
}
