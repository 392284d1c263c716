//! The worker's part in a request.

use http::{HeaderMap, Response, StatusCode};
use wire::control::PoolNumber;

use super::RequestContext;
use crate::base::response_facts::AlwaysHeaders;
use crate::request::repeated;
use crate::workers::{Exchange, ExchangeStage, SharedExchange};

/// The worker's part in a request.
#[derive(Default)]
pub struct WorkerPart {
    /// The exchange with a worker of this pool, if one was asked.
    exchange: Option<(PoolNumber, SharedExchange)>,
    /// A worker of an earlier exchange has begun the request, or a backend was asked.
    begun_before: bool,
    /// The variables of a program that gave no response, encoded as in `Reply::Refused`.
    failure: Vec<u8>,
    /// Headers of programs that redirected the request to another path of this server.
    carried: HeaderMap,
    /// The status of the error whose page is being made.
    error: Option<StatusCode>,
    is_asked_for_page: bool,
    /// The client's hang-up may have reached the program, which may then have cut its response short.
    told_hung_up: bool,
    /// The response is being stored in the cache, which needs all of it. The program is not notified when the client
    /// leaves.
    is_for_cache: bool,
}

impl WorkerPart {
    fn has_begun(&self) -> bool {
        let is_begun = |exchange: &Exchange| exchange.stage == ExchangeStage::Running || exchange.begun.is_some();
        self.begun_before || self.exchange.as_ref().is_some_and(|(_, exchange)| is_begun(&exchange.borrow()))
    }
}

impl RequestContext {
    /// Whether a program may have begun the request, so that it must not be sent to another server.
    pub fn may_have_begun(&self) -> bool {
        self.worker.borrow().has_begun()
    }

    /// Notes that a backend is asked, which may begin the request.
    pub(super) fn note_backend(&self) {
        self.worker.borrow_mut().begun_before = true;
    }

    /// Notes that a worker of `pool` was asked.
    pub fn sent_to(&self, pool: PoolNumber, exchange: SharedExchange) {
        let mut worker = self.worker.borrow_mut();
        worker.begun_before = worker.has_begun();
        worker.exchange = Some((pool, exchange));
        worker.is_asked_for_page = worker.error.is_some();
    }

    pub fn begin_error_page(&self, status: StatusCode) {
        self.worker.borrow_mut().error = Some(status);
    }

    /// The status of the error whose page is being made, for a worker; 0 if the request makes no such page.
    pub fn error_status(&self) -> u16 {
        self.worker.borrow().error.map_or(0, |status| status.as_u16())
    }

    /// Whether a worker has decided about the status of the error page: it knows the error's.
    pub fn page_has_status(&self) -> bool {
        self.worker.borrow().is_asked_for_page
    }

    /// Keeps the headers of a program that redirects the request, for the response of the other path.
    pub fn carry(&self, fields: HeaderMap) {
        let mut worker = self.worker.borrow_mut();
        let before = std::mem::replace(&mut worker.carried, fields);
        repeated::prepend(&mut worker.carried, &before);
    }

    /// Adds the headers of [`RequestContext::carry`] to the response.
    pub fn add_carried<B>(&self, response: &mut Response<B>) {
        let worker = self.worker.borrow();
        let carried = &worker.carried;
        if carried.is_empty() {
            return;
        }
        repeated::prepend(response.headers_mut(), carried);
        let fields = response.headers().iter().filter(|(name, _)| carried.contains_key(*name));
        let fields: Vec<_> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        let always = response.extensions_mut().get_or_insert_default::<AlwaysHeaders>();
        for (name, value) in fields {
            always.fields.append(name, value);
        }
    }

    /// Takes the exchange with the worker, at the end of the request.
    pub(super) fn take_exchange(&self) -> Option<SharedExchange> {
        self.worker.borrow_mut().exchange.take().map(|(_, exchange)| exchange)
    }

    /// Notifies the worker of a client that sends nothing more. Returns whether the client still gets the response.
    pub(super) fn notify_hung_up(&self) -> bool {
        let exchange = {
            let mut worker = self.worker.borrow_mut();
            if worker.is_for_cache {
                return true;
            }
            worker.told_hung_up |= worker.exchange.is_some();
            worker.exchange.clone()
        };
        exchange.is_none_or(|(pool, exchange)| self.generation.workers.of(pool).hang_up(&exchange))
    }

    /// Stores the variables of a program that gave no response, for the page that takes its place.
    pub fn keep_failure(&self, variables: Vec<u8>) {
        self.worker.borrow_mut().failure = variables;
    }

    /// Takes the variables of [`RequestContext::keep_failure`]; empty without such a program.
    pub fn take_failure(&self) -> Vec<u8> {
        std::mem::take(&mut self.worker.borrow_mut().failure)
    }

    /// Notes that the response is being stored in the cache.
    pub fn begin_storing(&self) {
        self.worker.borrow_mut().is_for_cache = true;
    }

    /// Ends [`RequestContext::begin_storing`]. Returns whether the program may have noticed its client's departure.
    pub fn end_storing(&self) -> bool {
        let mut worker = self.worker.borrow_mut();
        worker.is_for_cache = false;
        worker.told_hung_up
    }
}
