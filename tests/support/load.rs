//! Clients that send requests in a loop while a test acts on the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, spawn};

use super::{Address, Connection, Request, Response, Server, until};

/// Running clients, each on a keep-alive connection.
pub struct Load {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    clients: Vec<JoinHandle<Vec<String>>>,
}

impl Load {
    /// Starts `clients` clients that GET `target` until [`Self::failures`]. `good` accepts a response.
    pub fn start(server: &Server, clients: usize, target: &str, good: fn(&Response) -> bool) -> Load {
        Load::at(&server.address, clients, &Request::get(target), good)
    }

    /// Starts `clients` clients that send `request`.
    pub fn asking(server: &Server, clients: usize, request: &Request, good: fn(&Response) -> bool) -> Load {
        Load::at(&server.address, clients, request, good)
    }

    /// Starts `clients` clients that send `request` to another program, such as a load balancer.
    pub fn at(address: &Address, clients: usize, request: &Request, good: fn(&Response) -> bool) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicU64::new(0));
        let client = || {
            let (address, request) = (address.clone(), request.clone());
            let (stop, answered) = (stop.clone(), answered.clone());
            spawn(move || ask_until(&stop, &address, &request, &answered, good))
        };
        Load { clients: (0..clients).map(|_| client()).collect(), stop, answered }
    }

    /// Waits for `count` more responses, at any rate.
    #[track_caller]
    pub fn until_answered(&self, count: u64) {
        let answered = || self.answered.load(Ordering::Relaxed);
        let (mut now, all) = (answered(), answered() + count);
        while now < all {
            until(&format!("another answer; {} are left", all - now), || answered() > now);
            now = answered();
        }
    }

    /// Stops the clients. Returns every failure.
    pub fn failures(self) -> Vec<String> {
        self.end().1
    }

    /// Stops the clients. Returns the number of responses and every failure.
    pub fn end(self) -> (u64, Vec<String>) {
        self.stop.store(true, Ordering::Relaxed);
        let failures =
            self.clients.into_iter().flat_map(|client| client.join().expect("clients do not panic")).collect();
        (self.answered.load(Ordering::Relaxed), failures)
    }
}

fn ask_until(
    stop: &AtomicBool,
    address: &Address,
    request: &Request,
    answered: &AtomicU64,
    good: fn(&Response) -> bool,
) -> Vec<String> {
    let mut failures = Vec::new();
    let mut connection = None;
    while !stop.load(Ordering::Relaxed) {
        let mut open = match connection.take().map_or_else(|| Connection::open(address), Ok) {
            Ok(open) => open,
            Err(error) => {
                failures.push(format!("connect: {error}"));
                continue;
            }
        };
        match open.try_ask(request) {
            Err(error) => failures.push(error.to_string()),
            Ok(response) => {
                if !good(&response) {
                    failures.push(format!("{response:?}"));
                }
                let last = response.header("connection").is_some_and(|c| c.eq_ignore_ascii_case("close"));
                connection = (!last).then_some(open);
            }
        }
        answered.fetch_add(1, Ordering::Relaxed);
    }
    failures
}
