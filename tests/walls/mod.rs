//! House rules that the sources themselves can prove (docs/architecture.md, "Invariants").

use std::collections::BTreeSet;
use std::path::Path;

use source::{files, pattern, sources, text};

/// The compatibility table and the tests that it names.
mod compat_rows;

/// The documents name what the tree has.
mod documents;

/// The layers of modules within a crate.
mod layers;

/// The layers of the crates, and forbidden dependencies.
mod manifests;

/// The dependency graph of modules.
mod graph;

/// The map from a layer to its tests in CONTRIBUTING.md.
mod map;

/// Names of public types.
mod names;

/// Parameters of functions have names.
mod parameters;

/// Packages of perl/lib and perl/lib2, and their test files in perl/t.
mod perl_packages;

/// Numbers that grow only by hand.
mod ratchet;

/// The promises of SECURITY.md and the tests that prove them.
mod security;

/// The tests that `make check` runs.
mod smoke;

/// The sources without comments, strings and tests.
mod source;

/// Comments that only repeat a name.
mod words;

#[test]
fn a_test_waits_for_conditions_and_sleeps_only_through_let_pass() {
    let sleeps =
        pattern(r#"\bsleep(?:_until)?\(|\bsleep\b[,;}]|thread::park_timeout|until\("", \|\| \w+\.elapsed\(\)"#);
    let mut counted = 0;
    for path in files(Path::new("tests"), "rs") {
        if sleeps.is_match(&source::code(&text(&path))) {
            counted += 1;
            assert_eq!(path, Path::new("tests/support/wait.rs"), "use support::until, or support::let_pass");
        }
    }
    assert_eq!(counted, 1);
}

#[test]
fn the_master_has_no_threads() {
    forbid("crates/master/src", r"thread::(spawn|Builder|scope)");
}

#[test]
fn the_configuration_reads_no_environment_and_opens_no_sockets() {
    forbid("crates/config/src", r"\benv::(var|vars|args|current_dir)");
    forbid("crates/config/src", r"std::(net::(TcpListener|TcpStream)|process)\b");
}

#[test]
fn only_the_top_of_the_front_knows_all_of_it() {
    only("crates/front/src", r"\bFront\b", &["clock.rs", "control.rs", "lib.rs", "threads.rs"]);
}

#[test]
fn only_the_loop_of_the_master_knows_all_of_it() {
    only("crates/master/src", r"\bMaster\b", &["lib.rs", "main_loop/"]);
}

#[test]
fn the_masters_parts_have_no_clock_and_do_no_io() {
    let clock_and_io = r"::now\(|\.elapsed\(|\b(nix|log|sys|peer)::|std::(env|fs|io|net|os|process|thread)\b";
    let others = [
        "acme/job.rs",
        "acme/store.rs",
        "certificates.rs",
        "children/",
        "configuration/",
        "inspections.rs",
        "late_code_file.rs",
        "logs.rs",
        "main_loop/",
        "memory_grants.rs",
        "monitor/history_file.rs",
        "monitor/mod.rs",
        "notify.rs",
        "pid_file.rs",
        "signals.rs",
        "sockets/",
    ];
    only("crates/master/src", clock_and_io, &others);
}

#[test]
fn only_the_command_line_and_start_up_read_the_environment() {
    let environment = r"\benv::(var|vars|args)(_os)?\b";
    let built_or_tested = ["apache/build.rs", "apr/build.rs", "perl-build/src/lib.rs", "libperl/tests/guard.rs"];
    let start_up = ["configuration/mod.rs", "notify.rs", "sockets/control_socket/folder.rs", "sockets/listeners.rs"];
    let start_up = start_up.map(|file| format!("master/src/{file}"));
    let all: Vec<&str> = built_or_tested.into_iter().chain(start_up.iter().map(String::as_str)).collect();
    only("crates", environment, &all);
    only("tools", environment, &["toolkit/src/conf.rs", "toolkit/src/directives/mod.rs", "toolkit/src/origin.rs"]);
}

/// Clippy's `undocumented_unsafe_blocks` also accepts a comment above the statement or its attributes.
#[test]
fn every_unsafe_block_has_its_reason_directly_above() {
    let unsafe_block = pattern(r"\bunsafe (\{|impl\b)");
    for source in ["crates", "src", "tools"].iter().flat_map(|folder| files(Path::new(folder), "rs")) {
        let text = text(&source);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| unsafe_block.is_match(line)) {
            let mut comment = lines[..number].iter().rev().take_while(|line| line.starts_with("//"));
            let has_reason = line.starts_with("//") || comment.any(|line| line.starts_with("// SAFETY:"));
            assert!(has_reason, "{}:{}: no SAFETY directly above: {line}", source.display(), number + 1);
        }
    }
}

