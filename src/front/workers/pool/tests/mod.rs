//! Generated histories of a pool, played against a world of its own: workers that come, take, answer, stop and die,
//! clients that leave, time that passes. `PROPTEST_CASES` says how many are played.

mod check;
mod world;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use world::{Op, World};

/// As many as a run of all tests has time for.
const CASES: u32 = 2_000;

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

/// What may happen, in about the proportion in which it does.
fn op() -> impl Strategy<Value = Op> {
    let one = || any::<u8>();
    prop_oneof![
        12 => (0..3usize, prop::bool::weighted(0.8), prop::bool::weighted(0.3)).prop_map(|(lane, small, limited)| Op::Submit { lane, small, limited }),
        2 => prop::bool::weighted(0.2).prop_map(|adopted| Op::Join { adopted }),
        5 => one().prop_map(Op::Ready),
        12 => one().prop_map(Op::Take),
        10 => (one(), prop::bool::weighted(0.1)).prop_map(|(worker, leaving)| Op::Answer { worker, leaving }),
        14 => (one(), any::<bool>()).prop_map(|(worker, thread)| Op::Hear { worker, thread }),
        1 => one().prop_map(Op::Die),
        1 => one().prop_map(Op::Stop),
        1 => one().prop_map(Op::Continue),
        1 => one().prop_map(Op::Break),
        3 => (one(), any::<bool>(), any::<bool>()).prop_map(|(request, owed, unfinished)| Op::Leave { request, owed, unfinished }),
        1 => one().prop_map(Op::HangUp),
        1 => one().prop_map(Op::Hold),
        1 => one().prop_map(Op::Resume),
        1 => one().prop_map(Op::Extend),
        1 => one().prop_map(Op::Lie),
        3 => (0..400u64).prop_map(Op::Wait),
        1 => (0..4_000u64).prop_map(Op::Wait),
        1 => (0..3usize).prop_map(Op::LeaveIdle),
        3 => Just(Op::Quick),
        1 => Just(Op::Drain),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_each_request_ends_once_and_no_worker_has_two(ops in prop::collection::vec(op(), 1..120)) {
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
    is_send::<super::Pool>();
}
