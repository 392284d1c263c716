//! The coarse clock: one tick for all time limits of requests, for the report to the master and for the access logs,
//! instead of timers for each. It ticks only while there is something to watch.

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::FromFront;

use super::Front;
use super::generation::Generation;

/// Short enough for logs and reports, long enough to cost nothing.
const TICK: Duration = Duration::from_millis(20);

/// Ticks for ever.
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

/// Ticks; where there is nothing to watch any more, once again after it was said that the clock stops: something may have
/// happened meanwhile on another thread, which believed that it ticks.
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

/// Says whether there is still something to watch.
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
    let stopping = shared.is_stopping() && !front.say_drained();
    let quiet = generations.are_quiet() && generations.are_at_rest();
    retired || reported || logged || behind || stopping || !quiet
}

/// Lets go of generations that have nothing more to do. Says whether there was one.
fn retire(front: &Front) -> bool {
    let over = front.generations().remove(Generation::is_over);
    for generation in &over {
        generation.pools.iter().for_each(|pool| pool.close());
        generation.access_logs.flush();
        front.mailboxes.tell_over(generation.number);
        front.shared().master.say(FromFront::Retired { generation: generation.number });
    }
    !over.is_empty()
}
