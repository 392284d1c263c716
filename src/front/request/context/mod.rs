//! What the access log says of one request. It is gathered while the request is answered and written when the last
//! byte has gone out, or the client has left, and the worker has told what only it knows.

pub mod host_header;
pub mod remote_ip;
pub mod variables;

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Display;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use http::request::Parts;
use http::{HeaderMap, Version};

use super::access::Visitor;
use crate::config::KeepAlive;
use crate::config::rules::setenv::Variables;
use crate::front::base::address::Address;
use crate::front::client::Client;
use crate::front::count;
pub use crate::front::http2::Stream;
use crate::front::routing::Route;
use crate::front::site::Site;
use crate::front::workers::{Exchange, Promised, Shared, Stage};
use remote_ip::Origin;
use variables::Basis;

/// How the connection was left after the answer: `%X`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The client left, or was cut off, before it had everything.
    Aborted,
    /// It may send a further request.
    Kept,
    /// It was closed in order.
    Closed,
}

/// The status that is logged for a client that left before there was an answer; nginx's number.
const CLIENT_LEFT: u16 = 499;

/// Marks the head of a request that could not be read; what is known of its first line.
#[derive(Debug, Clone)]
pub struct Unreadable(pub Vec<u8>);

/// See the module's text.
pub struct Record {
    /// Who asked.
    pub client: Rc<Client>,
    /// The generation that answered.
    pub site: Rc<Site>,
    /// The request's head.
    pub head: Parts,
    /// Where it came from when its connection carries several at once.
    pub stream: Option<Rc<Stream>>,
    /// Requests on this connection before this one.
    pub served: u32,
    /// When the head was whole.
    pub received: SystemTime,
    /// The same on the clock that never jumps.
    pub started: Instant,
    /// Who asks, when a proxy is believed; see [`Record::remote`].
    pub origin: OnceCell<Origin>,
    /// Whether the client speaks TLS, when a proxy is believed; see [`Record::is_secure`].
    pub proto: OnceCell<bool>,
    /// Where it led, once known.
    pub route: RefCell<Option<Rc<Route>>>,
    /// The variables that the configuration sets for it.
    pub variables: RefCell<Variables>,
    /// What they were worked out from.
    pub basis: RefCell<Option<Basis>>,
    /// Those that it brings from before it was sent on to an error document.
    pub before: RefCell<Variables>,
    /// The worker's part, if a worker was asked.
    pub exchange: RefCell<Option<Shared>>,
    /// What was found out about who asks.
    pub visitor: RefCell<Visitor>,
    /// Of the answer.
    pub status: Cell<u16>,
    /// The answer's headers, kept only when a format names one.
    pub answer: OnceCell<HeaderMap>,
    /// From the whole head to the last byte.
    pub took: Cell<Duration>,
    /// Body bytes sent, without chunk sizes.
    pub body_bytes: Cell<u64>,
    /// All bytes received for it; of HTTP/2, those of its stream.
    pub received_bytes: Cell<u64>,
    /// All bytes sent for it.
    pub sent_bytes: Cell<u64>,
    /// See [`Ending`].
    pub ending: Cell<Ending>,
}

impl Record {
    /// The last byte has gone out, or the client has left: writes it, or leaves it with the exchange until the worker
    /// has ended.
    pub fn finish(self: Rc<Self>) {
        let counters = &self.client.front.counters;
        counters.bytes.update(|bytes| bytes + self.body_bytes.get());
        counters.duration_us.update(|took| took + self.took.get().as_micros() as u64);
        let Some(exchange) = self.exchange.take() else { return self.write(None) };
        let mut exchange = exchange.borrow_mut();
        match exchange.stage {
            Stage::Over => self.write(Some(&exchange)),
            Stage::Queued | Stage::Running => {
                exchange.on_end = Some(Box::new(move |exchange| self.write(Some(exchange))))
            }
        }
    }

