//! The law: while requests wait for something else than a processor, the processors can work for others.
//!
//! ```text
//!   workers = cores × (busy − queued for a processor) / processor time
//! ```
//!
//! What requests wait in the queue for a processor is left out: it is there because there are too many workers, and would
//! ask for still more. What they wait for each other elsewhere, behind a database that has only so many connections, the
//! law cannot know: it gives the most that the processors have work for, and a measurement says how many of them help.

use serde::Serialize;

/// How requests used the time for which they had workers; each in seconds, of as many requests as there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Share {
    /// For which they had workers.
    pub busy: f64,
    /// In which those ran on a processor.
    pub cpu: f64,
    /// In which those could have run, and others did.
    pub queued: f64,
}

/// What requests mostly do with their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// They calculate.
    CpuBound,
    /// They wait: for a database, a disk, another server.
    Waiting,
    /// Both.
    Mixed,
}

/// Beyond this part of the time it is the one or the other.
const MOSTLY: f64 = 0.8;

impl Share {
    /// In which they wanted no processor.
    pub fn waiting(&self) -> f64 {
        (self.busy - self.cpu - self.queued).max(0.0)
    }

    /// How many workers so many cores have work for; `None` when nothing was measured.
    pub fn workers(&self, cores: f64) -> Option<f64> {
        (self.cpu > 0.0).then(|| (cores * (self.cpu + self.waiting()) / self.cpu).max(1.0))
    }

    /// What it is that they do.
    pub fn kind(&self) -> Kind {
        let own = self.cpu + self.waiting();
        match self.cpu / own.max(f64::MIN_POSITIVE) {
            part if part >= MOSTLY => Kind::CpuBound,
            part if part <= 1.0 - MOSTLY => Kind::Waiting,
            _ => Kind::Mixed,
        }
    }

    /// Of one request among so many.
    pub fn per(&self, requests: f64) -> Share {
        let of = |time: f64| time / requests.max(1.0);
        Share { busy: of(self.busy), cpu: of(self.cpu), queued: of(self.queued) }
    }
}

impl std::ops::Add for Share {
    type Output = Share;

    fn add(self, other: Share) -> Share {
        Share { busy: self.busy + other.busy, cpu: self.cpu + other.cpu, queued: self.queued + other.queued }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_calculates_needs_as_many_workers_as_cores_and_who_waits_needs_more() {
        let share = |busy, cpu, queued| Share { busy, cpu, queued };
        for (share, workers, kind) in [
            (share(1.0, 1.0, 0.0), 2.0, Kind::CpuBound),
            // Sixteen workers on two cores: what they wait for those asks for no seventeenth.
            (share(16.0, 2.0, 14.0), 2.0, Kind::CpuBound),
            (share(0.030, 0.001, 0.0), 60.0, Kind::Waiting),
            (share(4.0, 2.0, 0.0), 4.0, Kind::Mixed),
        ] {
            assert_eq!(share.workers(2.0).map(f64::round), Some(workers), "{share:?}");
            assert_eq!(share.kind(), kind, "{share:?}");
        }
        assert_eq!(Share::default().workers(2.0), None);
    }

    #[test]
    fn a_clock_that_counts_more_than_there_was_gives_one_worker_at_least() {
        let odd = Share { busy: 1.0, cpu: 1.2, queued: 0.1 };
        assert_eq!((odd.waiting(), odd.workers(0.5)), (0.0, Some(1.0)));
        assert_eq!(odd.per(0.0), odd);
    }
}
