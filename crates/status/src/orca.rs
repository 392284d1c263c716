//! The load of the server in the response header `endpoint-load-metrics` (Open Request Cost Aggregation,
//! xds.data.orca.v3.OrcaLoadReport, in its text form), for Envoy.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::agent::slow_start;
use wire::control::NodeStatus;

/// Time for which a report is sent again; shorter times have too few requests.
const INTERVAL: Duration = Duration::from_secs(1);

/// Counters of the front at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadCounters {
    /// Answered requests.
    pub requests: u64,
    /// Responses with a status of 500 or above.
    pub errors: u64,
    /// Time for which workers had requests, in µs.
    pub worked_us: u64,
}

/// State of the pools at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoolsLoad {
    /// Maximum number of workers.
    pub most: u32,
    /// Requests that wait for a worker.
    pub queued: u32,
}

/// What a report is made of.
#[derive(Debug, Clone, Default)]
pub struct MeasuredLoad {
    /// Counters of the front.
    pub counters: LoadCounters,
    /// State of the pools.
    pub pools: PoolsLoad,
    /// The state of the node; its slow start counts as load.
    pub node: NodeStatus,
}

/// The last report of a front.
#[derive(Debug)]
pub struct LoadReport(Mutex<Report>);

#[derive(Debug)]
struct Report {
    at: Instant,
    counters: LoadCounters,
    processors: ProcessorTicks,
    /// The text; empty before the first report.
    text: String,
}

/// Time of all processors since the boot, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ProcessorTicks {
    all: u64,
    idle: u64,
}

impl LoadReport {
    /// A report that counts from now on.
    pub fn new(now: Instant) -> LoadReport {
        let (counters, processors) = (LoadCounters::default(), ProcessorTicks::now());
        LoadReport(Mutex::new(Report { at: now, counters, processors, text: String::new() }))
    }

    /// The value of the header, made anew once a second; `measure` is called for that.
    pub fn text(&self, now: Instant, measure: impl FnOnce() -> MeasuredLoad) -> String {
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = now.saturating_duration_since(report.at);
        if !report.text.is_empty() && elapsed < INTERVAL {
            return report.text.clone();
        }
        let MeasuredLoad { counters, pools, node } = measure();
        let processors = ProcessorTicks::now();
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let most = f64::from(pools.most.max(1));
        let busy = rate(counters.worked_us, report.counters.worked_us) / 1e6 / most;
        // A balancer weighs by the inverse: a new node seems to be busier than it is.
        let utilization = (busy + f64::from(pools.queued) / most) * 100.0 / slow_start(&node) as f64;
        let text = format!(
            "TEXT cpu_utilization={:.3}, mem_utilization={:.3}, application_utilization={utilization:.3}, \
             rps_fractional={:.3}, eps={:.3}",
            processors.used_since(report.processors),
            fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory(&text)).unwrap_or_default(),
            rate(counters.requests, report.counters.requests),
            rate(counters.errors, report.counters.errors),
        );
        *report = Report { at: now, counters, processors, text: text.clone() };
        text
    }
}

impl ProcessorTicks {
    fn now() -> ProcessorTicks {
        fs::read_to_string("/proc/stat").ok().and_then(|text| ProcessorTicks::parse(&text)).unwrap_or_default()
    }

    /// Parses `cpu  10132153 290696 3084719 46828483 16683 0 25195 0 0 0`, see proc_stat(5). The fourth and fifth
    /// numbers are idle time.
    fn parse(stat: &str) -> Option<ProcessorTicks> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_ascii_whitespace().take(8).map(|word| word.parse().unwrap_or(0)).collect();
        let idle = ticks.get(3..5)?.iter().sum();
        Some(ProcessorTicks { all: ticks.iter().sum(), idle })
    }

    /// Used part of the processors since an earlier moment, from 0 to 1.
    fn used_since(self, before: ProcessorTicks) -> f64 {
        let all = self.all.saturating_sub(before.all);
        let idle = self.idle.saturating_sub(before.idle);
        all.saturating_sub(idle) as f64 / all.max(1) as f64
    }
}

/// Used part of the memory, from 0 to 1.
fn memory(meminfo: &str) -> Option<f64> {
    let kilobytes = |name: &str| -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let (total, available) = (kilobytes("MemTotal")?, kilobytes("MemAvailable")?);
    Some(total.saturating_sub(available) as f64 / total.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_rates_of_the_last_second() {
        let now = Instant::now();
        let report = LoadReport::new(now);
        let at = |seconds: f64, requests, worked_us| {
            let counters = LoadCounters { requests, errors: requests / 10, worked_us };
            let now = now + Duration::from_secs_f64(seconds);
            let pools = PoolsLoad { most: 4, queued: 2 };
            report.text(now, || MeasuredLoad { counters, pools, ..MeasuredLoad::default() })
        };
        let first = at(2.0, 100, 2_000_000);
        assert!(first.starts_with("TEXT cpu_utilization="), "{first}");
        let rest = "application_utilization=0.750, rps_fractional=50.000, eps=5.000";
        assert!(first.ends_with(rest), "{first}");
        assert_eq!(at(2.9, 900, 0), first, "the same within a second");
        assert!(at(3.5, 400, 2_000_000).ends_with("application_utilization=0.500, rps_fractional=200.000, eps=20.000"));
    }

    #[test]
    fn a_new_node_reports_more_load_during_its_slow_start() {
        let now = Instant::now();
        let node = NodeStatus { serving_ms: 1000, state_ms: 3000, slow_start_ms: 10_000, ..NodeStatus::default() };
        let at = |elapsed| {
            let counters = LoadCounters { worked_us: 1_000_000, ..LoadCounters::default() };
            let pools = PoolsLoad { most: 4, queued: 0 };
            let node = node.after(elapsed);
            LoadReport::new(now).text(now + INTERVAL, || MeasuredLoad { counters, pools, node })
        };
        let (young, older) = (at(Duration::from_secs(4)), at(Duration::from_secs(9)));
        assert!(young.contains("application_utilization=0.500,"), "{young}");
        assert!(older.contains("application_utilization=0.250,"), "{older}");
    }

    #[test]
    fn the_kernels_numbers_are_parsed() {
        let ticks = ProcessorTicks::parse("cpu  10 1 9 70 10 0 0 0 5 5\ncpu0 1 2 3 4\n").expect("ticks");
        assert_eq!(ticks, ProcessorTicks { all: 100, idle: 80 });
        let later = ProcessorTicks { all: 200, idle: 105 };
        assert!((later.used_since(ticks) - 0.75).abs() < 1e-9 && ticks.used_since(later) == 0.0);
        assert!(
            (memory("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable:  250 kB\n").expect("known") - 0.75).abs() < 1e-9
        );
        assert_eq!((ProcessorTicks::parse("cpu 1 2"), memory("MemTotal: x kB")), (None, None));
    }
}
