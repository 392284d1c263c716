//! The figures of `cameleer mem` are compared with the machine's memory: its decrease while the server runs, its
//! increase after the server ends.
//!
//! The memory is measured by `memory.current` of a separate control group where the test can create one (as root; with
//! the memory controller in version 1, by `memory.usage_in_bytes`). Otherwise the measure is MemAvailable plus the
//! freed pages in the processors' lists. Other processes change MemAvailable too, so a try counts only when no other
//! process changed it. On a machine with constant activity nothing is verified. `--nocapture` shows the measure and the
//! figures.

use std::time::Duration;

use nix::sys::signal::Signal;

use super::control_group::ControlGroup;
use super::{conf, measured, number};
use crate::support::{Server, Site, comes_true};

/// The kernel releases and counts the memory of ended processes with a delay.
const A_LITTLE: Duration = Duration::from_secs(3);
/// The time for which MemAvailable must be stable before and after a try.
const A_MOMENT: Duration = Duration::from_millis(300);
const TRIES: usize = 8;

/// An application that loads 40 MB before the fork. Each worker adds 24 MB.
const APP: &str = "our @shared = map { 'x' x 10_000 } 1 .. 4000; our @own;\n\
    sub { [200, [], [scalar @own]] }";

#[test]
fn the_memory_reported_as_freed_is_freed_by_a_stop() {
    verify("a stop gives back", |meter| {
        let mut server = meter.start(5);
        let (reported, before) = (number(&measured(&server)["given_back"]), meter.used());
        server.signal(Signal::SIGTERM);
        server.wait();
        server.until_gone();
        meter.settled(reported, || before.saturating_sub(meter.used()))
    });
}

#[test]
fn one_more_worker_costs_as_much_as_reported() {
    verify("one more worker costs", |meter| {
        let server = meter.start(4);
        let (reported, before) = (number(&measured(&server)["one_more_worker"]), meter.used());
        for workers in 5..=8 {
            server.signal(Signal::SIGTTIN);
            server.until_idle(workers);
        }
        meter.settled(reported, || meter.used().saturating_sub(before) / 4)
    });
}

/// Sizes in bytes.
struct Sizes {
    reported: u64,
    measured: u64,
}

fn verify(what: &str, attempt: impl Fn(&Meter) -> Sizes) {
    let meter = Meter(ControlGroup::new(&what.replace(' ', "-")));
    let mut counted = 0;
    for _ in 0..TRIES {
        let calm = meter.is_calm();
        let sizes = attempt(&meter);
        println!("{what}: {}", meter.words(&sizes));
        if sizes.are_near() {
            return;
        }
        counted += u32::from(calm && meter.is_calm());
    }
    assert_eq!(counted, 0, "{what}: more than 5 % off; the figures stand above");
    println!("{what}: NOT VERIFIED: no control group can be made, and something else moves MemAvailable all the time");
}

impl Sizes {
    fn are_near(&self) -> bool {
        self.reported.abs_diff(self.measured) * 20 <= self.measured
    }
}

/// The control group to measure; `None` for the whole machine.
struct Meter(Option<ControlGroup>);

impl Meter {
    fn start(&self, workers: usize) -> Server {
        let growth = "PerlChildInitHandler 'sub { @main::own = map { q(y) x 10_000 } 1 .. 2400; 0 }'\n";
        let site = Site::new().file("app.psgi", APP);
        site.configure(&format!("{}{growth}", conf(workers)));
        let launcher = self.0.as_ref().map_or_else(|| "exec \"$0\" \"$@\"".to_owned(), ControlGroup::enter);
        let server = Server::start_by(site, &["sh", "-c", &launcher]);
        server.until_idle(workers);
        server
    }

    fn used(&self) -> u64 {
        match &self.0 {
            Some(group) => group.used().expect("the group is there"),
            None => of_machine("MemTotal:") - of_machine("MemAvailable:") - kept_by_processors(),
        }
    }

    /// The reported size and the measured size, as soon as both are near or [`A_LITTLE`] has passed.
    fn settled(&self, reported: u64, truth: impl Fn() -> u64) -> Sizes {
        let sizes = || Sizes { reported, measured: truth() };
        comes_true(A_LITTLE, || sizes().are_near());
        sizes()
    }

    /// Whether only the server changes the measured memory.
    fn is_calm(&self) -> bool {
        let before = self.used();
        self.0.is_some() || !comes_true(A_MOMENT, || self.used().abs_diff(before) > 1 << 20)
    }

    fn words(&self, sizes: &Sizes) -> String {
        let Sizes { reported, measured } = sizes;
        let by = self.0.as_ref().map_or("MemAvailable", ControlGroup::name);
        let off = (*reported as f64 / *measured as f64 - 1.0) * 100.0;
        format!("cameleer mem says {reported}, {by} says {measured}: {off:+.2} %")
    }
}

/// Bytes of freed pages in the processors' own lists, hundreds of megabytes since Linux 6.7. MemAvailable does not
/// include them.
fn kept_by_processors() -> u64 {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/zoneinfo").unwrap_or_default();
    let counts = text.lines().filter_map(|line| line.trim().strip_prefix("count:")?.trim().parse::<u64>().ok());
    counts.sum::<u64>() * PAGE
}

fn of_machine(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").expect("procfs");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line of that name");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
