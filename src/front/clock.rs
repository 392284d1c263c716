//! The coarse clock: one tick for all time limits of requests, for the report to the master and for the access logs,
//! instead of timers for each. It ticks only while there is something to watch.

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::FromFront;

use super::Front;

/// Short enough for logs and reports, long enough to cost nothing.
const TICK: Duration = Duration::from_millis(20);

/// Ticks for ever.
pub async fn run(front: Rc<Front>) {
    let clock = &front.shared().clock;
    loop {
        clock.started().await;
        loop {
            tokio::time::sleep(TICK).await;
            if !tick(&front, Instant::now()) {
                clock.stop();
                break;
            }
        }
    }
}

/// Says whether there is still something to watch.
fn tick(front: &Front, now: Instant) -> bool {
    let (shared, generations) = (front.shared(), front.generations());
    generations.all().iter().for_each(|generation| generation.pool.expire(now));
    let retired = retire(front);
    let reported = generations.serving().is_some_and(|generation| shared.report(generation.pool.load()));
    let logged = generations.flush_logs();
    let behind = shared.master.catch_up();
    let stopping = shared.is_stopping() && !front.say_drained();
    let quiet = generations.are_quiet();
    retired || reported || logged || behind || stopping || !quiet
}

/// Lets go of generations that have nothing more to do. Says whether there was one.
fn retire(front: &Front) -> bool {
    let over = front.generations().remove(|generation| generation.pool.is_draining() && generation.pool.is_quiet());
    for generation in &over {
        generation.pool.close();
        generation.access_logs.flush();
        front.shared().master.say(FromFront::Retired { generation: generation.number });
    }
    !over.is_empty()
}
