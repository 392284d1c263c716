//! One request while it is answered: who asked, where it led, what was found out on the way. When the last byte has gone out
//! or the client has left, and the worker has said its last word, it becomes a line of the access log.

mod forwarded;
pub mod host_header;
pub mod remote_ip;
mod rules;
mod span;
pub mod variables;
mod visitor;

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Display;
use std::rc::{Rc, Weak};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Version};
use wire::control::{PoolNumber, SlowRequest};
use wire::frame::name_in_logs;
use wire::reply::Head;

use super::services::{Connection, Services};
use crate::base::address::Address;
use crate::base::measures::{Finished, Worked};
use crate::base::shared::count;
use crate::client::{Client, Pending};
use crate::generation::View;
use crate::log::entry::{Ending, Entry, Place, Worker, since_1970};
use crate::routing::Route;
use crate::trace::TraceContext;
use crate::workers::{Exchange, Label, Promised, SharedExchange, Stage};
use base::log;
use base::printable;
use config::response::variables::Variables;
use config::{KeepAlive, work};
use remote_ip::ForwardedClient;
use span::span_of;
use variables::Basis;
use visitor::Visitor;

/// The status that is logged for a client that left before there was an answer; nginx's number.
const CLIENT_LEFT: u16 = 499;

/// The stream that a request came on, when its connection carries several at once.
pub trait Stream {
    /// Sends an interim response (103) before the answer.
    fn inform(&self, head: &Head);

    /// The answer was handed over whole, or never will be. Tells `request` when it has gone out.
    fn answered(&self, request: Rc<dyn Pending>);
}

pub struct RequestContext {
    /// See [`RequestContext::itself`].
    itself: Weak<RequestContext>,
    /// Who asked.
    pub client: Rc<Client>,
    /// What all requests use.
    pub services: Rc<Services>,
    /// The generation that answered.
    pub generation: Rc<View>,
    /// The request's head.
    pub head: Parts,
    /// Where it came from when its connection carries several at once.
    pub stream: Option<Rc<dyn Stream>>,
    /// Requests on this connection before this one.
    pub served: u32,
    /// Its number in logs; see [`RequestContext::number`].
    pub number: OnceCell<u64>,
    /// Our span of the trace that it belongs to, where there are traces.
    pub trace: Option<TraceContext>,
    /// When the head was whole.
    pub received: SystemTime,
    /// The same moment on the monotonic clock.
    pub started: Instant,
    /// Who asks, when a trusted proxy says so; see [`RequestContext::remote`].
    pub forwarded: OnceCell<ForwardedClient>,
    /// Whether the client speaks TLS, when a trusted proxy says so; see [`RequestContext::is_secure`].
    pub proto: OnceCell<bool>,
    /// Where it led, once known.
    pub route: RefCell<Option<Rc<Route>>>,
    /// The variables that the configuration sets for it.
    pub variables: RefCell<Variables>,
    /// What `variables` were worked out from.
    pub basis: RefCell<Option<Basis>>,
    /// The variables from before the request was sent on, to an error document or an action.
    pub before: RefCell<Variables>,
    /// The worker's part, if a worker was asked.
    pub exchange: RefCell<Option<SharedExchange>>,
    /// A rule has said `END`: no other is followed.
    pub rules_ended: Cell<bool>,
    /// What its rules may still do.
    pub allowance: work::Allowance,
    /// Whether the log says that they wanted more.
    pub is_complained: Cell<bool>,
    /// What rules add to the head of the answer.
    pub fields: RefCell<Vec<(HeaderName, HeaderValue)>>,
    /// Whose worker that is.
    pub pool: Cell<PoolNumber>,
    /// What the access check found out about the client.
    pub visitor: RefCell<Visitor>,
    /// The client sends nothing more, and its program may have been told: it may have stopped in the middle of its answer.
    pub told_hung_up: Cell<bool>,
    /// Its answer is on its way into the response cache, which waits for all of it: its program is not told when the client leaves.
    pub is_for_cache: Cell<bool>,
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
    pub ending: Cell<Ending>,
}

impl RequestContext {
    /// The last byte has gone out, or the client has left: logs the request, at once or when its worker has ended.
    fn finish(self: Rc<Self>) {
        let counters = &self.services.shared.counters;
        counters.bytes.fetch_add(self.body_bytes.get(), Relaxed);
        counters.duration_us.fetch_add(self.took.get().as_micros() as u64, Relaxed);
        let Some(exchange) = self.exchange.take() else { return self.write(None) };
        let mut exchange = exchange.borrow_mut();
        match exchange.stage {
            Stage::Over => self.write(Some(&exchange)),
            Stage::Queued | Stage::Running => {
                exchange.on_end = Some(Box::new(move |exchange| self.write(Some(exchange))))
            }
        }
    }

