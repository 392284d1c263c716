//! Aggregates seconds into one point of a chart or one row of a table.

use std::io;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::{Ring, Second};

/// An interval of `step` seconds that starts at `time`. Rates are per second. Durations and queue lengths are those of
/// the worst second, because a mean would hide it. All other values are means.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Point {
    /// The first second of the interval, as Unix time.
    pub time: u32,
    /// Number of seconds of the interval that have a record.
    pub seconds: u32,
    /// Responses per second with status 1xx or 2xx.
    pub ok: f64,
    /// Responses per second with status 3xx.
    pub redirects: f64,
    /// Responses per second with status 4xx.
    pub client_errors: f64,
    /// Responses per second with status 5xx.
    pub server_errors: f64,
    /// Refused requests per second.
    pub shed: f64,
    /// Median duration of requests in the worst second, in microseconds.
    pub p50_us: u32,
    /// 90th percentile of the duration in the worst second, in microseconds.
    pub p90_us: u32,
    /// 99th percentile of the duration in the worst second, in microseconds.
    pub p99_us: u32,
    /// 99th percentile of the wait for a worker in the worst second, in microseconds.
    pub queue_p99_us: u32,
    /// Workers that handle a request.
    pub busy: f64,
    /// Workers that are free.
    pub idle: f64,
    /// Workers that are starting.
    pub starting: f64,
    /// Workers that are stopping.
    pub retiring: f64,
    /// Requests that waited for a worker, in the worst second.
    pub queued: u32,
    /// Open connections.
    pub connections: f64,
    /// Memory of all processes (PSS), in kB.
    pub pss_kb: f64,
    /// Private memory of the workers, in kB.
    pub private_kb: f64,
    /// Shared memory of the workers, in kB.
    pub shared_kb: f64,
    /// Workers that exited, for any reason.
    pub exits: u32,
    /// Workers that exited because of a fault.
    pub faults: u32,
    /// Successful reloads.
    pub reloads: u32,
    /// Failed reloads.
    pub failed_reloads: u32,
    /// Reforks.
    pub reforks: u32,
    /// Seconds in which the front did not answer.
    pub front_is_missing: u32,
}

/// The points of the given time range, one per `step` seconds. An interval without a record has no point.
pub fn points(ring: &Ring, times: RangeInclusive<u32>, step: u32) -> io::Result<Vec<Point>> {
    let step = step.max(1);
    let mut points: Vec<Point> = Vec::new();
    ring.each(times, |second| {
        let time = second.time - second.time % step;
        match points.last_mut() {
            Some(point) if point.time == time => point.add(&second),
            _ => {
                let mut point = Point { time, ..Point::default() };
                point.add(&second);
                points.push(point);
            }
        }
    })?;
    Ok(points)
}

impl Point {
    /// Requests per second.
    pub fn requests(&self) -> f64 {
        self.ok + self.redirects + self.client_errors + self.server_errors
    }

    fn add(&mut self, second: &Second) {
        let before = f64::from(self.seconds);
        let mean = |mean: &mut f64, value: f64| *mean = (*mean * before + value) / (before + 1.0);
        self.seconds += 1;
        mean(&mut self.ok, second.ok.into());
        mean(&mut self.redirects, second.redirects.into());
        mean(&mut self.client_errors, second.client_errors.into());
        mean(&mut self.server_errors, second.server_errors.into());
        mean(&mut self.shed, second.shed.into());
        mean(&mut self.busy, second.busy.into());
        mean(&mut self.idle, second.idle.into());
        mean(&mut self.starting, second.starting.into());
        mean(&mut self.retiring, second.retiring.into());
        mean(&mut self.connections, second.connections.into());
        mean(&mut self.pss_kb, second.pss_kb.into());
        mean(&mut self.private_kb, second.private_kb.into());
        mean(&mut self.shared_kb, second.shared_kb.into());
        self.worst(second);
    }

    fn worst(&mut self, second: &Second) {
        self.p50_us = self.p50_us.max(second.p50_us);
        self.p90_us = self.p90_us.max(second.p90_us);
        self.p99_us = self.p99_us.max(second.p99_us);
        self.queue_p99_us = self.queue_p99_us.max(second.queue_p99_us);
        self.queued = self.queued.max(second.queued);
        self.exits += u32::from(second.exits);
        self.faults += u32::from(second.faults);
        self.reloads += u32::from(second.reloads);
        self.failed_reloads += u32::from(second.failed_reloads);
        self.reforks += u32::from(second.reforks);
        self.front_is_missing += u32::from(second.front_is_missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_means_and_the_worst_second_is_not_hidden() {
        let ring = Ring::open(tempfile::tempfile().expect("a file"), 100).expect("a ring");
        for (time, ok, p99_us) in [(60, 10, 5), (61, 20, 700), (119, 30, 6), (120, 1, 1)] {
            ring.write(&Second { time, ok, p99_us, exits: 1, ..Second::default() }).expect("written");
        }
        let points = points(&ring, 0..=1000, 60).expect("read");
        assert_eq!(points.iter().map(|point| (point.time, point.seconds)).collect::<Vec<_>>(), [(60, 3), (120, 1)]);
        assert_eq!((points[0].ok, points[0].p99_us, points[0].exits), (20.0, 700, 3));
    }
}
