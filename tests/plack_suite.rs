//! The Perl tests, by `prove`: Plack's own server test suite, and what drives the `Apache::` API.

use std::process::Command;

use crate::support::{Finished, Site};

#[test]
fn placks_own_server_suite_passes_whole() {
    let said = prove("suite.t", "");
    assert!(!said.contains("# SKIP"), "{said}");
}

#[test]
fn the_apache_api_does_what_its_perl_tests_say_with_taint_check_and_without() {
    let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/perl/t")).expect("perl/t");
    let folders = folders.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut folders: Vec<String> = folders.filter(|name| name.starts_with("Apache")).collect();
    folders.sort();
    assert!(folders.len() > 10, "{folders:?}");
    for taint in ["", "1"] {
        folders.iter().for_each(|folder| drop(prove(folder, taint)));
    }
}

#[test]
fn the_documentation_of_every_module_is_in_order_and_its_synopsis_compiles() {
    prove("pod.t", "");
}

/// `taint`: `1` for `PerlTaintCheck On` in the servers that the test starts (perl/t/lib/TestServer.pm).
fn prove(what: &str, taint: &str) -> String {
    let site = Site::new();
    let mut prove = Command::new("prove");
    prove.arg("-v").arg(format!("{}/perl/t/{what}", env!("CARGO_MANIFEST_DIR")));
    prove
        .env("TEST_UNDER_TAINT_CHECK", taint)
        .env("CAMELEER", env!("CARGO_BIN_EXE_cameleer"))
        .env("TMPDIR", site.path("tmp"))
        .current_dir(site.folder());
    let said = Finished::of(&mut prove);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("Result: PASS"), "{}", said.out);
    said.out
}
