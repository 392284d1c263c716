//! The number of workers that keep the processors busy while some requests wait for other resources.
//!
//! ```text
//!   workers = cores × (busy − queued for a processor) / processor time
//! ```
//!
//! Time in the run queue is subtracted: it results from too many workers, and would ask for still more. The formula
//! does not know whether requests wait for each other elsewhere, for instance for a limited number of database
//! connections. It gives an upper limit, and a measurement shows how many workers increase the throughput.

use serde::Serialize;

/// Use of the time of workers by requests, in seconds for all requests together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct TimeShare {
    /// Time with a worker.
    pub busy: f64,
    /// Time on a processor.
    pub cpu: f64,
    /// Time in the run queue.
    pub queued: f64,
}

/// Main use of time by requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkKind {
    /// Mostly computation.
    CpuBound,
    /// Mostly waiting: for a database, a disk, another server.
    Waiting,
    /// Computation and waiting.
    Mixed,
}

/// Fraction of the time from which a use counts as the main one.
const MOSTLY: f64 = 0.8;

impl TimeShare {
    /// Time waiting for something other than a processor.
    pub fn waiting(&self) -> f64 {
        (self.busy - self.cpu - self.queued).max(0.0)
    }

    /// Number of workers for this number of cores. `None` if nothing was measured.
    pub fn workers(&self, cores: f64) -> Option<f64> {
        (self.cpu > 0.0).then(|| (cores * (self.cpu + self.waiting()) / self.cpu).max(1.0))
    }

    /// The main use of time.
    pub fn kind(&self) -> WorkKind {
        let own = self.cpu + self.waiting();
        match self.cpu / own.max(f64::MIN_POSITIVE) {
            part if part >= MOSTLY => WorkKind::CpuBound,
            part if part <= 1.0 - MOSTLY => WorkKind::Waiting,
            _ => WorkKind::Mixed,
        }
    }

    /// Average per request.
    pub fn per(&self, requests: f64) -> TimeShare {
        let of = |time: f64| time / requests.max(1.0);
        TimeShare { busy: of(self.busy), cpu: of(self.cpu), queued: of(self.queued) }
    }
}

impl std::ops::Add for TimeShare {
    type Output = TimeShare;

    fn add(self, other: TimeShare) -> TimeShare {
        TimeShare { busy: self.busy + other.busy, cpu: self.cpu + other.cpu, queued: self.queued + other.queued }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computation_needs_a_worker_per_core_and_waiting_needs_more() {
        let share = |busy, cpu, queued| TimeShare { busy, cpu, queued };
        for (share, workers, kind) in [
            (share(1.0, 1.0, 0.0), 2.0, WorkKind::CpuBound),
            // Sixteen workers on two cores: time in the run queue does not increase the result.
            (share(16.0, 2.0, 14.0), 2.0, WorkKind::CpuBound),
            (share(0.030, 0.001, 0.0), 60.0, WorkKind::Waiting),
            (share(4.0, 2.0, 0.0), 4.0, WorkKind::Mixed),
        ] {
            assert_eq!(share.workers(2.0).map(f64::round), Some(workers), "{share:?}");
            assert_eq!(share.kind(), kind, "{share:?}");
        }
        assert_eq!(TimeShare::default().workers(2.0), None);
    }

    #[test]
    fn inconsistent_clocks_give_at_least_one_worker() {
        let odd = TimeShare { busy: 1.0, cpu: 1.2, queued: 0.1 };
        assert_eq!((odd.waiting(), odd.workers(0.5)), (0.0, Some(1.0)));
        assert_eq!(odd.per(0.0), odd);
    }
}
