//! The end of a request: when its response was sent and its worker is done, the request is logged and counted.

use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, StatusCode};
use wire::control::SlowRequest;

use super::expressions::SeenResponse;
use super::span::span_of;
use super::{RequestContext, variables};
use crate::base::measures::{Finished, HostTraffic, WorkerTimes, micros};
use crate::client::Pending;
use crate::log::entry::{Entry, LoggedWorker, RoutedPath};
use crate::workers::{Exchange, ExchangeStage, Label, Promised};
use base::printable;
use config::response::setenv::EnvCondition;

impl Promised for RequestContext {
    fn is_broken(&self, why: std::fmt::Arguments<'_>) {
        if let Some(route) = &*self.route() {
            self.log_error(route, &why);
        }
    }

    /// Closes the connection, for HTTP/1 only: an HTTP/2 stream ends on its own.
    fn end_connection(&self) {
        if self.stream.is_none() {
            self.keeps_no_connection();
            self.client.close();
            self.client.wake();
        }
    }
}

impl Pending for RequestContext {
    fn flushed(self: Rc<Self>, received: u64, sent: u64, now: Instant) {
        {
            let mut tally = self.answered.tally.borrow_mut();
            (tally.received_bytes, tally.sent_bytes) = (received, sent);
            tally.took = now.duration_since(self.started);
            let counters = &self.services.shared.counters;
            counters.bytes.fetch_add(tally.body_bytes, Relaxed);
            counters.duration_us.fetch_add(tally.took.as_micros() as u64, Relaxed);
        }
        self.finish();
    }

    fn cut(&self) {
        self.abort();
    }

    fn hang_up(&self) -> bool {
        self.notify_hung_up() && !self.is_at_backend()
    }

    fn is_at_backend(&self) -> bool {
        self.at_backend.get() > 0
    }
}

impl RequestContext {
    /// Ends the request: logs it now, or when its worker has ended.
    fn finish(self: Rc<Self>) {
        let Some(exchange) = self.take_exchange() else { return self.write(None) };
        let mut exchange = exchange.borrow_mut();
        match exchange.stage {
            ExchangeStage::Over => self.write(Some(&exchange)),
            ExchangeStage::Queued | ExchangeStage::Running => {
                exchange.on_end = Some(Box::new(move |exchange| self.write(Some(exchange))))
            }
        }
    }

    /// Writes the request to the access logs of its host, and to the statistics.
    fn write(&self, exchange: Option<&Exchange>) {
        let tally = *self.answered.tally.borrow();
        let worker = exchange.and_then(|exchange| Some((exchange.begun?, exchange.had_for)));
        let worker = worker.map(|(begun, served)| WorkerTimes { waited: begun.waited, served });
        let finished = Finished { status: tally.status, took: tally.took, worker };
        let host = HostTraffic { name: self.measured_host(), bytes: tally.body_bytes };
        self.services.shared.measures.note(self.services.generations.thread(), &finished, host);
        let (route, visitor) = (self.route(), self.visitor());
        if let (Some(exchange), Some(WorkerTimes { waited, served })) = (exchange, finished.worker) {
            let path = route.as_ref().map(|route| route.path.as_slice()).unwrap_or_default();
            let slowest = &self.services.shared.slowest;
            slowest.note(waited + served, (self.host(), path), || self.as_slow(exchange, waited, served));
        }
        let entry = Entry {
            host: &self.generation.config.hosts[self.host()],
            head: &self.head,
            changed: self.changed_headers(),
            client: self.remote(),
            client_name: visitor.name().map(|name| &**name),
            user: visitor.user().map(|user| &*user.name),
            peer: &self.client.remote,
            local: &self.client.local,
            earlier: self.served,
            is_secure: self.is_secure(),
            tls: &|name| self.tls_variable(name),
            variables: &|name| self.variables().get(name).map(str::to_owned),
            notes: &self.answered.notes.borrow(),
            place: route.as_ref().map(|route| RoutedPath {
                path: &route.path,
                file: &route.filename,
                host_asked: &route.server_name,
            }),
            tally,
            handler: route.as_ref().and_then(|route| route.settings.handler.name()),
            response: self.answered.headers.get(),
            number: self.number(),
            trace_id: self.trace.map(|trace| trace.trace_id()),
            forwarded_id: self.request_id(),
            received: self.received,
            worker: exchange.map(|exchange| LoggedWorker {
                waited: exchange.begun.map(|begun| begun.waited).unwrap_or_default(),
                began: exchange.begun.map(|begun| begun.since.duration_since(self.started)).unwrap_or_default(),
                served: exchange.had_for,
                served_by: exchange.begun.map(|begun| (begun.worker.slot, begun.pid)),
                end: exchange.outcome.as_ref().and_then(|outcome| outcome.as_ref().ok()),
            }),
        };
        self.generation.access_logs.write(self.host(), &entry, |condition| self.logs(condition));
        self.services.shared.clock.start();
        self.export(&entry);
        self.record_failure(exchange.is_some());
    }

    /// Whether the condition of an access log holds.
    fn logs(&self, condition: &EnvCondition) -> bool {
        let none = HeaderMap::new();
        let status = StatusCode::from_u16(self.answered.tally.borrow().status).unwrap_or_default();
        let response = SeenResponse { status, headers: self.answered.headers.get().unwrap_or(&none), length: None };
        variables::holds(self, condition, Some(response))
    }

    fn export(&self, entry: &Entry<'_>) {
        if let (Some(exporter), Some(trace)) = (&self.generation.exporter, self.trace.filter(|trace| trace.is_sampled))
        {
            exporter.offer(span_of(entry, trace, self.generation.number));
        }
    }

    /// Name of the host for metrics, if the configuration has several hosts.
    fn measured_host(&self) -> Option<&str> {
        let hosts = &self.generation.config.hosts;
        let host = hosts.get(self.host()).filter(|_| hosts.len() > 1)?;
        Some(host.server_name.as_deref().unwrap_or_default())
    }

    fn as_slow(&self, exchange: &Exchange, waited: Duration, served: Duration) -> SlowRequest {
        let route = self.route();
        let target = route.as_ref().map(|route| route.path.as_slice().into()).unwrap_or_default();
        let host = self.generation.config.hosts.get(self.host()).and_then(|host| host.server_name.as_deref());
        let label = Label { host: 0, method: self.head.method.clone(), target, client: self.remote().ip_addr() };
        SlowRequest {
            request: label.shown(),
            client: label.client.to_string(),
            host: host.map(printable::line).unwrap_or_default(),
            status: self.answered.tally.borrow().status,
            ended_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            waited_us: micros(waited),
            served_us: micros(served),
            worker: exchange.begun.map_or(0, |begun| begun.worker.slot),
        }
    }
}
