//! Tests of the queue under simulated loads, without a clock.

use super::*;
use config::scheduling::ShareSize;

const MS: Duration = Duration::from_millis(1);
const WORKERS: u32 = 4;

fn sizes() -> Sizes {
    Sizes { workers: WORKERS, length: 1000, stale: 500 * MS }
}

/// Workers that need `service` for each request, and their queue.
struct Pool {
    queue: Queue<u64>,
    start: Instant,
    now: Duration,
    service: Duration,
    busy: Vec<Task>,
    came: Vec<Duration>,
    /// Pairs of the time of the response and the total time of the request.
    answered: Vec<(Duration, Duration)>,
    refused: Vec<(Duration, Duration)>,
    changes: Vec<Change>,
}

#[derive(Clone, Copy)]
struct Task {
    came: Duration,
    until: Duration,
    takes: Duration,
    lane: usize,
}

impl Pool {
    fn new(service: Duration, shares: &[PoolShare]) -> Pool {
        let start = Instant::now();
        let queue = Queue::new(sizes(), shares.iter(), start);
        let nobody = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (busy, came, answered, refused, changes) = nobody;
        Pool { queue, start, now: Duration::ZERO, service, busy, came, answered, refused, changes }
    }

    fn arrive(&mut self, lane: usize) {
        let (now, id) = (self.start + self.now, self.came.len() as u64);
        self.came.push(self.now);
        if self.queue.arrives(lane) && self.busy.len() < WORKERS as usize {
            self.queue.occupy(lane);
            self.begin(self.now, lane);
        } else if self.queue.push(lane, Waiting { order: id, since: now, item: id }).is_err() {
            self.refused.push((self.now, Duration::ZERO));
        }
        self.turn_away();
    }

    fn begin(&mut self, came: Duration, lane: usize) {
        self.busy.push(Task { came, until: self.now + self.service, takes: self.service, lane });
    }

    fn turn_away(&mut self) {
        for id in self.queue.expired(self.start + self.now) {
            self.refused.push((self.now, self.now - self.came[id as usize]));
        }
    }

    /// Advances the time by one millisecond.
    fn tick(&mut self) {
        self.now += MS;
        let (done, busy): (Vec<Task>, _) = self.busy.iter().partition(|task| task.until <= self.now);
        self.busy = busy;
        for task in done {
            self.queue.release(task.lane, Some(task.takes));
            self.answered.push((self.now, self.now - task.came));
        }
        self.turn_away();
        while self.busy.len() < WORKERS as usize
            && let Some(id) = self.queue.pop()
        {
            let lane = self.lane_of(id);
            self.begin(self.came[id as usize], lane);
        }
        if self.now.as_millis().is_multiple_of(20) {
            let changes = self.queue.watch(WORKERS, self.start + self.now);
            self.changes.extend(changes.into_iter().map(|(_, change)| change));
        }
    }

    /// Requests of the second lane have odd numbers in these tests.
    fn lane_of(&self, id: u64) -> usize {
        if self.queue.lanes().len() > 1 { id as usize % 2 } else { 0 }
    }

    /// Simulates arrivals at `percent` of the workers' capacity for `time`.
    fn load(&mut self, percent: u32, time: Duration) {
        let end = self.now + time;
        let per_second = f64::from(WORKERS) / self.service.as_secs_f64() * f64::from(percent) / 100.0;
        let mut due = 0.0;
        while self.now < end {
            due += per_second / 1000.0;
            while due >= 1.0 {
                self.arrive(0);
                due -= 1.0;
            }
            self.tick();
        }
    }

    fn is_overloaded(&self) -> bool {
        self.queue.lanes()[0].is_overloaded()
    }

    /// 99th percentile of the total time of requests answered from `from` on.
    fn p99(&self, from: Duration) -> Duration {
        let mut times: Vec<_> = self.answered.iter().filter(|(at, _)| *at >= from).map(|(_, took)| *took).collect();
        times.sort();
        times[times.len() * 99 / 100]
    }
}

#[test]
fn at_one_and_a_half_times_the_capacity_admitted_requests_take_less_than_twice_their_time() {
    let mut pool = Pool::new(10 * MS, &[]);
    pool.load(150, 30_000 * MS);
    assert_eq!(pool.changes, [Change::Begins]);
    let settled = 5000 * MS;
    assert!(pool.p99(settled) <= 20 * MS, "{:?}", pool.p99(settled));
    let after = |list: &[(Duration, Duration)]| list.iter().filter(|(at, _)| *at >= settled).count();
    assert!(after(&pool.answered) >= 25 * 400 * 99 / 100, "the workers are not idle: {}", after(&pool.answered));
    let slowest = pool.refused.iter().filter(|(at, _)| *at >= settled).map(|(_, waited)| *waited).max();
    assert!(slowest <= Some(10 * MS), "who is refused is told at once: {slowest:?}");
}

#[test]
fn an_overload_ends_with_the_load_and_everybody_is_served_in_order_again() {
    let mut pool = Pool::new(10 * MS, &[]);
    pool.load(150, 5000 * MS);
    assert!(pool.is_overloaded());
    pool.load(80, 2000 * MS);
    assert!(matches!(pool.changes[..], [Change::Begins, Change::Ends { shed: 100.., .. }]), "{:?}", pool.changes);
    let refused = pool.refused.len();
    pool.load(80, 5000 * MS);
    assert_eq!(pool.refused.len(), refused);
}

#[test]
fn a_burst_is_served_whole_and_in_order() {
    let mut pool = Pool::new(10 * MS, &[]);
    (0..900).for_each(|_| pool.arrive(0));
    (0..3000).for_each(|_| pool.tick());
    assert_eq!((pool.answered.len(), pool.refused.len(), pool.changes.len()), (900, 0, 0));
    assert!(pool.answered.windows(2).all(|pair| pair[0].1 <= pair[1].1), "first come, first served");
}

