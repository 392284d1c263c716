//! Metrics as OpenMetrics, or in Prometheus' older text format, depending on `Accept`. Names follow the conventions:
//! base units, `_total` for counters. See <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

mod broadcast;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};

use wire::control::{
    CertificateStatus, ExitReason, FrontStatus, HostStatus, ServerCounts, ShareStatus, Spread, Spreads, WorkerState,
    WorkerStatus,
};

use super::{FastcgiProgram, ManagedCertificateStatus, MemoryStatus, ServerStatus};
use machine::memory::MemorySizes;
use strum::VariantArray;
use wire::fcgid::{ProgramProcessState, ProgramStatus};

/// Upper bounds of histogram buckets, in microseconds, and as text in seconds.
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

/// Text format of the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsFormat {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' text format 0.0.4.
    Prometheus,
}

impl MetricsFormat {
    /// The format by the values of a request's `Accept`.
    pub fn accepted<'a>(mut accepted: impl Iterator<Item = &'a str>) -> MetricsFormat {
        match accepted.any(|value| value.contains("application/openmetrics-text")) {
            true => MetricsFormat::OpenMetrics,
            false => MetricsFormat::Prometheus,
        }
    }

    /// `Content-Type` of the format.
    pub fn media_type(self) -> &'static str {
        match self {
            MetricsFormat::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            MetricsFormat::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Formats the counters of front and master; of a whole status also memory and FastCGI programs.
pub fn write(
    format: MetricsFormat,
    front: &FrontStatus,
    counts: &ServerCounts,
    server: Option<&ServerStatus>,
) -> String {
    let mut families = Families { text: String::new(), format };
    families.build();
    families.requests(front);
    families.hosts(&front.hosts);
    families.certificates(&front.certificates);
    families.state(front);
    families.counts(counts);
    if let Some(server) = server {
        families.memory(front, &server.memory);
        families.programs(&server.programs);
        families.managed_certificates(&server.certificates);
    }
    match format {
        MetricsFormat::OpenMetrics => families.text + "# EOF\n",
        MetricsFormat::Prometheus => families.text,
    }
}

/// Text of the families that are already written.
struct Families {
    text: String,
    format: MetricsFormat,
}

/// A sample without labels.
fn bare<T>(value: T) -> [(String, T); 1] {
    [(String::new(), value)]
}

impl Families {
    fn requests(&mut self, front: &FrontStatus) {
        let codes: Vec<_> = front.codes.iter().map(|(code, count)| (format!("code=\"{code}\""), *count)).collect();
        self.counter("cameleer_requests", "Finished requests by status; 499: the client disconnected first.", &codes);
        if let Some(Spreads { request, queue, service }) = &front.spreads {
            let help = "Time from the end of a request's head to the last byte of the response.";
            self.histogram("cameleer_request_duration", help, request);
            self.histogram(
                "cameleer_queue_wait",
                "Time from the end of a request's head until a worker received it.",
                queue,
            );
            self.histogram("cameleer_service", "Time from the start in a worker to the end of its response.", service);
        }
        let shed = front.shed.by_reason().map(|(reason, count)| (format!("reason=\"{reason}\""), count));
        self.counter("cameleer_shed", "Requests that were refused rather than served, by reason.", &shed);
        let help = "Responses cut off because a slow client occupied a worker while requests waited.";
        self.counter("cameleer_slow_readers", help, &bare(front.slow_readers));
        self.broadcasts(front);
        let help = "HTTP/2 connections closed because of client behaviour.";
        self.counter("cameleer_http2_closed", help, &bare(front.http2_closed));
        let help = "Connections passed to workers (PerlProcessConnectionHandler).";
        self.counter("cameleer_connections_handed_over", help, &bare(front.handed_over));
        self.counter("cameleer_response_body_bytes", "Bytes of response bodies.", &bare(front.bytes));
        let help = "Start of the front, in seconds since 1970.";
        self.gauge("cameleer_start_time_seconds", help, &bare(front.started_s as f64));
    }

    fn build(&mut self) {
        let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
        self.gauge("cameleer_build_info", "The running program; always 1.", &[(version, 1.0)]);
    }

    /// Metrics of each virtual host, if there are several hosts.
    fn hosts(&mut self, hosts: &[HostStatus]) {
        if hosts.is_empty() {
            return;
        }
        let label = |host: &HostStatus| format!("host=\"{}\"", escape(&host.name));
        let requests = hosts.iter().flat_map(|host| {
            host.classes.iter().map(|(class, count)| (format!("{},code=\"{class}\"", label(host)), *count))
        });
        let requests: Vec<_> = requests.collect();
        self.counter("cameleer_host_requests", "Finished requests by virtual host and class of status.", &requests);
        let bytes: Vec<_> = hosts.iter().map(|host| (label(host), host.bytes)).collect();
        self.counter("cameleer_host_response_body_bytes", "Bytes of response bodies by virtual host.", &bytes);
        let seconds: Vec<_> = hosts.iter().map(|host| (label(host), host.took_us as f64 / 1e6)).collect();
        self.counter("cameleer_host_request_seconds", "Sum of the durations of requests by virtual host.", &seconds);
    }

    fn certificates(&mut self, certificates: &[CertificateStatus]) {
        // A host may have several certificates; the earliest end counts.
        let mut first: BTreeMap<&str, u64> = BTreeMap::new();
        for certificate in certificates {
            let expires_s = first.entry(&certificate.host).or_insert(certificate.expires_s);
            *expires_s = certificate.expires_s.min(*expires_s);
        }
        if first.is_empty() {
            return;
        }
        let label = |host: &str| format!("host=\"{}\"", escape(host));
        let ends: Vec<_> = first.iter().map(|(host, expires_s)| (label(host), *expires_s as f64)).collect();
        let help = "End of the certificate of each virtual host, in seconds since 1970.";
        self.gauge("cameleer_certificate_expiry_timestamp_seconds", help, &ends);
    }

    fn state(&mut self, status: &FrontStatus) {
        let states = [
            (WorkerState::Starting, "starting"),
            (WorkerState::Idle, "idle"),
            (WorkerState::Busy, "busy"),
            (WorkerState::Retiring, "retiring"),
        ];
        let of = |pool: &str| {
            let ours = status.workers.iter().filter(move |worker| worker.pool == pool);
            states.map(|(state, name)| {
                let count = ours.clone().filter(|worker| worker.state == state).count();
                (labels(pool, &format!("state=\"{name}\"")), count as f64)
            })
        };
        // Draining workers may belong to a pool that the current configuration no longer has.
        let of_workers = status.workers.iter().map(|worker| worker.pool.as_str());
        let mut pools: BTreeSet<&str> = status.pools.iter().map(|pool| pool.name.as_str()).chain(of_workers).collect();
        if pools.is_empty() {
            pools.insert("");
        }
        let workers: Vec<_> = pools.into_iter().flat_map(of).collect();
        self.gauge("cameleer_workers", "Workers by state.", &workers);
        let queued: Vec<_> = status.pools.iter().map(|pool| (labels(&pool.name, ""), f64::from(pool.queued))).collect();
        let queued = if queued.is_empty() { bare(f64::from(status.queued)).into() } else { queued };
        self.gauge("cameleer_queue_depth", "Requests that wait for a worker.", &queued);
        let connections = [("active", status.connections.saturating_sub(status.kept)), ("idle", status.kept)]
            .map(|(state, count)| (format!("state=\"{state}\""), count as f64));
        self.gauge("cameleer_connections", "Open connections; idle ones wait for a further request.", &connections);
        let requests: Vec<_> = status.workers.iter().map(|w| (place(w), w.requests as f64)).collect();
        self.gauge("cameleer_worker_requests", "Requests answered by the current process of each worker.", &requests);
        self.shares(&status.shares);
        self.streams(&status.workers);
    }

    /// Open streams of workers with an event loop, if there are any.
    fn streams(&mut self, workers: &[WorkerStatus]) {
        let open: Vec<_> = workers
            .iter()
            .filter_map(|worker| Some((place(worker), worker.streams?)))
            .flat_map(|(place, open)| {
                open.kinds().map(|(kind, count)| (format!("{place},kind=\"{kind}\""), f64::from(count)))
            })
            .collect();
        if !open.is_empty() {
            self.gauge("cameleer_event_streams", "Requests and connections of workers with an event loop.", &open);
        }
    }

    /// Metrics of each PoolShare, if there are any.
    fn shares(&mut self, shares: &[ShareStatus]) {
        if shares.is_empty() {
            return;
        }
        let each = |value: fn(&ShareStatus) -> f64| -> Vec<_> {
            shares.iter().map(|share| (format!("share=\"{}\"", escape(&share.place)), value(share))).collect()
        };
        let (busy, queued) = (each(|share| f64::from(share.busy)), each(|share| f64::from(share.queued)));
        self.gauge("cameleer_share_busy_workers", "Workers with requests of each PoolShare.", &busy);
        self.gauge("cameleer_share_queue_depth", "Requests of each PoolShare that wait.", &queued);
        let shed: Vec<_> =
            shares.iter().map(|share| (format!("share=\"{}\"", escape(&share.place)), share.shed)).collect();
        self.counter("cameleer_share_shed", "Refused requests of each PoolShare.", &shed);
    }

    fn counts(&mut self, counts: &ServerCounts) {
        let count = |reason: &ExitReason| counts.exits.get(reason).copied().unwrap_or(0);
        let exits = ExitReason::VARIANTS.iter().map(|reason| (format!("reason=\"{}\"", reason.name()), count(reason)));
        let exits: Vec<_> = exits.collect();
        self.counter("cameleer_worker_exits", "Ended workers by reason.", &exits);
        let reloads = [("ok", counts.reloads), ("failed", counts.failed_reloads)];
        let reloads = reloads.map(|(result, count)| (format!("result=\"{result}\""), count));
        self.counter(
            "cameleer_reloads",
            "Reloads by result; after a failed reload the old code continues to run.",
            &reloads,
        );
        self.counter("cameleer_reforks", "Workers that were promoted to mold.", &bare(counts.reforks));
        let help = "Promotions since the code was loaded: 0 if the mold that loaded it still forks the workers.";
        self.gauge("cameleer_refork_generation", help, &bare(f64::from(counts.refork_generation)));
    }

    /// Memory as last measured. Processes without a measurement are omitted.
    fn memory(&mut self, front: &FrontStatus, memory: &MemoryStatus) {
        let workers: Vec<(&WorkerStatus, &MemorySizes)> =
            front.workers.iter().filter_map(|w| Some((w, memory.processes.get(&w.pid)?))).collect();
        let private: Vec<_> = workers.iter().map(|(w, sizes)| (place(w), sizes.private as f64)).collect();
        self.gauge("cameleer_worker_private_bytes", "Private memory by worker.", &private);
        self.gauge(
            "cameleer_memory_pss_bytes",
            "Memory of all processes, shared pages once.",
            &bare(memory.pss() as f64),
        );
        let (private, rss) = workers.iter().fold((0, 0), |(p, r), (_, sizes)| (p + sizes.private, r + sizes.rss));
        if rss > 0 {
            let help = "Fraction of the workers' memory that is shared.";
            self.gauge("cameleer_shared_ratio", help, &bare(1.0 - private as f64 / rss as f64));
        }
        if let Some(budget) = memory.budget {
            self.gauge("cameleer_memory_budget_bytes", "MemoryBudget in force.", &bare(budget as f64));
        }
    }

    /// Metrics of managed domains, if there are any.
    fn managed_certificates(&mut self, certificates: &[ManagedCertificateStatus]) {
        if certificates.is_empty() {
            return;
        }
        let host = |one: &ManagedCertificateStatus| format!("host=\"{}\"", escape(&one.host));
        let ends: Vec<_> = certificates.iter().filter_map(|one| Some((host(one), one.expires_s? as f64))).collect();
        let help = "End of the certificate of each managed domain, in seconds since 1970.";
        self.gauge("cameleer_managed_certificate_expiry_timestamp_seconds", help, &ends);
        let failures: Vec<_> = certificates.iter().map(|one| (host(one), f64::from(one.failures))).collect();
        let help = "Failed requests for a certificate of each managed domain since its last one.";
        self.gauge("cameleer_managed_certificate_failures", help, &failures);
    }

    /// Metrics of FastCGI programs, if there are any. Process ids change, so that processes have no series of their
    /// own.
    fn programs(&mut self, programs: &[FastcgiProgram]) {
        if programs.is_empty() {
            return;
        }
        // The same program may run in several generations.
        let mut all: BTreeMap<(&str, &str), ProgramStatus> = BTreeMap::new();
        for FastcgiProgram { host_name, program, .. } in programs {
            let sum = all.entry((host_name, &program.file)).or_default();
            sum.waiting += program.waiting;
            sum.requests += program.requests;
            sum.started += program.started;
            sum.failed += program.failed;
            sum.processes.extend(program.processes.iter().cloned());
        }
        let labels = |(host, file): &(&str, &str)| format!("host=\"{}\",program=\"{}\"", escape(host), escape(file));
        let states = [ProgramProcessState::Idle, ProgramProcessState::Busy, ProgramProcessState::Ending];
        let processes = all.iter().flat_map(|(key, program)| {
            states.map(|state| (format!("{},state=\"{}\"", labels(key), state.name()), program.count(state) as f64))
        });
        let processes: Vec<_> = processes.collect();
        self.gauge("cameleer_fastcgi_processes", "Processes of FastCGI programs by state.", &processes);
        let gauge = |value: fn(&ProgramStatus) -> f64| -> Vec<_> {
            all.iter().map(|(key, program)| (labels(key), value(program))).collect()
        };
        let waiting = gauge(|program| f64::from(program.waiting));
        self.gauge("cameleer_fastcgi_queue_depth", "Requests that wait for a process of a FastCGI program.", &waiting);
        let memory = gauge(|program| program.processes.iter().map(|process| process.memory).sum::<u64>() as f64);
        self.gauge("cameleer_fastcgi_resident_bytes", "Resident memory of the processes of FastCGI programs.", &memory);
        let counter = |value: fn(&ProgramStatus) -> u64| -> Vec<_> {
            all.iter().map(|(key, program)| (labels(key), value(program))).collect()
        };
        let requests = counter(|program| program.requests);
        self.counter("cameleer_fastcgi_requests", "Requests answered by FastCGI programs.", &requests);
        let started = counter(|program| program.started);
        self.counter("cameleer_fastcgi_started", "Processes of FastCGI programs that were started.", &started);
        let failed = counter(|program| program.failed);
        self.counter(
            "cameleer_fastcgi_failed",
            "Processes of FastCGI programs that have ended by themselves.",
            &failed,
        );
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Writes a counter. In Prometheus' older format the family name has the suffix, too.
    fn counter(&mut self, name: &str, help: &str, samples: &[(String, impl Display)]) {
        let family = match self.format {
            MetricsFormat::OpenMetrics => name.to_owned(),
            MetricsFormat::Prometheus => format!("{name}_total"),
        };
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

    fn histogram(&mut self, name: &str, help: &str, times: &Spread) {
        let name = format!("{name}_seconds");
        self.head(&name, "histogram", help);
        let mut sum_us = 0.0;
        let mut buckets = [0_u64; BOUNDS.len()];
        for (time, count) in &times.0 {
            sum_us += *time as f64 * *count as f64;
            let within = BOUNDS.iter().zip(&mut buckets).filter(|((bound, _), _)| time <= bound);
            within.for_each(|(_, bucket)| *bucket += count);
        }
        for ((_, bound), count) in BOUNDS.iter().zip(buckets) {
            self.sample(&format!("{name}_bucket"), &format!("le=\"{bound}\""), &count.to_string());
        }
        self.sample(&format!("{name}_bucket"), "le=\"+Inf\"", &times.count().to_string());
        self.sample(&format!("{name}_sum"), "", &format!("{:.6}", sum_us / 1e6));
        self.sample(&format!("{name}_count"), "", &times.count().to_string());
    }

    fn sample(&mut self, name: &str, labels: &str, value: &str) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(self.text, "{name}{labels} {value}");
    }
}

/// Labels of a worker by its slot: process ids change, and each would be a new series.
fn place(worker: &WorkerStatus) -> String {
    labels(&worker.pool, &format!("worker=\"{}\"", worker.slot))
}

/// Adds the label of the pool, if there are several.
fn labels(pool: &str, others: &str) -> String {
    match (pool, others) {
        ("", _) => others.to_owned(),
        (_, "") => format!("pool=\"{}\"", escape(pool)),
        _ => format!("pool=\"{}\",{others}", escape(pool)),
    }
}

/// Escapes the value of a label.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
