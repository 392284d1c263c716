//! A request while it is answered: its client, its route, and everything found out on the way.
//! The request is logged when the last byte was sent or the client left, and the worker has ended its part.

mod error_log;
mod forwarded;
pub mod host_header;
pub mod remote_ip;
mod rules;
mod span;
pub mod variables;
mod visitor;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Version};
use wire::control::{PoolNumber, SlowRequest};
use wire::reply::Head;

use super::services::{Connection, Services};
use crate::base::address::Address;
use crate::base::measures::{Finished, Worked};
use crate::base::shared::count;
use crate::client::{Client, Pending};
use crate::generation::View;
use crate::log::entry::{Ending, Entry, Place, Worker};
use crate::routing::Route;
use crate::trace::TraceContext;
use crate::workers::{Exchange, Label, Promised, SharedExchange, Stage};
use base::printable;
use config::response::rewrite::ForcedByRule;
use config::response::variables::Variables;
use config::{KeepAlive, work};
use remote_ip::ForwardedClient;
use span::span_of;
use variables::Basis;
use visitor::Visitor;

/// The status logged for a client that left before the response, as in nginx.
const CLIENT_LEFT: u16 = 499;

/// A request's stream on a multiplexed connection.
pub trait Stream {
    /// Sends an interim response (103) before the final one.
    fn inform(&self, head: &Head);

    /// The response was handed over whole, or never will be. The stream reports to `request` when it was sent.
    fn answered(&self, request: Rc<dyn Pending>);
}

pub struct RequestContext {
    /// See [`RequestContext::itself`].
    itself: Weak<RequestContext>,
    /// The client's connection.
    pub client: Rc<Client>,
    /// The services that all requests use.
    pub services: Rc<Services>,
    /// The generation that answers.
    pub generation: Rc<View>,
    /// The request's head.
    pub head: Parts,
    /// The request's stream, on a multiplexed connection.
    pub stream: Option<Rc<dyn Stream>>,
    /// Number of earlier requests on this connection.
    pub served: u32,
    /// The request's number in logs; see [`RequestContext::number`].
    pub number: OnceCell<u64>,
    /// The front's span in the request's trace, if traces are configured.
    pub trace: Option<TraceContext>,
    /// When the head was complete.
    pub received: SystemTime,
    /// When the head was complete, on the monotonic clock.
    pub started: Instant,
    /// The client's address according to trusted proxies; see [`RequestContext::remote`].
    pub forwarded: OnceCell<ForwardedClient>,
    /// Whether the client uses TLS according to a trusted proxy; see [`RequestContext::is_secure`].
    pub proto: OnceCell<bool>,
    /// The current route, once known.
    pub route: RefCell<Option<Rc<Route>>>,
    /// The variables that the configuration sets for the request.
    pub variables: RefCell<Variables>,
    /// The inputs from which `variables` were computed.
    pub basis: RefCell<Option<Basis>>,
    /// The variables from before an internal redirect to an error document or action.
    pub before: RefCell<Variables>,
    /// The exchange with a worker, if one was asked.
    pub exchange: RefCell<Option<SharedExchange>>,
    /// Whether a rewrite rule with the flag `END` has stopped rewriting.
    pub rules_ended: Cell<bool>,
    /// Handler and media type by rewrite rules of the current path.
    pub forced: RefCell<ForcedByRule>,
    /// Whether the request is looked at for a rule, and not answered.
    pub is_looked_at: Cell<bool>,
    /// The work that the request's rules may still do.
    pub allowance: work::Allowance,
    /// Whether the log already reports that the rules exceeded their allowance.
    pub is_complained: Cell<bool>,
    /// Headers that rewrite rules add to the response.
    pub fields: RefCell<Vec<(HeaderName, HeaderValue)>>,
    /// The pool of the exchange's worker.
    pub pool: Cell<PoolNumber>,
    /// The client's name and user from the access check, and its limits.
    pub visitor: RefCell<Visitor>,
    /// The client's hang-up may have reached the program, which may then have cut its response short.
    pub told_hung_up: Cell<bool>,
    /// The response is being stored in the cache, which needs all of it. The program is not notified when the client
    /// leaves.
    pub is_for_cache: Cell<bool>,
    pub status: Cell<u16>,
    /// The response's headers, stored only if a log format uses one.
    pub answer: OnceCell<HeaderMap>,
    /// Time from the complete head to the last byte.
    pub took: Cell<Duration>,
    /// Body bytes sent, without chunk headers.
    pub body_bytes: Cell<u64>,
    /// Bytes received for this request; for HTTP/2, those of its stream.
    pub received_bytes: Cell<u64>,
    /// Bytes sent for this request.
    pub sent_bytes: Cell<u64>,
    pub ending: Cell<Ending>,
}

impl RequestContext {
    /// Ends the request: logs it now, or when its worker has ended.
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

    /// Writes the request to the access logs of its host, and to the statistics.
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

    /// Offers a sampled request to the exporter.
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

    /// A reference for tasks that outlive the response.
    pub fn itself(&self) -> Option<Rc<RequestContext>> {
        self.itself.upgrade()
    }

    /// The request's number in logs: that of its first frame, or a new one if no worker is asked.
    fn number(&self) -> u64 {
        *self.number.get_or_init(|| self.services.shared.next_id())
    }

    /// The client's address, as corrected by trusted proxies.
    pub fn remote(&self) -> &Address {
        self.forwarded.get().map_or(&self.client.remote, |forwarded| &forwarded.address)
    }

    /// Whether the client uses TLS, with this server or with a trusted proxy.
    pub fn is_secure(&self) -> bool {
        self.proto.get().copied().unwrap_or_else(|| self.client.session().is_some())
    }

    /// Index of the virtual host in the configuration.
    pub fn host(&self) -> usize {
        self.route.borrow().as_ref().map_or(0, |route| route.host.into())
    }

    /// The `KeepAlive` settings of the request's virtual host.
    pub fn keep_alive(&self) -> KeepAlive {
        self.generation.config.hosts.get(self.host()).map(|host| host.keep_alive).unwrap_or_default()
    }

    /// Marks the response as handed over whole; `kept`: the connection stays open.
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

    /// Closes the connection, for HTTP/1 only: an HTTP/2 stream ends on its own.
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

/// Held while a request is answered. Dropping it means that the response was handed over whole or never will be.
pub struct RequestGuard(Rc<RequestContext>);

impl RequestGuard {
    /// Begins a request whose head is complete; `generation` answers it.
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
            forced: RefCell::default(),
            is_looked_at: Cell::default(),
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
    /// The request's context.
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
    /// Whether the client wants to keep the connection open.
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
