//! The exporter: a thread that collects spans and sends them. Requests never wait for it: spans that find no room are
//! dropped, and the error log reports their number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::span::RequestSpan;
use super::{otlp, send};
use base::log;
use config::{TraceCollector, Traces};

/// Maximum number of requests waiting to be sent.
const QUEUED: usize = 2048;
/// Maximum number of requests in one message.
const BATCH: usize = 256;
/// Longest time that a request waits for others of its message.
const WAIT: Duration = Duration::from_secs(1);
/// Interval between warnings about a collector.
const COMPLAIN: Duration = Duration::from_secs(60);

/// Passes spans from requests to the exporter's thread.
pub struct Exporter {
    queue: SyncSender<RequestSpan>,
    dropped: Arc<AtomicU64>,
}

impl Exporter {
    /// Starts the exporter, if one is configured. The thread ends when the `Exporter` is dropped and its queue is
    /// empty.
    pub fn start(traces: &Traces) -> std::io::Result<Option<Exporter>> {
        let Some(collector) = traces.export.clone() else { return Ok(None) };
        let (queue, waiting) = sync_channel(QUEUED);
        let dropped = Arc::new(AtomicU64::new(0));
        let sender = Sender { collector, service: traces.service.clone(), dropped: dropped.clone(), complained: None };
        Builder::new().name("traces".to_owned()).spawn(move || sender.run(&waiting))?;
        Ok(Some(Exporter { queue, dropped }))
    }

    /// Exports a span, if there is room in the queue.
    pub fn offer(&self, span: RequestSpan) {
        if self.queue.try_send(span).is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }
}

/// The exporter's thread.
struct Sender {
    collector: TraceCollector,
    service: String,
    /// Requests whose spans were lost and not reported in the log yet.
    dropped: Arc<AtomicU64>,
    complained: Option<Instant>,
}

impl Sender {
    fn run(mut self, waiting: &Receiver<RequestSpan>) {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return log::error("front", format_args!("TraceExport: {error}")),
        };
        while let Some(batch) = gather(waiting) {
            let message = otlp::message(&self.service, &batch);
            let sent = runtime.block_on(send::send(&self.collector, message));
            if sent.is_err() {
                self.dropped.fetch_add(batch.len() as u64, Relaxed);
            }
            self.report(sent.err());
        }
    }

    /// Logs the number of lost spans and the cause, at most once in [`COMPLAIN`].
    fn report(&mut self, error: Option<anyhow::Error>) {
        let is_time = self.complained.is_none_or(|at| at.elapsed() >= COMPLAIN);
        if !is_time || self.dropped.load(Relaxed) == 0 {
            return;
        }
        self.complained = Some(Instant::now());
        let dropped = self.dropped.swap(0, Relaxed);
        let why = error.map_or("the collector takes them too slowly".to_owned(), |error| format!("{error:#}"));
        let to = &self.collector.authority;
        log::warn("front", format_args!("TraceExport: {to}: spans of {dropped} requests are lost: {why}"));
    }
}

/// Requests whose spans arrive within a second of the first; `None`: the queue is closed.
fn gather(waiting: &Receiver<RequestSpan>) -> Option<Vec<RequestSpan>> {
    let mut batch = vec![waiting.recv().ok()?];
    let by = Instant::now() + WAIT;
    while batch.len() < BATCH {
        match waiting.recv_timeout(by.saturating_duration_since(Instant::now())) {
            Ok(span) => batch.push(span),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Some(batch)
}
