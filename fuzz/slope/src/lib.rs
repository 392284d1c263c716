//! Fails a fuzz target whose cost grows faster than its input: [`watch`] compares the costs of the input and of
//! the input repeated several times.
//!
//! Two costs are counted. The number of executed blocks of instrumented code, which [`run`](../../run) has the
//! compiler count, is deterministic, but excludes the standard library and libc. So the thread's CPU time is
//! measured, too: it counts only as the shortest of several measurements, and only if it grows much more than
//! the input.

use std::cell::Cell;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Minimum length of a checked input, in bytes.
const MIN_BYTES: usize = 16;
/// Longest repeated input, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// Maximum number of repetitions of the input.
const TIMES: usize = 16;
/// One of this many inputs is checked, always including the first: a run with one input reproduces a finding.
const EVERY: u32 = 16;
/// Number of measurements, of which the shortest counts.
const LOOKS: usize = 7;
/// A cost of at most this many steps per byte is accepted.
const STEPS_A_BYTE: u64 = 200;
/// Minimum time that is compared; shorter times are noise.
const MOMENT: Duration = Duration::from_millis(2);

/// A measured cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Number of executed blocks of code.
    pub steps: u64,
    /// CPU time of this thread.
    pub time: Duration,
}

thread_local!(static SEEN: Cell<u32> = const { Cell::new(0) });

/// Panics if `work` costs much more for a longer input than its length explains.
pub fn watch(input: &[u8], work: impl Fn(&[u8])) {
    assert!(steps::count() > 0, "no steps are counted: fuzz/run names the switch of the compiler for that");
    if SEEN.replace(SEEN.get().wrapping_add(1)) % EVERY == 0 {
        look(input, work);
    }
}

/// Checks an input: repeated as a whole, and with its second half repeated.
pub fn look(input: &[u8], work: impl Fn(&[u8])) {
    let times = TIMES.min(MAX_BYTES / input.len().max(1));
    if input.len() < MIN_BYTES || times < 4 {
        return;
    }
    let (head, tail) = input.split_at(input.len() / 2);
    for longer in [input.repeat(times), [head, &tail.repeat(2 * times)].concat()] {
        let lengths = (input.len(), longer.len());
        if let Some(steep) = compare(lengths, || (cost(&work, input), cost(&work, &longer))) {
            panic!("{steep}");
        }
    }
}

/// Returns an error text if the costs of two lengths differ too much in every measurement.
pub fn compare(lengths: (usize, usize), mut measure: impl FnMut() -> (Cost, Cost)) -> Option<String> {
    let (mut short, mut long) = measure();
    for _ in 1..LOOKS {
        // Most inputs pass at the first measurement.
        if !is_steep(lengths, short, long) {
            return None;
        }
        let again = measure();
        short = cheaper(short, again.0);
        long = cheaper(long, again.1);
    }
    is_steep(lengths, short, long).then(|| {
        let (from, to) = lengths;
        let a_byte = |cost: Cost, length: usize| format!("{:.1}", cost.steps as f64 / length as f64);
        format!(
            "{from} bytes cost {} steps ({} a byte) and {:?}, {to} bytes {} steps ({} a byte) and {:?}",
            short.steps,
            a_byte(short, from),
            short.time,
            long.steps,
            a_byte(long, to),
            long.time
        )
    })
}

/// Steps may grow twice as fast as the input, time four times. Quadratic cost grows sixteen times as fast.
fn is_steep(lengths: (usize, usize), short: Cost, long: Cost) -> bool {
    let (from, to) = lengths;
    let growth = to as u64 / from as u64;
    let many = long.steps > STEPS_A_BYTE * to as u64 && long.steps > 2 * growth * short.steps.max(1);
    let slow = long.time > MOMENT && long.time > 4 * growth as u32 * short.time.max(Duration::from_micros(1));
    many || slow
}

fn cheaper(a: Cost, b: Cost) -> Cost {
    Cost { steps: a.steps.min(b.steps), time: a.time.min(b.time) }
}

fn cost(work: impl Fn(&[u8]), input: &[u8]) -> Cost {
    let (steps, time) = (steps::count(), now());
    work(input);
    Cost { steps: steps::count() - steps, time: now().saturating_sub(time) }
}

fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has this clock").into()
}

/// The counter of executed blocks.
pub mod steps {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<u64> = const { Cell::new(0) });

    /// The count of this thread.
    pub fn count() -> u64 {
        STEPS.get()
    }

    /// Called at the beginning of each block, by fuzz/build.rs. The compiler does not instrument functions with
    /// this prefix; callees must be inlined, or they would be counted: hence `--release`.
    #[unsafe(no_mangle)]
    pub extern "C" fn __sanitizer_slope_step() {
        STEPS.set(STEPS.get().wrapping_add(1));
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::panic::catch_unwind;

    use super::*;

    /// The compiler's callback, for builds without libFuzzer, which defines it.
    #[unsafe(no_mangle)]
    extern "C" fn __sanitizer_cov_trace_pc() {
        steps::__sanitizer_slope_step();
    }

    /// Compares each byte with each other byte.
    fn square(input: &[u8]) {
        let pairs = input.iter().flat_map(|a| input.iter().map(move |b| (a, b)));
        black_box(pairs.filter(|(a, b)| black_box(a) == b).count());
    }

    /// Also quadratic, but without counted steps: libc moves the rest for each byte.
    fn hidden_square(input: &[u8]) {
        let mut left = input.to_vec();
        while !left.is_empty() {
            black_box(&mut left).remove(0);
        }
    }

    fn line(input: &[u8]) {
        for _ in 0..500 {
            input.iter().for_each(|byte| _ = black_box(byte));
        }
    }

    const INPUT: [u8; 200] = [b'/'; 200];

    #[test]
    fn steps_that_grow_with_the_square_fail() {
        let steps = |times: usize| Cost { time: Duration::ZERO, ..cost(square, &INPUT.repeat(times)) };
        let message = compare((200, 3200), || (steps(1), steps(16))).expect("it is too steep");
        assert!(message.starts_with("200 bytes cost ") && message.contains(", 3200 bytes "), "{message}");
        assert!(catch_unwind(|| look(&INPUT, square)).is_err());
    }

    #[test]
    fn time_that_grows_with_the_square_fails() {
        assert!(catch_unwind(|| look(&[b'/'; 4096], hidden_square)).is_err());
    }

    #[test]
    fn a_cost_that_grows_with_the_input_is_accepted() {
        look(&INPUT, line);
        look(b"short", square);
    }

    #[test]
    fn a_single_slow_measurement_is_repeated() {
        let mut looks = 0;
        let mut measure = || {
            looks += 1;
            let time = if looks == 1 { Duration::from_secs(1) } else { Duration::from_micros(170) };
            (Cost { steps: 0, time: Duration::from_micros(10) }, Cost { steps: 0, time })
        };
        assert_eq!(compare((100, 1600), &mut measure), None);
    }

    #[test]
    fn a_sample_of_the_inputs_is_measured_and_the_first_belongs_to_it() {
        let watched = Cell::new(0);
        (0..2 * EVERY).for_each(|_| watch(&INPUT, |_| watched.set(watched.get() + 1)));
        assert!(watched.get() >= 2 * 4 && watched.get() <= 2 * 4 * LOOKS as u32, "{}", watched.get());
    }
}