#[test]
fn closed_loop_clients_are_all_served() {
    let mut pool = Pool::new(100 * MS, &[]);
    (0..200).for_each(|_| pool.arrive(0));
    for _ in 0..60_000 {
        let before = pool.answered.len();
        pool.tick();
        (before..pool.answered.len()).for_each(|_| pool.arrive(0));
    }
    assert_eq!((pool.refused.len(), pool.changes.len()), (0, 0), "though each waits for five seconds");
}

#[test]
fn while_the_pool_grows_no_request_is_shed_early() {
    let begins = |workers| {
        let start = Instant::now();
        let mut queue = Queue::new(sizes(), std::iter::empty(), start);
        // A request arrives every 20 ms, and none is answered.
        (0..500).position(|n| {
            let now = start + n as u32 * 20 * MS;
            queue.push(0, Waiting { order: n, since: now, item: n }).expect("room");
            queue.watch(workers, now).iter().any(|(_, change)| *change == Change::Begins)
        })
    };
    assert_eq!(begins(WORKERS), Some(38), "half as many again as after half a second");
    assert_eq!(begins(WORKERS - 1), Some(375), "half as many again as after five seconds");
}

#[test]
fn queue_stale_0_never_turns_anybody_away() {
    let mut pool = Pool::new(10 * MS, &[]);
    pool.queue = Queue::new(Sizes { stale: Duration::ZERO, ..sizes() }, std::iter::empty(), pool.start);
    pool.load(150, 3000 * MS);
    assert!(pool.refused.is_empty() && pool.changes.is_empty());
}

#[test]
fn retry_after_is_the_time_that_the_backlog_takes() {
    let mut pool = Pool::new(10 * MS, &[]);
    assert_eq!(pool.queue.retry_after(0), 2, "nothing was measured");
    (0..900).for_each(|_| pool.arrive(0));
    (0..1100).for_each(|_| pool.tick());
    let left = pool.queue.len();
    let expected = (left as f64 / 400.0).ceil() as u32;
    assert_eq!(pool.queue.retry_after(0), expected, "{left} wait, 400 are answered in a second");
    (0..500).for_each(|_| pool.arrive(0));
    pool.service = 10_000 * MS;
    (0..2000).for_each(|_| pool.tick());
    assert_eq!(pool.queue.retry_after(0), 30, "nothing moves");
}

fn half() -> PoolShare {
    PoolShare { id: 7, place: "<Location /report>".to_owned(), size: ShareSize::Percent(50) }
}

#[test]
fn a_share_never_exceeds_its_workers_and_delays_no_other() {
    let quarter = PoolShare { size: ShareSize::Percent(25), ..half() };
    let mut pool = Pool::new(10 * MS, std::slice::from_ref(&quarter));
    let report = pool.queue.lane(Some(quarter.id));
    let most = |pool: &Pool| pool.queue.lanes()[report].busy;
    for _ in 0..100 {
        pool.arrive(0);
        pool.arrive(report);
        pool.tick();
        assert!(most(&pool) <= 1);
    }
    while pool.busy.len() == WORKERS as usize {
        assert!(most(&pool) <= 1);
        pool.tick();
    }
    assert_eq!((pool.answered.len() + pool.busy.len() + pool.queue.len(), pool.queue.lanes()[0].len()), (200, 0));
    assert!(pool.queue.held_back() > 0, "the others have gone, and the rest still has its part only");
}

#[test]
fn a_request_that_waits_for_its_share_does_not_delay_others() {
    let mut queue = Queue::new(sizes(), [half()].iter(), Instant::now());
    let (lane, since) = (queue.lane(Some(half().id)), Instant::now());
    assert!(queue.arrives(lane));
    (0..2).for_each(|_| queue.occupy(lane));
    assert!(!queue.arrives(lane), "the share is used up");
    queue.push(lane, Waiting { order: 1, since, item: 1 }).expect("room");
    queue.push(0, Waiting { order: 2, since, item: 2 }).expect("room");
    assert_eq!((queue.len(), queue.held_back()), (2, 1));
    assert_eq!((queue.pop(), queue.pop()), (Some(2), None), "the later one of another lane goes first");
    queue.release(lane, None);
    assert_eq!(queue.pop(), Some(1));
}

#[test]
fn a_share_waits_in_its_part_of_the_queue() {
    let mut queue = Queue::new(sizes(), [half()].iter(), Instant::now());
    let (lane, since) = (queue.lane(Some(half().id)), Instant::now());
    let waits = |n: &u64| queue.push(lane, Waiting { order: *n, since, item: *n }).is_ok();
    assert_eq!((0..1000).filter(waits).count(), 500);
    assert_eq!(queue.lanes()[lane].shed, 500);
    assert!(queue.push(0, Waiting { order: 1000, since, item: 1000 }).is_ok(), "others still find a place");
}

#[test]
fn a_request_that_returns_to_the_queue_gets_its_old_position() {
    let mut queue = Queue::new(sizes(), std::iter::empty(), Instant::now());
    let since = Instant::now();
    (1..=3).for_each(|n| queue.push(0, Waiting { order: n, since, item: n }).expect("room"));
    assert_eq!(queue.pop(), Some(1));
    queue.put_back(0, Waiting { order: 1, since, item: 1 });
    assert!(queue.remove(0, 2) && !queue.remove(0, 2));
    assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(1), Some(3), None));
    assert_eq!(queue.lanes()[0].busy, 2);
}
