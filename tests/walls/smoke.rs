//! `make check` runs the tests listed in tests/smoke.txt, `make timing` those in tests/timing.txt. libtest silently
//! ignores unknown names, so these tests check that every listed test exists. The same for the checks of .ci/nightly.

use super::compat_rows::text_of;
use super::source::{pattern, text};

/// The tests of a list, with their code.
fn listed(list: &'static str) -> impl Iterator<Item = (&'static str, String)> {
    let names = list.lines().filter(|line| !line.starts_with('#'));
    names.map(|name| (name, text_of(name).unwrap_or_else(|| panic!("there is no test {name}"))))
}

#[test]
fn every_test_of_make_check_is_there() {
    assert!(listed(include_str!("../smoke.txt")).count() > 5);
}

#[test]
fn every_test_of_make_timing_is_there_and_ignored_by_others() {
    for (name, code) in listed(include_str!("../timing.txt")) {
        assert!(code.contains("#[ignore"), "{name} also runs where other tests do");
    }
}

#[test]
fn every_check_of_the_night_is_a_target_of_make() {
    let (nightly, makefile) = (text(".ci/nightly"), text("Makefile"));
    let checks = pattern(r"(?m)^(\w+) +\d+$");
    let checks: Vec<String> = checks.captures_iter(&nightly).map(|found| found[1].to_owned()).collect();
    assert!(checks.len() > 5, "{checks:?}");
    for check in checks {
        assert!(makefile.contains(&format!("\n{check}:")), "the Makefile has no {check}");
    }
}