    /// Writes the request to the access logs of its host, and counts it.
    fn write(&self, exchange: Option<&Exchange>) {
        let worker = exchange.and_then(|exchange| Some((exchange.begun?, exchange.had_for)));
        let worker = worker.map(|(begun, served)| Worked { waited: begun.waited, served });
        let finished = Finished { status: self.status.get(), took: self.took.get(), worker };
        self.services.shared.measures.note(self.services.generations.thread(), &finished);
        if let (Some(exchange), Some(Worked { waited, served })) = (exchange, finished.worker) {
            self.services.shared.slowest.note(waited + served, || self.as_slow(exchange, waited, served));
        }
        let (route, visitor) = (self.route.borrow(), self.visitor.borrow());
        let entry = Entry {
            host: &self.generation.config.hosts[self.host()],
            head: &self.head,
            changed: self.forwarded.get().map(|forwarded| &forwarded.headers),
            client: self.remote(),
            client_name: visitor.name.as_deref(),
            user: visitor.user.as_ref().map(|user| &*user.name),
            peer: &self.client.remote,
            local: &self.client.local,
            earlier: self.served,
            is_secure: self.is_secure(),
            tls: &|name| self.client.session().and_then(|session| session.variable(name)),
            variables: &self.variables.borrow(),
            place: route.as_ref().map(|route| Place {
                path: &route.path,
                file: &route.filename,
                host_asked: &route.server_name,
            }),
            status: self.status.get(),
            answer: self.answer.get(),
            number: self.number(),
            trace_id: self.trace.map(|trace| trace.trace_id()),
            received: self.received,
            took: self.took.get(),
            body_bytes: self.body_bytes.get(),
            received_bytes: self.received_bytes.get(),
            sent_bytes: self.sent_bytes.get(),
            ending: self.ending.get(),
            worker: exchange.map(|exchange| Worker {
                waited: exchange.begun.map(|begun| begun.waited).unwrap_or_default(),
                began: exchange.begun.map(|begun| begun.since.duration_since(self.started)).unwrap_or_default(),
                served: exchange.had_for,
                served_by: exchange.begun.map(|begun| (begun.worker.slot, begun.pid)),
                end: exchange.outcome.as_ref().and_then(|outcome| outcome.as_ref().ok()),
            }),
        };
        self.generation.access_logs.write(self.host(), &entry, |condition| variables::holds(self, condition));
        self.services.shared.clock.start();
        self.export(&entry);
    }

    /// Offers a request that is sampled to the exporter.
    fn export(&self, entry: &Entry<'_>) {
        if let (Some(exporter), Some(trace)) = (&self.generation.exporter, self.trace.filter(|trace| trace.is_sampled))
        {
            exporter.offer(span_of(entry, trace, self.generation.number));
        }
    }

    fn as_slow(&self, exchange: &Exchange, waited: Duration, served: Duration) -> SlowRequest {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let route = self.route.borrow();
        let target = route.as_ref().map(|route| route.path.as_slice().into()).unwrap_or_default();
        let host = self.generation.config.hosts.get(self.host()).and_then(|host| host.server_name.as_deref());
        SlowRequest {
            request: Label { host: 0, method: self.head.method.clone(), target }.shown(),
            host: host.map(printable::line).unwrap_or_default(),
            status: self.status.get(),
            ended_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            waited_us: micros(waited),
            served_us: micros(served),
            worker: exchange.begun.map_or(0, |begun| begun.worker.slot),
        }
    }

    /// For what outlives the answer.
    pub fn itself(&self) -> Option<Rc<RequestContext>> {
        self.itself.upgrade()
    }

    /// Its number in logs. One that reaches a worker has that of its first frame.
    fn number(&self) -> u64 {
        *self.number.get_or_init(|| self.services.shared.next_id())
    }

    /// Writes what is wrong with the request or its answer to the error log of its host.
    pub fn complain(&self, route: &Route, why: &dyn Display) {
        let path = String::from_utf8_lossy(&route.path);
        let about = log::Subject {
            context: log::Context::default(),
            client: Some(self.remote()),
            worker: None,
            request: Some(log::RequestSubject {
                name: name_in_logs(since_1970(self.received), self.number()),
                method: "",
                path: &path,
            }),
        };
        self.generation.error_logs.error(route.host, &about, why);
    }

