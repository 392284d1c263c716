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

/// The checks of .ci/nightly with their limits, in minutes.
fn nightly_checks() -> Vec<(String, u32)> {
    let row = pattern(r"(?m)^([\w-]+) +(\d+)$");
    let nightly = text(".ci/nightly");
    row.captures_iter(&nightly).map(|found| (found[1].to_owned(), found[2].parse().expect("a number"))).collect()
}

#[test]
fn every_check_of_the_night_is_a_target_of_make() {
    let (checks, makefile, page) = (nightly_checks(), text("Makefile"), text("CONTRIBUTING.md"));
    assert!(checks.len() > 5, "{checks:?}");
    let row = page.lines().find(|line| line.starts_with("| `.ci/nightly`")).expect("a row of CONTRIBUTING.md");
    for (check, _) in &checks {
        assert!(makefile.contains(&format!("\n{check}:")), "the Makefile has no {check}");
        assert!(row.contains(&format!("`{check}`")), "CONTRIBUTING.md, .ci/nightly: {check} is missing");
    }
    let hours = format!("at most {} hours", checks.iter().map(|(_, minutes)| minutes).sum::<u32>().div_ceil(60));
    assert!(row.contains(&hours) && text(".ci/nightly").contains(&hours), "{hours}");
}

#[test]
fn every_test_of_the_packages_runs_at_night() {
    let (checks, makefile) = (nightly_checks(), text("Makefile"));
    let target = pattern(r"(?m)^([\w-]+):.*\n(?:\t.*\n)*\t.* tests/pkg/[\w-]+$");
    let targets: Vec<&str> = target.captures_iter(&makefile).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    assert!(targets.len() > 3, "{targets:?}");
    for target in targets {
        assert!(checks.iter().any(|(check, _)| check == target), ".ci/nightly does not run {target}");
    }
}
