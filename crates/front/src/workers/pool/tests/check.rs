//! Invariants that hold after every event.

use std::collections::BTreeSet;

use wire::control::WorkerState;

use super::super::request::{Request, Stage};
use super::world::{LINE, World};

impl World {
    /// Compares the pool's counters with the simulated world.
    pub fn check(&self) {
        let pool = &self.pool;
        assert!(pool.actions.is_empty());
        let known: BTreeSet<_> = pool.requests.keys().collect();
        assert!(known.into_iter().eq(self.open.keys()), "{:?} are known, {:?} are open", pool.requests, self.open);
        let is = |wanted: fn(&Stage) -> bool| pool.requests.values().filter(move |request| wanted(&request.stage));
        let has_begun = |r: &Request| matches!(r.stage, Stage::Running(_) | Stage::Ending);
        let waits = pool.requests.values().filter(|r| !has_begun(r) && !r.abandoned);
        assert_eq!(pool.queued as usize, waits.count(), "queued");
        assert_eq!(pool.ahead as usize, is(|stage| matches!(stage, Stage::Ahead(_))).count(), "ahead");
        assert_eq!(pool.ending as usize, is(|stage| *stage == Stage::Ending).count(), "ending");
        assert_eq!(pool.busy as usize, is(|stage| matches!(stage, Stage::Running(_))).count(), "busy");
        assert_eq!(pool.queue.len(), is(|stage| *stage == Stage::Queued).count(), "in the queue");
        for (number, lane) in pool.queue.lanes().iter().enumerate() {
            let busy = pool.requests.values().filter(|r| r.lane == number && r.stage != Stage::Queued).count();
            assert_eq!(lane.busy as usize, busy, "busy of lane {number}");
            let fits = lane.busy <= lane.most || self.was_resized;
            assert!(fits, "lane {number} has {} of {} workers", lane.busy, lane.most);
        }
        let charged = |r: &&Request| matches!(r.stage, Stage::Running(_)) && r.charged_to.is_some();
        assert_eq!(pool.clients.at_work() as usize, pool.requests.values().filter(charged).count(), "charged");
        assert_eq!(pool.under_way.count(LINE) as usize, self.turns.len(), "under way");
        self.check_workers();
    }

    fn check_workers(&self) {
        let pool = &self.pool;
        assert!(pool.workers.keys().eq(self.workers.keys()));
        assert_eq!(pool.held as usize, pool.workers.values().filter(|worker| worker.held).count(), "held");
        for (id, worker) in &pool.workers {
            let is_idle = pool.idle.iter().filter(|idle| *idle == id).count();
            assert_eq!(is_idle, usize::from(worker.state == WorkerState::Idle), "{id:?} {worker:?}");
            assert!(worker.state != WorkerState::Idle || worker.current.is_none());
            let running = worker.current.iter().all(|r| pool.requests[r].stage == Stage::Running(*id));
            let ahead = worker.ahead.iter().all(|r| pool.requests[r].stage == Stage::Ahead(*id));
            let ending = worker.ending.iter().all(|r| pool.requests[r].stage == Stage::Ending);
            assert!(running && ahead && ending, "{id:?} {worker:?} {:?}", pool.requests);
        }
        let next = pool.queue.peek();
        let is_fed = pool.workers.values().all(|worker| worker.current.is_some() && !worker.ahead.is_empty());
        assert!(pool.slack().is_zero() || is_fed && next.is_some(), "{:?} and {:?}", pool.slack(), pool.workers);
        assert!(pool.next_idle().is_none() || next.is_none(), "{:?} are idle and {next:?} waits", pool.idle);
    }
}
