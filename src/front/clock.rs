//! The coarse clock: one tick for all time limits of requests, for the report to the master and for the access logs,
//! instead of timers for each. It ticks only while there is something to watch.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use wire::control::FromFront;

use super::Front;

/// Short enough for logs and reports, long enough to cost nothing.
const TICK: Duration = Duration::from_millis(20);

/// Whether the clock ticks.
#[derive(Default)]
pub struct Clock {
    ticking: Cell<bool>,
    wanted: Notify,
}

impl Clock {
    /// There is something to watch.
    pub fn start(&self) {
        if !self.ticking.replace(true) {
            self.wanted.notify_one();
        }
    }
}

/// Ticks for ever.
pub async fn run(front: Rc<Front>) {
    loop {
        front.clock.wanted.notified().await;
        loop {
            tokio::time::sleep(TICK).await;
            if !tick(&front, Instant::now()) {
                front.clock.ticking.set(false);
                break;
            }
        }
    }
}

/// Says whether there is still something to watch.
fn tick(front: &Front, now: Instant) -> bool {
    let sites = front.sites.borrow().clone();
    sites.iter().for_each(|site| site.pool.expire(now));
    let retired = retire(front);
    let reported = front.report();
    let logged = front.flush_logs();
    let behind = front.master.catch_up();
    let stopping = front.is_stopping() && !front.say_drained();
    let quiet = sites.iter().all(|site| site.pool.is_quiet());
    retired || reported || logged || behind || stopping || !quiet
}

/// Lets go of generations that have nothing more to do. Says whether there was one.
fn retire(front: &Front) -> bool {
    let mut over = Vec::new();
    front.sites.borrow_mut().retain(|site| {
        let stays = !(site.pool.is_draining() && site.pool.is_quiet());
        if !stays {
            over.push(site.clone());
        }
        stays
    });
    for site in &over {
        site.pool.close();
        site.access_logs.flush();
        front.master.say(FromFront::Retired { generation: site.generation });
    }
    !over.is_empty()
}
