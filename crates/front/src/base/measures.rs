//! Durations and statuses of requests, for the status page and `SetHandler server-metrics`. Each thread of the front
//! writes its own totals, so that no request waits for another thread; a reader adds them up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use wire::control::{HostStatus, Quantiles, ResponseTimes, Spread, Spreads};

use super::lock::lock;
use base::printable;

/// Precision of histograms, in significant digits, and longest recorded time, one hour. Longer times count as one hour.
const DIGITS: u8 = 2;
const MAX_US: u64 = 3_600_000_000;
/// Number of totals; with more threads than this, some share.
const STRIPES: usize = 16;
/// Maximum number of virtual hosts with totals of their own; earlier configurations' hosts count, too.
const MAX_HOSTS: usize = 4096;

#[derive(Debug, Clone, Copy)]
pub struct Finished {
    /// Status of the response; 499 if the client left before it.
    pub status: u16,
    /// Time from the complete head to the last byte.
    pub took: Duration,
    /// Time at a worker, if the request was submitted to one.
    pub worker: Option<WorkerTimes>,
}

/// Time of a request in the queue and at a worker.
#[derive(Debug, Clone, Copy)]
pub struct WorkerTimes {
    /// Time from submission to the start at a worker.
    pub waited: Duration,
    /// Time from the start to the end at the worker.
    pub served: Duration,
}

/// The virtual host of a finished request.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostTraffic<'a> {
    /// `ServerName`; `None`: the configuration has no virtual hosts.
    pub name: Option<&'a str>,
    /// Bytes of the response's body.
    pub bytes: u64,
}

/// Totals of a virtual host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostTotals {
    /// Number of responses by the first digit of their status, from 1.
    pub classes: [u64; 5],
    /// Bytes of response bodies.
    pub bytes: u64,
    /// Sum of the durations, in µs.
    pub took_us: u64,
}

/// Totals of all finished requests.
#[derive(Debug, Clone)]
pub struct RequestTotals {
    /// Number of responses for each status.
    pub codes: BTreeMap<u16, u64>,
    /// Total times in µs, from the complete head to the last byte.
    pub took: Histogram<u64>,
    /// Queueing times of requests that were submitted to a worker, in µs.
    pub waited: Histogram<u64>,
    /// Service times of workers, in µs.
    pub served: Histogram<u64>,
    /// Totals by name of the virtual host.
    pub hosts: BTreeMap<Box<str>, HostTotals>,
}

impl Default for RequestTotals {
    fn default() -> RequestTotals {
        let (took, waited, served) = (histogram(), histogram(), histogram());
        RequestTotals { codes: BTreeMap::new(), took, waited, served, hosts: BTreeMap::new() }
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_US, DIGITS).unwrap_or_else(|_| unreachable!("the bounds are right"))
}

impl RequestTotals {
    fn note(&mut self, finished: &Finished) {
        *self.codes.entry(finished.status).or_default() += 1;
        note(&mut self.took, finished.took);
        if let Some(WorkerTimes { waited, served }) = finished.worker {
            note(&mut self.waited, waited);
            note(&mut self.served, served);
        }
    }

    fn add(&mut self, other: &RequestTotals) {
        for (code, count) in &other.codes {
            *self.codes.entry(*code).or_default() += count;
        }
        for (sum, more) in
            [(&mut self.took, &other.took), (&mut self.waited, &other.waited), (&mut self.served, &other.served)]
        {
            // All histograms have the same bounds, so this cannot fail.
            let _ = sum.add(more);
        }
        for (name, more) in &other.hosts {
            self.hosts.entry(name.clone()).or_default().add(more);
        }
    }

    fn note_host(&mut self, name: &str, bytes: u64, finished: &Finished) {
        if !self.hosts.contains_key(name) {
            if self.hosts.len() >= MAX_HOSTS {
                return;
            }
            self.hosts.insert(name.into(), HostTotals::default());
        }
        let Some(host) = self.hosts.get_mut(name) else { return };
        if let Some(count) = host.classes.get_mut(usize::from(finished.status / 100).wrapping_sub(1)) {
            *count += 1;
        }
        host.bytes += bytes;
        host.took_us += micros(finished.took);
    }
}

