//! What requests took, and how they were answered: for the status and for `SetHandler server-metrics`. Each thread of the front writes its
//! own, so that no request waits for another thread; whoever reads adds them up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use wire::control::{Quantiles, Spread, Spreads, Times};

use super::lock::lock;

/// Times are known to two digits, from a microsecond to an hour; what takes longer counts as that.
const DIGITS: u8 = 2;
const LONGEST_US: u64 = 3_600_000_000;
/// Threads of the front at most; more share.
const STRIPES: usize = 16;

/// One finished request.
#[derive(Debug, Clone, Copy)]
pub struct Finished {
    /// 499: its client left before there was an answer.
    pub status: u16,
    /// From the whole head to the last byte.
    pub took: Duration,
    /// The worker's part, if one was asked.
    pub worker: Option<Worked>,
}

/// A worker's part.
#[derive(Debug, Clone, Copy)]
pub struct Worked {
    /// From when it was submitted until a worker had it.
    pub waited: Duration,
    /// From then until the worker had said everything.
    pub served: Duration,
}

/// Of all finished requests.
#[derive(Debug, Clone)]
pub struct Totals {
    /// How many were answered with which status.
    pub codes: BTreeMap<u16, u64>,
    /// In microseconds: from the whole head to the last byte.
    pub took: Histogram<u64>,
    /// Until a worker had it, of those that asked for one.
    pub waited: Histogram<u64>,
    /// In the worker.
    pub served: Histogram<u64>,
}

impl Default for Totals {
    fn default() -> Totals {
        let (took, waited, served) = (histogram(), histogram(), histogram());
        Totals { codes: BTreeMap::new(), took, waited, served }
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_US, DIGITS).unwrap_or_else(|_| unreachable!("the bounds are right"))
}

impl Totals {
    fn note(&mut self, finished: &Finished) {
        *self.codes.entry(finished.status).or_default() += 1;
        note(&mut self.took, finished.took);
        if let Some(Worked { waited, served }) = finished.worker {
            note(&mut self.waited, waited);
            note(&mut self.served, served);
        }
    }

    fn add(&mut self, other: &Totals) {
        for (code, count) in &other.codes {
            *self.codes.entry(*code).or_default() += count;
        }
        for (sum, more) in
            [(&mut self.took, &other.took), (&mut self.waited, &other.waited), (&mut self.served, &other.served)]
        {
            // Their bounds are the same, so it cannot fail.
            let _ = sum.add(more);
        }
    }
}

/// For a status.
impl From<&Totals> for Times {
    fn from(totals: &Totals) -> Times {
        let of = |times: &Histogram<u64>| Quantiles {
            count: times.len(),
            p50_us: times.value_at_quantile(0.5),
            p90_us: times.value_at_quantile(0.9),
            p99_us: times.value_at_quantile(0.99),
            max_us: times.max(),
        };
        Times { request: of(&totals.took), queue: of(&totals.waited), service: of(&totals.served) }
    }
}

impl From<&Totals> for Spreads {
    fn from(totals: &Totals) -> Spreads {
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

/// Of this process since it began to serve.
#[derive(Debug, Default)]
pub struct Measures {
    stripes: [Mutex<Option<Box<Totals>>>; STRIPES],
}

impl Measures {
    /// The thread `thread` has finished one.
    pub fn note(&self, thread: u8, finished: &Finished) {
        let Some(stripe) = self.stripes.get(usize::from(thread) % STRIPES) else { return };
        lock(stripe).get_or_insert_default().note(finished);
    }

    /// Of all threads.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
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
    fn what_threads_noted_adds_up() {
        let measures = Measures::default();
        let ms = Duration::from_millis;
        for thread in [0, 1, 17, 255] {
            let worker = (thread != 0).then_some(Worked { waited: ms(1), served: ms(100) });
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
