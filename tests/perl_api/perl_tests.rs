//! The Perl tests, run by `prove`: Plack's own server test suite, and the tests of the packages of perl/lib, in perl/t,
//! and of perl/lib2, in perl/t/lib2.
//!
//! All these tests run through each door: the client's protocol, with the user as which the server runs, and
//! PerlTaintCheck, in some of them. %DOORS in perl/t/lib/TestServer.pm is the list of doors, with each door's
//! configuration, client and environment; a new door needs no new test.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::{Finished, Site};

#[test]
fn placks_own_server_suite_passes_whole_by_every_door() {
    // Without a door the suite starts `cameleer run`.
    for door in doors().into_iter().chain([String::new()]) {
        let output = prove(&["Cameleer/PSGI.t"], &[("TEST_DOOR", door.as_str())]);
        assert!(!output.contains("# SKIP"), "{door}: {output}");
    }
}

#[test]
fn placks_own_server_suite_passes_whole_again_on_the_fifth_refork() {
    let output = prove(&["Cameleer/PSGI.t"], &[("TEST_DOOR", "http"), ("TEST_REFORKS", "5")]);
    assert!(output.contains("- refork 5"), "{output}");
    for first_and_last in ["# SCRIPT_NAME\n", "# repeated slashes\n"] {
        assert_eq!(output.matches(first_and_last).count(), 2, "{first_and_last}: {output}");
    }
}

#[test]
fn placks_own_server_suite_passes_in_an_event_pool() {
    let output = prove(&["Cameleer/PSGI.t"], &[("TEST_EVENT", "1")]);
    assert!(output.contains("# psgi.nonblocking"), "{output}");
}

#[test]
fn the_apache_api_is_the_same_by_every_door() {
    let tests = test_files("");
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    assert!(tests.len() > 30, "{tests:?}");
    std::thread::scope(|scope| {
        for door in doors() {
            let tests = &tests;
            scope.spawn(move || drop(prove(tests, &[("TEST_DOOR", door.as_str())])));
        }
    });
}

#[test]
fn the_documentation_of_every_module_is_in_order_and_its_synopsis_compiles() {
    prove(&["pod.t"], &[]);
}

#[test]
fn every_module_loads_in_a_plain_perl_and_dies_where_it_needs_a_request() {
    prove(&["plain_perl.t", "Apache/Constants.t"], &[]);
}

#[test]
fn the_event_loop_of_pagi_follows_its_specification() {
    let tests: Vec<String> = test_files_of("Cameleer/Event/");
    let tests: Vec<&str> = tests.iter().map(String::as_str).filter(|name| has_the_fronts_end(name)).collect();
    assert!(tests.len() > 8, "{tests:?}");
    let output = prove(&tests, &[]);
    assert!(!output.contains("skipped"), "{output}");
}

/// Ways to reach the code, as TestServer.pm defines them. Only root can switch to another user. A test run without root
/// covers an unprivileged server anyway.
fn doors() -> Vec<String> {
    let folder = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/perl/t/lib");
    let names =
        Finished::of(Command::new("perl").args([folder, "-MTestServer", "-e", "print join ' ', TestServer->doors"]));
    let doors: Vec<String> = names.succeeded().out.split_whitespace().map(str::to_owned).collect();
    assert!(doors.len() > 3, "{doors:?}");
    doors
}

/// Tests that start no server, and one with doors of its own; those of event loops start none either.
const WITHOUT_DOORS: [&str; 4] = ["pod.t", "plain_perl.t", "Apache/Constants.t", "Cameleer/PSGI.t"];

/// The tests of the API below this folder of perl/t, which begins and ends like `lib2/`.
fn test_files(below: &str) -> Vec<String> {
    let all = test_files_of(below).into_iter();
    all.filter(|name| !WITHOUT_DOORS.contains(&&**name) && !has_the_fronts_end(name)).collect()
}

/// Whether the test plays the front of an event loop itself, and starts no server.
fn has_the_fronts_end(name: &str) -> bool {
    name.starts_with("Cameleer/Event/") && !name.starts_with("Cameleer/Event/Mojo")
}

/// All tests below this folder of perl/t.
fn test_files_of(below: &str) -> Vec<String> {
    let folder = format!("{}/perl/t/{below}", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}")).flatten();
    let mut found: Vec<String> = entries
        .flat_map(|entry| {
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() { test_files_of(&format!("{name}/")) } else { vec![name] }
        })
        .filter(|name| name.ends_with(".t"))
        .collect();
    found.sort();
    found
}

/// Runs these tests of perl/t, one after the other.
#[track_caller]
fn prove(tests: &[&str], environment: &[(&str, &str)]) -> String {
    let site = Site::new();
    // TMPDIR has the mode of /tmp, because the server's user writes there too.
    let shared = std::fs::Permissions::from_mode(0o1777);
    std::fs::set_permissions(site.path("tmp"), shared).expect("our own folder");
    let mut prove = Command::new("prove");
    prove.arg("-v").args(tests.iter().map(|test| format!("{}/perl/t/{test}", env!("CARGO_MANIFEST_DIR"))));
    prove
        .envs(environment.iter().copied())
        .env("CAMELEER", env!("CARGO_BIN_EXE_cameleer"))
        .env("TMPDIR", site.path("tmp"))
        .current_dir(site.folder());
    let output = Finished::without_limit(&mut prove);
    assert_eq!(output.code, 0, "{tests:?} {environment:?}: {}{}", output.out, output.err);
    assert!(output.out.contains("Result: PASS"), "{}", output.out);
    output.out
}