impl HostTotals {
    fn add(&mut self, other: &HostTotals) {
        self.classes.iter_mut().zip(other.classes).for_each(|(sum, more)| *sum += more);
        self.bytes += other.bytes;
        self.took_us += other.took_us;
    }
}

impl From<&RequestTotals> for Vec<HostStatus> {
    fn from(totals: &RequestTotals) -> Vec<HostStatus> {
        let classes = |of: &HostTotals| {
            let counted = (1..).zip(of.classes).filter(|(_, count)| *count > 0);
            counted.map(|(class, count)| (format!("{class}xx"), count)).collect()
        };
        let status = |name: &str, of: &HostTotals| HostStatus {
            name: printable::line(name),
            classes: classes(of),
            bytes: of.bytes,
            took_us: of.took_us,
        };
        totals.hosts.iter().map(|(name, of)| status(name, of)).collect()
    }
}

impl From<&RequestTotals> for ResponseTimes {
    fn from(totals: &RequestTotals) -> ResponseTimes {
        let of = |times: &Histogram<u64>| Quantiles {
            count: times.len(),
            p50_us: times.value_at_quantile(0.5),
            p90_us: times.value_at_quantile(0.9),
            p99_us: times.value_at_quantile(0.99),
            max_us: times.max(),
        };
        ResponseTimes { request: of(&totals.took), queue: of(&totals.waited), service: of(&totals.served) }
    }
}

impl From<&RequestTotals> for Spreads {
    fn from(totals: &RequestTotals) -> Spreads {
        let of = |times: &Histogram<u64>| {
            let middle = |value| times.median_equivalent(value);
            Spread(
                times.iter_recorded().map(|step| (middle(step.value_iterated_to()), step.count_at_value())).collect(),
            )
        };
        Spreads { request: of(&totals.took), queue: of(&totals.waited), service: of(&totals.served) }
    }
}

fn note(histogram: &mut Histogram<u64>, time: Duration) {
    histogram.saturating_record(micros(time));
}

/// A duration in µs, at most `u64::MAX`.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Measurements since this process began to serve.
#[derive(Debug, Default)]
pub struct Measures {
    stripes: [Mutex<Option<Box<RequestTotals>>>; STRIPES],
}

impl Measures {
    /// Records a request that `thread` has finished.
    pub fn note(&self, thread: u8, finished: &Finished, host: HostTraffic<'_>) {
        let Some(stripe) = self.stripes.get(usize::from(thread) % STRIPES) else { return };
        let mut stripe = lock(stripe);
        let totals = stripe.get_or_insert_default();
        totals.note(finished);
        if let Some(name) = host.name {
            totals.note_host(name, host.bytes, finished);
        }
    }

    /// Totals of all threads.
    pub fn totals(&self) -> RequestTotals {
        let mut totals = RequestTotals::default();
        for stripe in &self.stripes {
            let stripe = stripe.lock().unwrap_or_else(PoisonError::into_inner);
            stripe.iter().for_each(|more| totals.add(more));
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_threads_are_summed() {
        let measures = Measures::default();
        let ms = Duration::from_millis;
        for thread in [0, 1, 17, 255] {
            let worker = (thread != 0).then_some(WorkerTimes { waited: ms(1), served: ms(100) });
            let host = HostTraffic { name: Some("a.example"), bytes: 10 };
            measures.note(thread, &Finished { status: 200 + u16::from(thread == 255), took: ms(200), worker }, host);
        }
        measures.note(0, &Finished { status: 504, took: Duration::MAX, worker: None }, HostTraffic::default());
        let totals = measures.totals();
        assert_eq!(totals.codes, BTreeMap::from([(200, 3), (201, 1), (504, 1)]));
        assert_eq!((totals.took.len(), totals.waited.len(), totals.served.len()), (5, 3, 3));
        let hosts = Vec::<HostStatus>::from(&totals);
        let classes = BTreeMap::from([("2xx".to_owned(), 4)]);
        let expected = HostStatus { name: "a.example".to_owned(), classes, bytes: 40, took_us: 800_000 };
        assert_eq!(hosts, [expected]);
        let half = totals.took.value_at_quantile(0.5);
        assert!((198_000..=202_000).contains(&half), "{half}");
        assert!(totals.took.max() >= MAX_US);
    }
}
