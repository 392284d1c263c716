//! CONTRIBUTING.md's map from a layer to its tests: every named folder and module exists, and no crate or test module
//! is missing.

use std::path::Path;

use regex::Regex;

/// The words in backticks in a column of the map.
fn named(column: usize) -> Vec<String> {
    let text = include_str!("../../CONTRIBUTING.md");
    let (_, map) = text.split_once("\n| layer | ").expect("the map");
    let word = Regex::new("`([^`]+)`").expect("a pattern");
    let cells = map.lines().skip(2).take_while(|row| row.starts_with('|')).filter_map(|row| row.split('|').nth(column));
    cells.flat_map(|cell| word.captures_iter(cell).map(|found| found[1].to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn every_folder_of_the_map_is_there() {
    let folders = named(2);
    assert!(!folders.is_empty());
    for folder in folders {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder).exists(), "{folder}");
    }
}

#[test]
fn every_crate_has_a_row_in_the_map() {
    let folders = named(2);
    for home in super::layers::crates() {
        let folder = home.trim_end_matches("src");
        let is_there = folders.iter().any(|named| format!("{named}/").starts_with(folder));
        assert!(is_there, "CONTRIBUTING.md does not say where the tests of {folder} are");
    }
}

#[test]
fn the_map_lists_exactly_the_test_modules() {
    let mut mapped: Vec<String> = named(3);
    mapped.sort();
    mapped.dedup();
    let modules = include_str!("../main.rs").lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let mut modules: Vec<&str> = modules.filter(|name| *name != "support").collect();
    modules.sort_unstable();
    assert_eq!(mapped, modules);
}
