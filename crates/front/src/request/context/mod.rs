//! A request while it is answered: its client, its route, and everything found out on the way.
//! The request is logged when the last byte was sent or the client left, and the worker has ended its part.

mod answered;
mod aside;
mod backend_part;
mod error_log;
pub mod expressions;
mod failure;
mod finish;
pub mod forwarded;
pub mod host_header;
pub mod known;
mod part;
pub mod redirect_variables;
pub mod remote_ip;
mod rules;
mod span;
mod switch;
pub mod unique_id;
pub mod variables;
pub mod visitor;
mod worker_part;

use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::rc::{Rc, Weak};
use std::time::{Instant, SystemTime};

use http::Version;
use http::request::Parts;
use wire::reply::Head;

use super::services::{Connection, Services};
use crate::base::changed_headers::ChangedHeaders;
use crate::base::shared::count;
use crate::client::tunnel::Tunnel;
use crate::client::{Client, Pending};
use crate::failures::FailedBody;
use crate::generation::View;
use crate::routing::Route;
use crate::trace::TraceContext;
use answered::Answered;
use config::KeepAlive;
use expressions::{Answerer, Expressions};
use part::PageRequest;
use remote_ip::ProxyReport;
use rules::RuleState;
use variables::Environment;
use visitor::Visitor;
use worker_part::WorkerPart;

pub use part::Task;

/// A request's stream on a multiplexed connection.
pub trait Stream {
    /// Sends an interim response (103) before the final one.
    fn inform(&self, head: &Head);

    /// The stream switches protocols after the response.
    fn will_tunnel(&self, tunnel: Tunnel);

    /// The response was handed over whole, or never will be. The stream reports to `request` when it was sent.
    fn answered(&self, request: Rc<dyn Pending>);
}

/// A request. The public fields do not change; the others are the parts that are found out on the way, each with its
/// file in this folder.
pub struct RequestContext {
    /// See [`RequestContext::itself`].
    itself: Weak<RequestContext>,
    /// The client's connection.
    pub client: Rc<Client>,
    /// The services that all requests use.
    pub services: Rc<Services>,
    pub generation: Rc<View>,
    pub head: Parts,
    /// The request's stream, on a multiplexed connection.
    pub stream: Option<Rc<dyn Stream>>,
    /// Number of earlier requests on this connection.
    pub served: u32,
    /// The front's span in the request's trace, if traces are configured.
    pub trace: Option<TraceContext>,
    /// When the head was complete.
    pub received: SystemTime,
    /// When the head was complete, on the monotonic clock.
    pub started: Instant,
    /// The request's number in logs; see [`RequestContext::number`].
    number: OnceCell<u64>,
    /// Address of the client, according to trusted proxies.
    proxies: ProxyReport,
    /// Headers that early rules have changed; see [`RequestContext::changed_headers`].
    early_headers: OnceCell<ChangedHeaders>,
    /// User and host name of the client, as the access check found them, and the client's permits.
    visitor: RefCell<Visitor>,
    /// The current route, once known.
    route: RefCell<Option<Rc<Route>>>,
    /// The variables of the request at its route.
    environment: RefCell<Environment>,
    /// Remaining allowance of the route's rules, and their effects.
    rules: RuleState,
    /// Cached results of the configuration's expressions.
    expressions: Expressions,
    worker: RefCell<WorkerPart>,
    /// Number of requests that a backend has, or whose response is on the way: this one, and parts of its page.
    at_backend: Cell<u32>,
    /// The body that a worker got, if failures are recorded.
    body: OnceCell<FailedBody>,
    /// Figures and headers of the response.
    answered: Answered,
    /// See [`RequestContext::part`].
    part: PageRequest,
}

impl RequestContext {
    /// A reference for tasks that outlive the response.
    pub fn itself(&self) -> Option<Rc<RequestContext>> {
        self.itself.upgrade()
    }

    /// The request's number in logs: that of its first frame, or a new one if no worker is asked.
    fn number(&self) -> u64 {
        *self.number.get_or_init(|| self.services.shared.next_id())
    }

    /// The request's number in logs, which is `id` if this is the number of its first frame.
    pub fn number_with(&self, id: u64) -> u64 {
        *self.number.get_or_init(|| id)
    }

    /// The current route; `None` until it is known.
    pub fn route(&self) -> Ref<'_, Option<Rc<Route>>> {
        self.route.borrow()
    }

    /// Makes `route` the current route.
    pub fn leads_to(&self, route: Rc<Route>) {
        self.client.timeout.set(self.generation.config.timeout_of(route.host));
        self.route.replace(Some(route));
    }

    /// Index of the virtual host in the configuration.
    pub fn host(&self) -> usize {
        self.route().as_ref().map_or(0, |route| route.host.into())
    }

    /// The `KeepAlive` settings of the request's virtual host.
    pub fn keep_alive(&self) -> KeepAlive {
        self.generation.config.hosts.get(self.host()).map(|host| host.keep_alive).unwrap_or_default()
    }

    /// Whether the client wants to keep the connection open.
    pub fn wants_keep_alive(&self) -> bool {
        let has_option = |word: &str| {
            let values = self.head.headers.get_all(http::header::CONNECTION).iter();
            values.filter_map(|value| value.to_str().ok()).any(|value| contains_token(value, word))
        };
        match self.head.version {
            Version::HTTP_2 => true,
            Version::HTTP_11 => !has_option("close"),
            _ => has_option("keep-alive"),
        }
    }
}

fn contains_token(list: &str, word: &str) -> bool {
    list.split(',').any(|token| token.trim().eq_ignore_ascii_case(word))
}

/// Held while a request is answered. Dropping it means that the response was handed over whole or never will be.
pub struct RequestGuard(Rc<RequestContext>);

impl RequestGuard {
    /// Begins a request whose head is complete; `generation` answers it, and `answerer` the questions of expressions.
    pub fn begin(
        connection: &Connection,
        generation: Rc<View>,
        head: Parts,
        stream: Option<Rc<dyn Stream>>,
        answerer: Answerer,
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
            trace,
            received: SystemTime::now(),
            started,
            number: OnceCell::new(),
            proxies: ProxyReport::default(),
            early_headers: OnceCell::new(),
            visitor: RefCell::default(),
            route: RefCell::default(),
            environment: RefCell::default(),
            rules: RuleState::default(),
            expressions: Expressions::new(answerer),
            worker: RefCell::default(),
            at_backend: Cell::new(0),
            body: OnceCell::new(),
            answered: Answered::default(),
            part: PageRequest::default(),
        });
        let pending = Rc::downgrade(&record);
        record.client.note_request(pending, started);
        RequestGuard(record)
    }
}

impl RequestGuard {
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
