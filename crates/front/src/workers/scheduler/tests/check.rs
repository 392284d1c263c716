//! Invariants that hold after every event.

use std::collections::BTreeSet;

use wire::control::WorkerState;

use super::super::request::{Request, RequestStage};
use super::world::{LINE, World};

impl World {
    /// Compares the scheduler's counters with the simulated world.
    pub fn check(&self) {
        let scheduler = &self.scheduler;
        assert!(scheduler.actions.is_empty());
        let known: BTreeSet<_> = scheduler.requests.keys().collect();
        assert!(known.into_iter().eq(self.open.keys()), "{:?} are known, {:?} are open", scheduler.requests, self.open);
        let is = |wanted: fn(&RequestStage) -> bool| {
            scheduler.requests.values().filter(move |request| wanted(&request.stage))
        };
        let has_begun = |r: &Request| matches!(r.stage, RequestStage::Running(_) | RequestStage::Ending);
        let waits = scheduler.requests.values().filter(|r| !has_begun(r) && !r.abandoned);
        assert_eq!(scheduler.queued as usize, waits.count(), "queued");
        assert_eq!(scheduler.ahead as usize, is(|stage| matches!(stage, RequestStage::Ahead(_))).count(), "ahead");
        assert_eq!(scheduler.ending as usize, is(|stage| *stage == RequestStage::Ending).count(), "ending");
        assert_eq!(scheduler.busy as usize, is(|stage| matches!(stage, RequestStage::Running(_))).count(), "busy");
        assert_eq!(scheduler.queue.len(), is(|stage| *stage == RequestStage::Queued).count(), "in the queue");
        for (number, lane) in scheduler.queue.lanes().iter().enumerate() {
            let busy =
                scheduler.requests.values().filter(|r| r.lane == number && r.stage != RequestStage::Queued).count();
            assert_eq!(lane.busy as usize, busy, "busy of lane {number}");
            let fits = lane.busy <= lane.most || self.was_resized;
            assert!(fits, "lane {number} has {} of {} workers", lane.busy, lane.most);
        }
        let charged = |r: &&Request| matches!(r.stage, RequestStage::Running(_)) && r.charged_to.is_some();
        assert_eq!(
            scheduler.clients.at_work() as usize,
            scheduler.requests.values().filter(charged).count(),
            "charged"
        );
        assert_eq!(scheduler.under_way.count(LINE) as usize, self.turns.len(), "under way");
        self.check_workers();
    }

    fn check_workers(&self) {
        let scheduler = &self.scheduler;
        assert!(scheduler.workers.keys().eq(self.workers.keys()));
        assert_eq!(scheduler.held as usize, scheduler.workers.values().filter(|worker| worker.held).count(), "held");
        for (id, worker) in &scheduler.workers {
            let is_idle = scheduler.idle.iter().filter(|idle| *idle == id).count();
            assert_eq!(is_idle, usize::from(worker.state == WorkerState::Idle), "{id:?} {worker:?}");
            assert!(worker.state != WorkerState::Idle || worker.current.is_none());
            let running = worker.current.iter().all(|r| scheduler.requests[r].stage == RequestStage::Running(*id));
            let ahead = worker.ahead.iter().all(|r| scheduler.requests[r].stage == RequestStage::Ahead(*id));
            let ending = worker.ending.iter().all(|r| scheduler.requests[r].stage == RequestStage::Ending);
            assert!(running && ahead && ending, "{id:?} {worker:?} {:?}", scheduler.requests);
        }
        let next = scheduler.queue.peek();
        let is_fed = scheduler.workers.values().all(|worker| worker.current.is_some() && !worker.ahead.is_empty());
        assert!(
            scheduler.slack().is_zero() || is_fed && next.is_some(),
            "{:?} and {:?}",
            scheduler.slack(),
            scheduler.workers
        );
        assert!(scheduler.next_idle().is_none() || next.is_none(), "{:?} are idle and {next:?} waits", scheduler.idle);
    }
}
