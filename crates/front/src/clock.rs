//! One coarse timer for each front, instead of one for each request: a tick checks the timeouts of requests, reports
//! the load to the master and flushes access logs. The timer stops while no part needs it.

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::FromFront;

use super::Front;
use super::generation::Generation;

/// Interval of ticks: short enough for logs and reports, long enough to cost nothing noticeable.
const TICK: Duration = Duration::from_millis(20);

/// Runs the clock for ever.
pub async fn run(front: Rc<Front>) {
    let clock = &front.shared().clock;
    loop {
        clock.started().await;
        loop {
            tokio::time::sleep(TICK).await;
            if !is_wanted(&front) {
                break;
            }
        }
    }
}

/// Ticks, and stops the clock if nothing needs it. Ticks again after the stop: another thread may have queued work just
/// before, when the clock still ran.
fn is_wanted(front: &Front) -> bool {
    if tick(front, Instant::now()) {
        return true;
    }
    front.shared().clock.stop();
    let wanted = tick(front, Instant::now());
    if wanted {
        front.shared().clock.start();
    }
    wanted
}

/// Does the work of a tick. Returns whether the clock is still needed.
fn tick(front: &Front, now: Instant) -> bool {
    let (shared, generations) = (front.shared(), front.generations());
    for generation in generations.all() {
        generation.let_go();
        generation.pools.iter().for_each(|pool| pool.expire(now));
    }
    let retired = retire(front);
    let serving = generations.serving();
    let pools = serving.iter().flat_map(|generation| generation.pools.iter());
    let reported = pools.filter(|pool| shared.report(pool.load())).count() > 0;
    let logged = generations.flush_logs();
    let behind = shared.master.catch_up();
    let stopping = shared.is_stopping() && !front.report_drained();
    let quiet = generations.are_quiet() && generations.are_at_rest();
    retired || reported || logged || behind || stopping || !quiet
}

/// Drops generations that are over. Returns whether there were any.
fn retire(front: &Front) -> bool {
    let over = front.generations().remove(Generation::is_over);
    for generation in &over {
        generation.pools.iter().for_each(|pool| pool.close());
        generation.access_logs.flush();
        front.mailboxes.send_over(generation.number);
        front.shared().master.send(FromFront::Retired { generation: generation.number });
    }
    !over.is_empty()
}
