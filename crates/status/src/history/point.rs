//! Aggregates seconds into one point of a chart or one row of a table.

use std::io;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::{HistoryRing, Second};

/// Declares the numbers of a point, each with the rule that adds those of a second.
macro_rules! point {
    ($(#[$meta:meta])* struct $Name:ident; $($(#[$doc:meta])* $rule:ident $field:ident: $type:ty,)*) => {
        $(#[$meta])*
        pub struct $Name {
            /// The first second of the interval, as Unix time.
            pub time: u32,
            /// How many seconds of the interval have a record.
            pub seconds: u32,
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $Name {
            fn add(&mut self, second: &Second) {
                $($rule(&mut self.$field, second.$field.into(), self.seconds);)*
                self.seconds += 1;
            }
        }
    };
}

fn mean(mean: &mut f64, value: f64, before: u32) {
    *mean = (*mean * f64::from(before) + value) / f64::from(before + 1);
}

fn worst(worst: &mut u32, value: u32, _: u32) {
    *worst = value.max(*worst);
}

fn sum(sum: &mut u32, value: u32, _: u32) {
    *sum += value;
}

point! {
    /// An interval of `step` seconds that starts at `time`. Rates are per second. Durations and queue lengths are those
    /// of the worst second, because a mean would hide it. All other states are means.
    #[derive(Debug, Clone, Default, PartialEq, Serialize)]
    struct HistoryPoint;

    /// Responses per second with status 1xx or 2xx.
    mean ok: f64,
    /// Responses per second with status 3xx.
    mean redirects: f64,
    /// Responses per second with status 4xx.
    mean client_errors: f64,
    /// Responses per second with status 5xx.
    mean server_errors: f64,
    /// Refused requests per second.
    mean shed: f64,
    /// Median duration of requests in the worst second, in microseconds.
    worst p50_us: u32,
    /// 90th percentile of the duration in the worst second, in microseconds.
    worst p90_us: u32,
    /// 99th percentile of the duration in the worst second, in microseconds.
    worst p99_us: u32,
    /// 99th percentile of the wait for a worker in the worst second, in microseconds.
    worst queue_p99_us: u32,
    /// Workers that handle a request.
    mean busy: f64,
    /// Workers that are free.
    mean idle: f64,
    /// Workers that are starting.
    mean starting: f64,
    /// Workers that are stopping.
    mean retiring: f64,
    /// Requests that waited for a worker, in the worst second.
    worst queued: u32,
    /// Open connections.
    mean connections: f64,
    /// Memory of all processes (PSS), in kB.
    mean pss_kb: f64,
    /// Private memory of the workers, in kB.
    mean private_kb: f64,
    /// Shared memory of the workers, in kB.
    mean shared_kb: f64,
    /// Workers that exited, for any reason.
    sum exits: u32,
    /// Workers that exited because of a fault.
    sum faults: u32,
    /// Successful reloads.
    sum reloads: u32,
    /// Reloads after which the old configuration stayed in service.
    sum failed_reloads: u32,
    /// Workers that became molds.
    sum reforks: u32,
    /// Seconds in which the front did not answer.
    sum front_is_missing: u32,
}

/// The points of the given time range, one per `step` seconds. An interval without a record has no point.
pub fn points(ring: &HistoryRing, times: RangeInclusive<u32>, step: u32) -> io::Result<Vec<HistoryPoint>> {
    let step = step.max(1);
    let mut points: Vec<HistoryPoint> = Vec::new();
    ring.each(times, |second| {
        let time = second.time - second.time % step;
        match points.last_mut() {
            Some(point) if point.time == time => point.add(&second),
            _ => {
                let mut point = HistoryPoint { time, ..HistoryPoint::default() };
                point.add(&second);
                points.push(point);
            }
        }
    })?;
    Ok(points)
}

impl HistoryPoint {
    /// Requests per second.
    pub fn requests(&self) -> f64 {
        self.ok + self.redirects + self.client_errors + self.server_errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_means_and_the_worst_second_is_not_hidden() {
        let ring = HistoryRing::open(tempfile::tempfile().expect("a file"), 100).expect("a ring");
        for (time, ok, p99_us) in [(60, 10, 5), (61, 20, 700), (119, 30, 6), (120, 1, 1)] {
            ring.write(&Second { time, ok, p99_us, exits: 1, ..Second::default() }).expect("written");
        }
        let points = points(&ring, 0..=1000, 60).expect("read");
        assert_eq!(points.iter().map(|point| (point.time, point.seconds)).collect::<Vec<_>>(), [(60, 3), (120, 1)]);
        assert_eq!((points[0].ok, points[0].p99_us, points[0].exits), (20.0, 700, 3));
    }
}