const UNWRAP: &str = r"\.(unwrap|expect)\(";

#[test]
fn no_input_of_clients_reaches_an_unwrap() {
    // A build script ends the build.
    let runs = |home: &&String| home.starts_with("crates/") && !home.starts_with("crates/perl-build/");
    for home in layers::crates().iter().filter(runs) {
        forbid(home, UNWRAP);
    }
    // Their arguments are constants: bounds of a histogram, regular expressions.
    let constants = ["bench/src/times.rs", "toolkit/src/directives/application.rs"];
    only("tools", UNWRAP, &constants);
    forbid("src", UNWRAP);
}

#[test]
fn every_fuzz_target_watches_how_its_cost_grows() {
    let targets = sources("fuzz/fuzz_targets");
    assert!(targets.len() >= 12, "{} targets", targets.len());
    for target in targets {
        assert!(
            target.code.contains("slope::watch("),
            "{}: it does not hand its input to slope::watch (fuzz/slope)",
            target.name
        );
    }
}

#[test]
fn every_invariant_has_its_test_and_every_test_its_invariant() {
    let drawn = text("docs/architecture.md");
    let list = drawn.split("\n## ").find(|section| section.starts_with("Invariants")).expect("the section");
    let walls = ["mod", "documents", "layers", "manifests"].map(|name| text(format!("tests/walls/{name}.rs"))).concat();
    let all: String =
        ["tests", "src", "crates", "tools"].iter().flat_map(|top| files(Path::new(top), "rs")).map(text).collect();
    let names = |found: &str, of: &str| -> BTreeSet<String> {
        pattern(found).captures_iter(of).map(|found| found[1].to_owned()).collect()
    };
    let tests = |code: &str| names(r"#\[test\]\s+fn (\w+)", code);
    let named = names(r"\(`(\w+)`\)", list);
    let unnamed: Vec<_> = tests(&walls).difference(&named).cloned().collect();
    assert!(unnamed.is_empty(), "docs/architecture.md has no invariant for {unnamed:?}");
    let gone: Vec<_> = named.difference(&tests(&all)).cloned().collect();
    assert!(gone.is_empty(), "docs/architecture.md names tests that are nowhere: {gone:?}");
    for line in list.split("\n- ").skip(1) {
        assert!(line.contains("(`"), "which test holds this? {line}");
    }
}

#[test]
fn every_folder_of_sources_has_a_description() {
    for file in ["src", "crates", "tools"].into_iter().flat_map(|home| files(Path::new(home), "rs")) {
        let is_head = file.ends_with("mod.rs") && !file.components().any(|part| part.as_os_str() == "tests");
        assert!(!is_head || text(&file).starts_with("//! "), "{} does not begin with what lies there", file.display());
    }
}

#[track_caller]
fn forbid(folder: &str, pattern: &str) {
    let forbidden = source::pattern(pattern);
    let sources = sources(folder);
    assert!(!sources.is_empty(), "{folder} has sources");
    for source in sources {
        let found = source.code.lines().find(|line| forbidden.is_match(line));
        assert!(found.is_none(), "{}: {}", source.name, found.unwrap_or_default().trim());
    }
}

/// Asserts that the sources of `folder` match `pattern` below `allowed` alone, and below each of these: an exception
/// that nothing needs any more has to go.
#[track_caller]
fn only(folder: &str, pattern: &str, allowed: &[&str]) {
    let exceptional = source::pattern(pattern);
    let mut needed = BTreeSet::new();
    for source in sources(folder) {
        let Some(found) = source.code.lines().find(|line| exceptional.is_match(line)) else { continue };
        let below = source.name.strip_prefix(folder).map_or("", |name| name.trim_start_matches('/'));
        let place = allowed.iter().find(|place| below.starts_with(**place));
        needed.insert(*place.unwrap_or_else(|| panic!("{}: {}", source.name, found.trim())));
    }
    let stale: Vec<_> = allowed.iter().filter(|place| !needed.contains(**place)).collect();
    assert!(stale.is_empty(), "{folder}: nothing matches {pattern} in {stale:?} any more");
}
