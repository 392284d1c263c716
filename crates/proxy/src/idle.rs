//! Connections that wait for the next request.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use hyper::client::conn::http1::SendRequest;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, sleep};

use crate::http2::Http2Sender;
use crate::key::Key;
use crate::metered::Allowance;
use crate::upload::ProxiedBody;

/// Maximum number of idle connections to one backend.
const MAX_CONNECTIONS: usize = 64;
/// Time after which an idle connection is closed, unless `ttl` says otherwise.
const USUAL_TTL: Duration = Duration::from_secs(60);

/// The idle connections of one thread.
#[derive(Default)]
pub(crate) struct Idle {
    connections: RefCell<HashMap<Key, Vec<Waiting>>>,
}

struct Waiting {
    link: Link,
    until: Instant,
}

/// A connection to a backend. Dropping it closes the connection, even with unsent bytes.
pub(crate) struct Link {
    pub sender: Sender,
    /// The bytes that the backend may send before its response has a head.
    pub allowance: Allowance,
    /// The task that reads and writes.
    pub task: AbortHandle,
}

/// The sending half of a connection.
pub(crate) enum Sender {
    Http1(SendRequest<ProxiedBody>),
    Http2(Http2Sender),
}

impl Sender {
    /// Whether the connection takes a request now; `None` if it takes none any more.
    fn is_ready(&mut self) -> Option<bool> {
        match self {
            Sender::Http1(sender) => (!sender.is_closed()).then(|| sender.is_ready()),
            Sender::Http2(sender) => sender.is_ready(),
        }
    }

    /// Waits until the connection can carry another request. False: it cannot any more.
    pub async fn ready(&mut self) -> bool {
        match self {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.is_ready() == Some(true),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Idle {
    /// The connection to the backend that was used last.
    pub fn take(&self, key: &Key) -> Option<Link> {
        let mut connections = self.connections.borrow_mut();
        let waiting = connections.get_mut(key)?;
        let now = Instant::now();
        while let Some(Waiting { mut link, until }) = waiting.pop() {
            if until > now && link.sender.is_ready() == Some(true) {
                return Some(link);
            }
        }
        None
    }

    /// Stores a connection that can carry a request.
    pub fn put(self: &Rc<Idle>, key: Key, link: Link, ttl: Option<Duration>) {
        let mut connections = self.connections.borrow_mut();
        if connections.is_empty() {
            spawn_local(close_in_time(Rc::downgrade(self)));
        }
        let waiting = connections.entry(key).or_default();
        waiting.push(Waiting { link, until: Instant::now() + ttl.unwrap_or(USUAL_TTL) });
        if waiting.len() > MAX_CONNECTIONS {
            waiting.remove(0);
        }
    }

    /// Closes expired connections, and removes those that the backend has closed.
    fn clear(&self) {
        let now = Instant::now();
        self.connections.borrow_mut().retain(|_, waiting| {
            waiting.retain_mut(|one| one.until > now && one.link.sender.is_ready().is_some());
            !waiting.is_empty()
        });
    }
}

/// Closes idle connections in time, as long as there are some.
async fn close_in_time(idle: Weak<Idle>) {
    loop {
        sleep(Duration::from_secs(1)).await;
        let Some(idle) = idle.upgrade() else { return };
        idle.clear();
        if idle.connections.borrow().is_empty() {
            return;
        }
    }
}