    /// Writes it to the access logs of its host.
    pub fn write(&self, exchange: Option<&Exchange>) {
        self.site.access_logs.write(self, exchange);
        self.client.front.clock.start();
    }

    /// Writes what is wrong with its answer to its host's error log.
    pub fn complain(&self, route: &Route, why: &dyn Display) {
        let path = String::from_utf8_lossy(&route.path);
        let message = format_args!("{}: {why}", path);
        self.site.error_logs.error(&self.site.config, route.host, Some(self.remote()), &message);
    }

    /// Who asks.
    pub fn remote(&self) -> &Address {
        self.origin.get().map_or(&self.client.remote, |origin| &origin.address)
    }

    /// Whether the client speaks TLS, with us or with a proxy.
    pub fn is_secure(&self) -> bool {
        self.proto.get().copied().unwrap_or_else(|| self.client.session().is_some())
    }

    /// Index of the virtual host.
    pub fn host(&self) -> usize {
        self.route.borrow().as_ref().map_or(0, |route| route.host.into())
    }

    /// What its virtual host says of further requests.
    pub fn keep_alive(&self) -> KeepAlive {
        self.site.config.hosts.get(self.host()).map(|host| host.keep_alive).unwrap_or_default()
    }

    /// The whole answer was handed over.
    pub fn complete(&self, kept: bool) {
        self.ending.set(if kept { Ending::Kept } else { Ending::Closed });
    }
}

impl Promised for Record {
    fn is_broken(&self, why: std::fmt::Arguments<'_>) {
        if let Some(route) = &*self.route.borrow() {
            self.complain(route, &why);
        }
    }

    /// A stream has an end of its own.
    fn end_connection(&self) {
        if self.stream.is_some() {
            return;
        }
        if self.ending.get() == Ending::Kept {
            self.ending.set(Ending::Closed);
        }
        self.client.close();
        self.client.front.connections.wake_one(&self.client);
    }
}

/// A request that is being answered. When this goes, the answer is over, whichever way it went.
pub struct Visit(Rc<Record>);

impl Visit {
    /// The head of a request is whole.
    pub fn begin(client: Rc<Client>, site: Rc<Site>, head: Parts, stream: Option<Rc<Stream>>) -> Visit {
        let started = Instant::now();
        client.begins(started);
        count(&client.front.counters.requests);
        Visit(Rc::new(Record {
            served: client.served.get(),
            client,
            site,
            head,
            stream,
            received: SystemTime::now(),
            started,
            origin: OnceCell::new(),
            proto: OnceCell::new(),
            route: RefCell::default(),
            variables: RefCell::default(),
            basis: RefCell::default(),
            before: RefCell::default(),
            exchange: RefCell::default(),
            visitor: RefCell::default(),
            status: Cell::new(CLIENT_LEFT),
            answer: OnceCell::new(),
            took: Cell::default(),
            body_bytes: Cell::default(),
            received_bytes: Cell::default(),
            sent_bytes: Cell::default(),
            ending: Cell::new(Ending::Aborted),
        }))
    }
}

impl Visit {
    /// What is gathered of it.
    pub fn record(&self) -> &Rc<Record> {
        &self.0
    }
}

impl std::ops::Deref for Visit {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.0
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.client.answered(self.0.clone());
    }
}

impl Record {
    /// Whether the client wants the connection kept.
    pub fn wants_keep_alive(&self) -> bool {
        let says = |word: &str| {
            let values = self.head.headers.get_all(http::header::CONNECTION).iter();
            values.filter_map(|value| value.to_str().ok()).any(|value| contains_token(value, word))
        };
        match self.head.version {
            Version::HTTP_2 => true,
            Version::HTTP_11 => !says("close"),
            _ => says("keep-alive"),
        }
    }
}

fn contains_token(list: &str, word: &str) -> bool {
    list.split(',').any(|token| token.trim().eq_ignore_ascii_case(word))
}
