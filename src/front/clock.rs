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
    let (shared, sites) = (front.shared(), front.sites());
    sites.all().iter().for_each(|site| site.pool.expire(now));
    let retired = retire(front);
    let reported = sites.serving().is_some_and(|site| shared.report(site.pool.load()));
    let logged = sites.flush_logs();
    let behind = shared.master.catch_up();
    let stopping = shared.is_stopping() && !front.say_drained();
    let quiet = sites.are_quiet();
    retired || reported || logged || behind || stopping || !quiet
}

/// Lets go of generations that have nothing more to do. Says whether there was one.
fn retire(front: &Front) -> bool {
    let over = front.sites().remove(|site| site.pool.is_draining() && site.pool.is_quiet());
    for site in &over {
        site.pool.close();
        site.access_logs.flush();
        front.shared().master.say(FromFront::Retired { generation: site.generation });
    }
    !over.is_empty()
}
