//! Which idle worker gets the next request.

use std::time::{Duration, Instant};

use wire::control::WorkerId;

use super::super::queue::Sizes;
use super::super::{NewRequest, RequestId, RequestTimeouts, Scheduler};

fn scheduler(now: Instant) -> Scheduler {
    Scheduler::new(Sizes { workers: 3, length: 10, stale: Duration::from_secs(1) }, [].iter(), now)
}

fn boot(scheduler: &mut Scheduler, slot: u32, now: Instant) -> WorkerId {
    let worker = WorkerId { slot, serial: u64::from(slot) + 1 };
    scheduler.add(worker, false, now);
    scheduler.ready(worker, now).expect("a worker is ready once");
    worker
}

/// Submits a request, and returns the worker that runs it.
fn submit(scheduler: &mut Scheduler, id: RequestId, now: Instant) -> WorkerId {
    let second = Duration::from_secs(1);
    let timeouts = RequestTimeouts { queue: second, run: second, most: second, grace: second };
    let new = NewRequest { id, share: None, timeouts, small: false, charged_to: None };
    scheduler.submit(new, now).expect("the queue has a place");
    let running = scheduler.workers().find(|(_, worker)| worker.current == Some(id));
    running.expect("a worker is idle").0
}

#[test]
fn a_worker_that_has_served_is_preferred_to_one_that_has_just_started() {
    let now = Instant::now();
    let mut scheduler = scheduler(now);
    let warm = boot(&mut scheduler, 0, now);
    assert_eq!(submit(&mut scheduler, 1, now), warm);
    scheduler.ended(warm, 1, None, now);
    boot(&mut scheduler, 1, now);
    assert_eq!(submit(&mut scheduler, 2, now), warm);
}

#[test]
fn of_two_workers_that_have_served_the_last_one_is_preferred() {
    let now = Instant::now();
    let mut scheduler = scheduler(now);
    let workers = [boot(&mut scheduler, 0, now), boot(&mut scheduler, 1, now)];
    let first = submit(&mut scheduler, 1, now);
    let second = submit(&mut scheduler, 2, now);
    assert_ne!(first, second, "{workers:?}");
    scheduler.ended(second, 2, None, now);
    scheduler.ended(first, 1, None, now);
    assert_eq!(submit(&mut scheduler, 3, now), first);
}
