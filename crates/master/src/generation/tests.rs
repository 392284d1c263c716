//! Generations in histories, by hand and generated.

use proptest::prelude::*;

use super::*;

const START: Duration = Duration::from_secs(60);
const GRACEFUL: Duration = Duration::from_secs(20);
const TIMES: GenerationTimes = GenerationTimes { start: START, graceful: GRACEFUL };

fn own(generation: GenerationNumber) -> PoolId {
    PoolId { generation, pool: 0 }
}

fn first(generation: GenerationNumber) -> MoldId {
    MoldId { pool: own(generation), refork: 0 }
}

fn ready(generations: &mut GenerationRegister<()>, id: PoolId, now: Instant) -> Option<GenerationAction> {
    generations.mold_ready(id, 0, Some("Cameleer".to_owned()), now)
}

/// A state with one serving generation.
fn serving(now: Instant) -> GenerationRegister<()> {
    let mut generations = GenerationRegister::default();
    generations.begin((), TIMES, &[100], now);
    assert_eq!(ready(&mut generations, own(1), now), Some(GenerationAction::Start(1)));
    generations.serve(1, now);
    generations
}

#[test]
fn a_generation_starts_when_all_of_its_pools_can_fork() {
    let (mut generations, now) = (GenerationRegister::default(), Instant::now());
    generations.begin((), TIMES, &[100, 101], now);
    let second = PoolId { generation: 1, pool: 1 };
    assert_eq!(ready(&mut generations, own(1), now), None);
    assert_eq!(generations.state_of(1), Some(GenerationState::Loading));
    assert_eq!(ready(&mut generations, second, now), Some(GenerationAction::Start(1)));
    assert_eq!(ready(&mut generations, second, now), None, "a mold that is started again starts nothing");
    assert_eq!(generations.state_of(1), Some(GenerationState::Starting));
}

#[test]
fn loading_and_starting_have_starttimeout_each() {
    let (mut generations, now) = (GenerationRegister::default(), Instant::now());
    generations.begin((), TIMES, &[100], now);
    assert_eq!((generations.wakes(now), generations.overdue(now)), (Some(now + START), vec![]));
    ready(&mut generations, own(1), now + START / 2);
    assert_eq!(generations.overdue(now + START), vec![]);
    let late = now + START * 2;
    let why = "still Starting after 60 s; raise StartTimeout".to_owned();
    assert_eq!(generations.overdue(late), [GenerationAction::GiveUp(1, why)]);
    assert!(generations.fail(1) && !generations.fail(1));
    assert_eq!((generations.overdue(late), generations.wakes(late)), (vec![], None));
}

#[test]
fn the_old_generation_drains_and_is_removed_after_its_last_process() {
    let now = Instant::now();
    let mut generations = serving(now);
    generations.begin((), TIMES, &[200], now);
    ready(&mut generations, own(2), now);
    assert_eq!(generations.serving(), Some(1), "the old one serves until workers of the new one answer");
    generations.serve(2, now);
    assert_eq!((generations.serving(), generations.state_of(1)), (Some(2), Some(GenerationState::Draining)));
    assert_eq!(generations.drained(1), Some(vec![first(1)]));
    assert_eq!(generations.drained(2), None, "it serves");
    assert_eq!(generations.mold_ended(first(1), Exit::Code(0), now), MoldEnd::Nothing);
    assert!(generations.sweep(|number| number == 1).is_empty(), "a worker is left");
    assert_eq!(generations.overdue(now + GRACEFUL), [GenerationAction::KillWorkers(1)]);
    assert_eq!(generations.sweep(|_| false), [1]);
}

#[test]
fn a_mold_that_ends_while_it_serves_is_started_again_after_a_while() {
    let now = Instant::now();
    let mut generations = serving(now);
    let MoldEnd::Restarts(wait) = generations.mold_ended(first(1), Exit::Signal(11), now) else {
        panic!("it serves, and nobody else forks");
    };
    assert_eq!((generations.restart_due(now), generations.wakes(now)), (None, Some(now + wait)));
    assert_eq!(generations.restart_due(now + wait), Some(own(1)));
    generations.restarted(own(1), Ok(101));
    assert_eq!(generations.restart_due(now + wait), None);
    assert!(!generations.can_fork(own(1)));
    assert_eq!(ready(&mut generations, own(1), now), None);
    assert!(generations.can_fork(own(1)));
}

#[test]
fn a_mold_that_cannot_be_started_is_tried_later() {
    let now = Instant::now();
    let mut generations = serving(now);
    generations.mold_ended(first(1), Exit::Signal(11), now);
    let later = now + Duration::from_secs(1);
    generations.restarted(own(1), Err(later));
    assert_eq!(generations.restart_due(later), None);
    assert!(generations.wakes(later) > Some(later));
}

#[test]
fn the_first_mold_takes_over_from_a_promoted_one_that_ends() {
    let now = Instant::now();
    let mut generations = serving(now);
    let (mold, retired) = generations.promoted(own(1), 150).expect("it serves");
    assert_eq!((mold.refork, retired), (1, vec![]));
    assert_eq!(generations.forking(own(1)).map(|member| member.pid), Some(150));
    let (newest, retired) = generations.promoted(own(1), 160).expect("it serves");
    assert_eq!(retired, [mold]);
    assert_eq!(generations.mold_ended(mold, Exit::Code(0), now), MoldEnd::Spare { in_order: true });
    assert_eq!(generations.mold_ended(newest, Exit::Signal(9), now), MoldEnd::Spare { in_order: false });
    assert_eq!(generations.forking(own(1)).map(|member| member.pid), Some(100));
}

