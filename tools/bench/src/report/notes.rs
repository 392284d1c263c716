//! Warnings about a report's numbers, as sentences.

use super::Report;
use super::units::{three, time};

/// Share of a processor above which this program may be the bottleneck.
const BUSY: f64 = 0.9;
/// Shortest run, in seconds, whose processor time is meaningful.
const LONG_ENOUGH: f64 = 0.5;
/// A lateness below this share of the median latency is ignored.
const OF_MEDIAN: f64 = 0.1;
/// A lateness below this, in seconds, is ignored.
const LATE: f64 = 0.001;

pub fn notes(report: &Report) -> Vec<String> {
    let notes = [
        interrupted(report),
        unreachable(report),
        few(report),
        busy(report),
        late(report),
        waited(report),
        unsent(report),
    ];
    notes.into_iter().flatten().collect()
}

fn interrupted(report: &Report) -> Option<String> {
    report.interrupted.then(|| "the run was interrupted; the numbers cover the part before".to_owned())
}

fn unreachable(report: &Report) -> Option<String> {
    let is_nobody = report.connections_opened == 0 && report.failed > 0;
    is_nobody.then(|| "no connection could be opened; the run was stopped".to_owned())
}

fn few(report: &Report) -> Option<String> {
    let is_few = report.requests < 1000 && report.completed > 0;
    is_few.then(|| format!("{} requests are too few for a 99.9 % quantile; use at least 1,000", report.requests))
}

fn busy(report: &Report) -> Option<String> {
    let cpu = report.cpu / report.threads as f64;
    (cpu > BUSY && report.seconds >= LONG_ENOUGH).then(|| {
        let share = cpu * 100.0;
        let of = if report.threads > 1 { "each of its processors" } else { "a processor" };
        format!("this program took {share:.0} % of {of}: it may be slower than the server, so that the numbers show its own speed")
    })
}

fn late(report: &Report) -> Option<String> {
    let p99 = report.lateness.as_ref()?.quantile(0.99);
    let is_late = p99 > LATE && p99 > report.latency.quantile(0.5) * OF_MEDIAN;
    is_late.then(|| {
        format!(
            "this program, or the machine that it runs on, could not send in time: 1 % of the requests were sent at least {} late, which is included in the latencies",
            time(p99)
        )
    })
}

fn waited(report: &Report) -> Option<String> {
    let share = report.waited as f64 / report.requests.max(1) as f64 * 100.0;
    (share >= 0.1).then(|| {
        format!(
            "{} % of the requests had to wait until one of {} connections was free, which is in the latencies: the server is too slow for this \
             rate, or -c is too small",
            three(share),
            report.connections
        )
    })
}

fn unsent(report: &Report) -> Option<String> {
    (report.unsent > 0).then(|| {
        format!(
            "{} requests were never sent, because no connection was free; their latencies are missing",
            report.unsent
        )
    })
}
