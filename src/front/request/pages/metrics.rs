//! `SetHandler server-metrics`: what Prometheus and programs like it ask for, as OpenMetrics or as Prometheus' older text, whichever is
//! accepted. Names are the field's: base units, `_total` for what only grows.
//! See <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::UNIX_EPOCH;

use hdrhistogram::Histogram;
use http::Response;
use http::header::{ACCEPT, HeaderValue};
use wire::control::{FrontStatus, WorkerState};

use super::response;
use crate::front::request::context::RequestContext;
use crate::front::request::respond::body::BodySource;
use crate::front::routing::Route;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const PROMETHEUS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Upper bounds of the buckets of times, in microseconds, and as they are written, in seconds.
const BOUNDS: [(u64, &str); 16] = [
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1.0"),
    (2_500_000, "2.5"),
    (10_000_000, "10.0"),
    (60_000_000, "60.0"),
];

/// The page.
pub fn page(context: &RequestContext, _: &Route, _: &str) -> Response<BodySource> {
    let accepted = context.head.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let is_open = accepted.into_iter().any(|value| value.contains("application/openmetrics-text"));
    let mut families = Families { text: String::new(), is_open };
    families.requests(context);
    families.state(&context.services.status());
    match is_open {
        true => response(families.text + "# EOF\n", OPEN_METRICS),
        false => response(families.text, PROMETHEUS),
    }
}

/// What was written so far.
struct Families {
    text: String,
    is_open: bool,
}

impl Families {
    fn requests(&mut self, context: &RequestContext) {
        let shared = &context.services.shared;
        let totals = shared.measures.totals();
        let codes: Vec<_> = totals.codes.iter().map(|(code, count)| (format!("code=\"{code}\""), *count)).collect();
        self.counter("cameleer_requests", "Finished requests by status; 499: the client left first.", &codes);
        self.histogram("cameleer_request_duration", "From the whole head of a request to its last byte.", &totals.took);
        self.histogram("cameleer_queue_wait", "Until a worker had the request.", &totals.waited);
        self.histogram("cameleer_service", "From then until the worker had said everything.", &totals.served);
        let counters = &shared.counters;
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        let shed = [
            ("queue_timeout", count(&counters.queue_timeouts)),
            ("queue_full", count(&counters.turned_away)),
            ("speed_limit", count(&counters.too_fast)),
            ("max_concurrent", count(&counters.throttled)),
        ];
        let shed = shed.map(|(reason, count)| (format!("reason=\"{reason}\""), count));
        self.counter("cameleer_shed", "Requests that were refused rather than served, by reason.", &shed);
        let bytes = [(String::new(), count(&counters.bytes))];
        self.counter("cameleer_response_body_bytes", "Bytes of answers' bodies.", &bytes);
        let started = shared.started.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        self.gauge(
            "cameleer_start_time_seconds",
            "When the front began to serve, since 1970.",
            &[(String::new(), started)],
        );
    }

    fn state(&mut self, status: &FrontStatus) {
        let states = [
            (WorkerState::Starting, "starting"),
            (WorkerState::Idle, "idle"),
            (WorkerState::Busy, "busy"),
            (WorkerState::Retiring, "retiring"),
        ];
        let workers = states.map(|(state, name)| {
            let count = status.workers.iter().filter(|worker| worker.state == state).count();
            (format!("state=\"{name}\""), count as f64)
        });
        self.gauge("cameleer_workers", "Workers by what they do.", &workers);
        self.gauge(
            "cameleer_queue_depth",
            "Requests that wait for a worker.",
            &[(String::new(), f64::from(status.queued))],
        );
        let connections = [("active", status.connections.saturating_sub(status.kept)), ("idle", status.kept)]
            .map(|(state, count)| (format!("state=\"{state}\""), count as f64));
        self.gauge("cameleer_connections", "Open connections; idle ones wait for a further request.", &connections);
        let requests: Vec<_> =
            status.workers.iter().map(|w| (format!("worker=\"{}\"", w.slot), w.requests as f64)).collect();
        self.gauge(
            "cameleer_worker_requests",
            "Requests that the present process of each worker has answered.",
            &requests,
        );
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// The older text has the suffix in the family's name, too.
    fn counter(&mut self, name: &str, help: &str, samples: &[(String, u64)]) {
        let family = if self.is_open { name.to_owned() } else { format!("{name}_total") };
        self.head(&family, "counter", help);
        for (labels, count) in samples {
            self.sample(&format!("{name}_total"), labels, &count.to_string());
        }
    }

    fn gauge(&mut self, name: &str, help: &str, samples: &[(String, f64)]) {
        self.head(name, "gauge", help);
        for (labels, value) in samples {
            self.sample(name, labels, &value.to_string());
        }
    }

    fn histogram(&mut self, name: &str, help: &str, times: &Histogram<u64>) {
        let name = format!("{name}_seconds");
        self.head(&name, "histogram", help);
        let mut sum_us = 0.0;
        let mut buckets = [0_u64; BOUNDS.len()];
        for step in times.iter_recorded() {
            let (time, count) = (step.value_iterated_to(), step.count_since_last_iteration());
            sum_us += times.median_equivalent(time) as f64 * count as f64;
            let within = BOUNDS.iter().zip(&mut buckets).filter(|((bound, _), _)| time <= *bound);
            within.for_each(|(_, bucket)| *bucket += count);
        }
        for ((_, bound), count) in BOUNDS.iter().zip(buckets) {
            self.sample(&format!("{name}_bucket"), &format!("le=\"{bound}\""), &count.to_string());
        }
        self.sample(&format!("{name}_bucket"), "le=\"+Inf\"", &times.len().to_string());
        self.sample(&format!("{name}_sum"), "", &format!("{:.6}", sum_us / 1e6));
        self.sample(&format!("{name}_count"), "", &times.len().to_string());
    }

    fn sample(&mut self, name: &str, labels: &str, value: &str) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(self.text, "{name}{labels} {value}");
    }
}
