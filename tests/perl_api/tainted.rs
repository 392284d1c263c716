//! The tests of the API, of scripts and of their phases a second time, each site with `PerlTaintCheck On`.
//!
//! Under taint mode, client input must remain data. All other behaviour must be the same. The second run is a process
//! of its own: `CAMELEER_TEST_TAINT=1 cargo test --test cameleer -- NAME` does the same for one test.

use std::process::Command;

use crate::support::{Finished, TAINT};

/// Values of `$r` that come from the client are tainted, values that come from the server are not, as in mod_perl 1.31.
mod marks;

/// Tests whose names begin with one of these prefixes run again.
const AGAIN: [&str; 5] =
    ["apps::examples::", "perl_api::apache_modules::", "perl_api::handlers::", "perl_api::phases::", "registry::"];

#[test]
fn the_same_tests_pass_under_taint_mode() {
    let program = std::env::current_exe().expect("this test's own program");
    let listed = Finished::of(Command::new(&program).args(["--list", "--format", "terse"])).succeeded().out;
    let names = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    let again: Vec<&str> = names.filter(|name| AGAIN.iter().any(|begin| name.starts_with(begin))).collect();
    for begin in AGAIN {
        assert!(again.iter().any(|name| name.starts_with(begin)), "no test begins with {begin}");
    }
    let output = Finished::without_limit(Command::new(&program).arg("--exact").args(again).env(TAINT, "1"));
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
}
