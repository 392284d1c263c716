//! What the access log says of one request. It is gathered while the request is answered and written when the last
//! byte has gone out, or the client has left, and the worker has told what only it knows.

use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use http::request::Parts;
use http::{HeaderMap, Version};

use super::client::Client;
use super::count;
use super::exchange::{Exchange, Shared, Stage};
use super::route::Route;
use super::site::Site;

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

/// See the module's text.
pub struct Record {
    /// Who asked.
    pub client: Rc<Client>,
    /// The generation that answered.
    pub site: Rc<Site>,
    /// The request's head.
    pub head: Parts,
    /// Where it led, once known.
    pub route: Option<Rc<Route>>,
    /// The worker's part, if a worker was asked.
    pub exchange: Option<Shared>,
    /// Of the answer; 0 while there is none.
    pub status: u16,
    /// The answer's headers, kept only when a format names one.
    pub answer: HeaderMap,
    /// Requests on this connection before this one.
    pub served: u32,
    /// When the head was whole.
    pub received: SystemTime,
    /// The same on the clock that never jumps.
    pub started: Instant,
    /// From then to the last byte.
    pub took: Duration,
    /// Body bytes sent, without chunk sizes.
    pub body_bytes: u64,
    /// All bytes received for it.
    pub received_bytes: u64,
    /// All bytes sent for it.
    pub sent_bytes: u64,
    /// See [`Ending`].
    pub ending: Ending,
}

impl Record {
    /// Writes it, or leaves it with the exchange until the worker has ended.
    pub fn finish(mut self: Box<Self>) {
        let Some(exchange) = self.exchange.take() else { return self.write(None) };
        let mut exchange = exchange.borrow_mut();
        match exchange.stage {
            Stage::Over => self.write(Some(&exchange)),
            Stage::Queued | Stage::Running => exchange.record = Some(self),
        }
    }

    /// Writes it to the access logs of its host.
    pub fn write(&self, exchange: Option<&Exchange>) {
        self.site.access_logs.write(self, exchange);
        self.client.front.clock.start();
    }
}

/// A request that is being answered. When this goes, the request is over, whichever way it went.
pub struct Visit(Option<Box<Record>>);

impl Visit {
    /// The head of a request is whole.
    pub fn begin(client: Rc<Client>, site: Rc<Site>, head: Parts) -> Visit {
        let started = Instant::now();
        client.begins(started);
        count(&client.front.counters.requests);
        Visit(Some(Box::new(Record {
            served: client.served.get(),
            client,
            site,
            head,
            route: None,
            exchange: None,
            status: 0,
            answer: HeaderMap::new(),
            received: SystemTime::now(),
            started,
            took: Duration::ZERO,
            body_bytes: 0,
            received_bytes: 0,
            sent_bytes: 0,
            ending: Ending::Aborted,
        })))
    }

    /// `n` bytes of body go to the client.
    pub fn sends(&mut self, n: usize) {
        self.body_bytes += n as u64;
    }

    /// The whole answer was handed over.
    pub fn completes(&mut self, kept: bool) {
        self.ending = if kept { Ending::Kept } else { Ending::Closed };
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
            Version::HTTP_11 => !says("close"),
            _ => says("keep-alive"),
        }
    }
}

fn contains_token(list: &str, word: &str) -> bool {
    list.split(',').any(|token| token.trim().eq_ignore_ascii_case(word))
}

// A visit has its record until it is dropped.
impl std::ops::Deref for Visit {
    type Target = Record;

    #[allow(clippy::unreachable, reason = "only drop takes the record")]
    fn deref(&self) -> &Record {
        match &self.0 {
            Some(record) => record,
            None => unreachable!("a visit's record is taken only when it is dropped"),
        }
    }
}

impl std::ops::DerefMut for Visit {
    #[allow(clippy::unreachable, reason = "only drop takes the record")]
    fn deref_mut(&mut self) -> &mut Record {
        match &mut self.0 {
            Some(record) => record,
            None => unreachable!("a visit's record is taken only when it is dropped"),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let Some(mut record) = self.0.take() else { return };
        if record.status == 0 {
            record.status = CLIENT_LEFT;
        }
        let client = record.client.clone();
        client.answered(record);
    }
}