    /// Who asks.
    pub fn remote(&self) -> &Address {
        self.forwarded.get().map_or(&self.client.remote, |forwarded| &forwarded.address)
    }

    /// Whether the client speaks TLS, with us or with a proxy.
    pub fn is_secure(&self) -> bool {
        self.proto.get().copied().unwrap_or_else(|| self.client.session().is_some())
    }

    /// Index of the virtual host.
    pub fn host(&self) -> usize {
        self.route.borrow().as_ref().map_or(0, |route| route.host.into())
    }

    /// `KeepAlive` of its virtual host.
    pub fn keep_alive(&self) -> KeepAlive {
        self.generation.config.hosts.get(self.host()).map(|host| host.keep_alive).unwrap_or_default()
    }

    /// The whole answer was handed over.
    pub fn complete(&self, kept: bool) {
        self.ending.set(if kept { Ending::Kept } else { Ending::Closed });
    }
}

impl Promised for RequestContext {
    fn is_broken(&self, why: std::fmt::Arguments<'_>) {
        if let Some(route) = &*self.route.borrow() {
            self.complain(route, &why);
        }
    }

    /// Only HTTP/1: a stream is ended by itself.
    fn end_connection(&self) {
        if self.stream.is_some() {
            return;
        }
        if self.ending.get() == Ending::Kept {
            self.ending.set(Ending::Closed);
        }
        self.client.close();
        self.client.wake();
    }
}

impl Pending for RequestContext {
    fn flushed(self: Rc<Self>, received: u64, sent: u64, now: Instant) {
        self.received_bytes.set(received);
        self.sent_bytes.set(sent);
        self.took.set(now.duration_since(self.started));
        self.finish();
    }

    fn cut(&self) {
        self.ending.set(Ending::Aborted);
    }

    fn hang_up(&self) -> bool {
        if self.is_for_cache.get() {
            return true;
        }
        let exchange = self.exchange.borrow().clone();
        self.told_hung_up.set(self.told_hung_up.get() || exchange.is_some());
        exchange.is_none_or(|exchange| self.generation.workers.of(self.pool.get()).hang_up(&exchange))
    }
}

/// Held while a request is answered. When it is dropped, the answer was handed over whole or never will be.
pub struct RequestGuard(Rc<RequestContext>);

impl RequestGuard {
    /// The head of a request is whole; `generation` answers it.
    pub fn begin(
        connection: &Connection,
        generation: Rc<View>,
        head: Parts,
        stream: Option<Rc<dyn Stream>>,
    ) -> RequestGuard {
        let started = Instant::now();
        let (client, services) = (connection.client.clone(), connection.services.clone());
        count(&services.shared.counters.requests);
        let traces = &generation.config.traces;
        let trace = traces.are_kept().then(|| TraceContext::of(&head.headers, traces.sample));
        let record = Rc::new_cyclic(|itself| RequestContext {
            itself: itself.clone(),
            served: client.served.get(),
            client,
            services,
            generation,
            head,
            stream,
            number: OnceCell::new(),
            trace,
            received: SystemTime::now(),
            started,
            forwarded: OnceCell::new(),
            proto: OnceCell::new(),
            route: RefCell::default(),
            variables: RefCell::default(),
            basis: RefCell::default(),
            before: RefCell::default(),
            exchange: RefCell::default(),
            rules_ended: Cell::default(),
            allowance: work::Allowance::default(),
            is_complained: Cell::default(),
            fields: RefCell::default(),
            pool: Cell::default(),
            visitor: RefCell::default(),
            told_hung_up: Cell::default(),
            is_for_cache: Cell::default(),
            status: Cell::new(CLIENT_LEFT),
            answer: OnceCell::new(),
            took: Cell::default(),
            body_bytes: Cell::default(),
            received_bytes: Cell::default(),
            sent_bytes: Cell::default(),
            ending: Cell::new(Ending::Aborted),
        });
        let pending = Rc::downgrade(&record);
        record.client.begins(pending, started);
        RequestGuard(record)
    }
}

impl RequestGuard {
    /// What is gathered of it.
    pub fn record(&self) -> &Rc<RequestContext> {
        &self.0
    }
}

impl std::ops::Deref for RequestGuard {
    type Target = RequestContext;

    fn deref(&self) -> &RequestContext {
        &self.0
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let record = self.0.clone();
        self.client.answered(record.clone(), self.keep_alive());
        self.stream.as_ref().inspect(|stream| stream.answered(record));
    }
}

impl RequestContext {
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