#[test]
fn a_mold_may_be_stopped_for_a_second() {
    let now = Instant::now();
    let mut generations = serving(now);
    generations.mold_stopped(own(1), now);
    assert_eq!((generations.take_stopped(now), generations.wakes(now)), (vec![], Some(now + STOPPED)));
    assert_eq!(generations.take_stopped(now + STOPPED), [first(1)]);
    assert_eq!(generations.take_stopped(now + STOPPED), []);
}

#[test]
fn a_front_that_ends_fails_young_generations_and_retires_draining_ones() {
    let now = Instant::now();
    let mut generations = serving(now);
    generations.begin((), TIMES, &[200], now);
    assert_eq!(generations.give_up_young("why"), [GenerationAction::GiveUp(2, "why".to_owned())]);
    ready(&mut generations, own(2), now);
    generations.serve(2, now);
    assert_eq!(generations.lose_front(), [first(1)]);
    generations.stop();
    assert_eq!(generations.retire_all(), [first(2)]);
}

/// An event in a generated history.
#[derive(Debug, Clone)]
enum Event {
    Begin(u8),
    Ready(u32, u16),
    Serve(u32),
    Fail(u32),
    End(u32, u16, u32),
    Promote(u32, u16),
    Drained(u32),
    LoseFront,
    Tick(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let (number, pool) = (1u32..6, 0u16..3);
    prop_oneof![
        (1u8..3).prop_map(Event::Begin),
        (number.clone(), pool.clone()).prop_map(|(number, pool)| Event::Ready(number, pool)),
        number.clone().prop_map(Event::Serve),
        number.clone().prop_map(Event::Fail),
        (number.clone(), pool.clone(), 0u32..4).prop_map(|(number, pool, refork)| Event::End(number, pool, refork)),
        (number.clone(), pool).prop_map(|(number, pool)| Event::Promote(number, pool)),
        number.prop_map(Event::Drained),
        Just(Event::LoseFront),
        (0u64..90).prop_map(Event::Tick),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariants after any sequence of events: at most one generation serves, a mold is retired once and was known,
    /// each serving pool without a mold gets one, and a stop ends everything.
    #[test]
    fn one_generation_serves_and_all_end_after_any_events(events in proptest::collection::vec(event(), 1..80)) {
        let (mut generations, mut now, mut pid) = (GenerationRegister::default(), Instant::now(), 100);
        let mut retired: Vec<MoldId> = Vec::new();
        for event in events {
            match event {
                Event::Begin(pools) => {
                    let pids: Vec<i32> = (0..pools).map(|pool| pid + i32::from(pool)).collect();
                    generations.begin((), TIMES, &pids, now);
                }
                Event::Ready(generation, pool) => {
                    ready(&mut generations, PoolId { generation, pool }, now);
                }
                // The loop activates only generations in the state `Starting`.
                Event::Serve(number) if generations.state_of(number) == Some(GenerationState::Starting) => {
                    generations.serve(number, now);
                }
                Event::Serve(_) => {}
                Event::Fail(number) => drop(generations.fail(number)),
                Event::End(generation, pool, refork) => {
                    let mold = MoldId { pool: PoolId { generation, pool }, refork };
                    if generations.mold_ended(mold, Exit::Code(0), now) == MoldEnd::FailsGeneration {
                        prop_assert!(generations.fail(generation));
                    }
                }
                Event::Promote(generation, pool) => {
                    let id = PoolId { generation, pool };
                    if let Some((_, molds)) = generations.promoted(id, pid) {
                        retired.extend(molds);
                    }
                }
                Event::Drained(number) => retired.extend(generations.drained(number).unwrap_or_default()),
                Event::LoseFront => retired.extend(generations.lose_front()),
                Event::Tick(seconds) => {
                    now += Duration::from_secs(seconds);
                    for action in generations.overdue(now) {
                        if let GenerationAction::GiveUp(number, _) = action {
                            generations.fail(number);
                        }
                    }
                    if let Some(id) = generations.restart_due(now) {
                        generations.restarted(id, Ok(pid));
                        prop_assert!(generations.forking(id).is_some());
                    }
                    generations.sweep(|_| false);
                }
            }
            pid += 10;
            let serving = generations.iter().filter(|it| it.state == GenerationState::Serving).count();
            prop_assert!(serving <= 1);
            prop_assert!(generations.wakes(now).is_none_or(|at| at <= now + START.max(GRACEFUL)));
        }
        generations.stop();
        retired.extend(generations.retire_all());
        let mut once = retired.clone();
        once.sort_by_key(|mold| (mold.pool.generation, mold.pool.pool, mold.refork));
        once.dedup();
        prop_assert_eq!(once.len(), retired.len(), "a mold was retired twice");
        let molds: Vec<MoldId> = generations.molds().map(|(id, _)| id).collect();
        for mold in molds {
            generations.mold_ended(mold, Exit::Code(0), now);
        }
        generations.sweep(|_| false);
        prop_assert!(generations.is_empty());
    }
}
