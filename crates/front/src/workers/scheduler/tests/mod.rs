//! Tests of the scheduler. Property tests play generated histories of a pool in a simulated world of workers, clients
//! and time. `PROPTEST_CASES` sets the number of histories.

mod check;
mod idle;
mod op;
mod world;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use op::any_op;
use world::World;

/// Default number of histories, which a run of all tests has time for.
const CASES: u32 = 2_000;

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn in_any_history_each_request_ends_once_and_no_worker_has_two(ops in prop::collection::vec(any_op(), 1..120)) {
        let mut world = World::new();
        for op in ops {
            world.play(op);
            world.check();
        }
        world.come_to_rest();
    }
}

#[test]
fn a_pool_can_be_handed_from_thread_to_thread() {
    fn is_send<T: Send>() {}
    is_send::<super::Scheduler>();
}
