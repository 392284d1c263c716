//! Durations and statuses of requests, for the status page and `SetHandler server-metrics`. Each thread of the front
//! writes its own totals, so that no request waits for another thread; a reader adds them up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use wire::control::{Quantiles, ResponseTimes, Spread, Spreads};

use super::lock::lock;

/// Precision of histograms, in significant digits, and longest recorded time, one hour. Longer times count as one hour.
const DIGITS: u8 = 2;
const LONGEST_US: u64 = 3_600_000_000;
/// Number of totals; with more threads than this, some share.
const STRIPES: usize = 16;

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
}

impl Default for RequestTotals {
    fn default() -> RequestTotals {
        let (took, waited, served) = (histogram(), histogram(), histogram());
        RequestTotals { codes: BTreeMap::new(), took, waited, served }
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_US, DIGITS).unwrap_or_else(|_| unreachable!("the bounds are right"))
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
    histogram.saturating_record(u64::try_from(time.as_micros()).unwrap_or(LONGEST_US));
}

/// Measurements since this process began to serve.
#[derive(Debug, Default)]
pub struct Measures {
    stripes: [Mutex<Option<Box<RequestTotals>>>; STRIPES],
}

impl Measures {
    /// Records a request that `thread` has finished.
    pub fn note(&self, thread: u8, finished: &Finished) {
        let Some(stripe) = self.stripes.get(usize::from(thread) % STRIPES) else { return };
        lock(stripe).get_or_insert_default().note(finished);
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
            measures.note(thread, &Finished { status: 200 + u16::from(thread == 255), took: ms(200), worker });
        }
        measures.note(0, &Finished { status: 504, took: Duration::MAX, worker: None });
        let totals = measures.totals();
        assert_eq!(totals.codes, BTreeMap::from([(200, 3), (201, 1), (504, 1)]));
        assert_eq!((totals.took.len(), totals.waited.len(), totals.served.len()), (5, 3, 3));
        let half = totals.took.value_at_quantile(0.5);
        assert!((198_000..=202_000).contains(&half), "{half}");
        assert!(totals.took.max() >= LONGEST_US);
    }
}
