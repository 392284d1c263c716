//! SECURITY.md: each promise names the tests that prove it, and these tests exist.

use std::path::Path;

use regex::Regex;

const TEXT: &str = include_str!("../../SECURITY.md");

/// The items of the list of promises.
fn promises() -> Vec<String> {
    let (_, promised) = TEXT.split_once("\n## Promised\n").expect("the chapter");
    let promised = promised.split("\n## ").next().unwrap_or_default();
    promised.split("\n- ").skip(1).map(|item| item.replace('\n', " ")).collect()
}

/// The text of the source file at `path`, or of all source files below it.
fn sources(path: &Path) -> String {
    if path.is_file() {
        return std::fs::read_to_string(path).expect("text");
    }
    let entries = std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let inside = entries.flatten().map(|entry| entry.path());
    inside
        .filter(|path| path.is_dir() || path.extension().is_some_and(|kind| kind == "rs"))
        .map(|it| sources(&it))
        .collect()
}

#[test]
fn every_promise_names_tests_that_are_there() {
    let test = Regex::new(r"\[`(\w+)`\]\(([\w/.]+)\)").expect("a pattern");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(promises().len() > 15);
    for promise in promises() {
        let named: Vec<_> = test.captures_iter(&promise).collect();
        assert!(!named.is_empty(), "no test: {promise}");
        for named in named {
            let (name, place) = (&named[1], &named[2]);
            let is_target = place == format!("fuzz/fuzz_targets/{name}.rs");
            let source = sources(&root.join(place));
            assert!(is_target || source.contains(&format!("fn {name}(")), "{place} has no test {name}");
        }
    }
}

#[test]
fn every_chapter_that_a_reader_looks_for_is_there() {
    for chapter in ["## Reporting", "## Who means harm", "## Promised", "## Not promised"] {
        assert!(TEXT.contains(&format!("\n{chapter}\n")), "{chapter}");
    }
}
