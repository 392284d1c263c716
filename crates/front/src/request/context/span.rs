//! Converts a finished request to a trace span.

use http::header::USER_AGENT;
use wire::control::GenerationNumber;
use wire::reply::LogKind;

use crate::log::entry::{Entry, LoggedWorker, since_1970};
use crate::trace::{RequestSpan, TraceContext, WorkerSpan};

pub fn span_of(entry: &Entry<'_>, trace: TraceContext, generation: GenerationNumber) -> RequestSpan {
    let agent = entry.head.headers.get(USER_AGENT);
    RequestSpan {
        trace,
        received_us: since_1970(entry.received),
        took: entry.tally.took,
        method: entry.head.method.to_string(),
        path: entry.head.uri.path().to_owned(),
        host: entry.place.map_or_else(String::new, |place| place.host_asked.to_owned()),
        client: entry.client.ip.clone(),
        user_agent: agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned()),
        is_secure: entry.is_secure,
        version: entry.head.version,
        status: entry.tally.status,
        name: entry.name(),
        worker: entry.worker.and_then(|worker| of_worker(&worker, generation)),
    }
}

fn of_worker(worker: &LoggedWorker<'_>, generation: GenerationNumber) -> Option<WorkerSpan> {
    let (slot, pid) = worker.served_by?;
    let entries = worker.end.map_or(&[][..], |end| &end.log);
    let parts = entries.iter().filter(|(kind, ..)| *kind == LogKind::Span);
    let parts = parts.map(|(_, name, value)| (name.clone(), value.clone())).collect();
    Some(WorkerSpan { slot, pid, generation, waited: worker.waited, began: worker.began, served: worker.served, parts })
}
