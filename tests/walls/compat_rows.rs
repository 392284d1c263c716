//! The compatibility table: each row names existing tests, and their text contains the method, function or word of the
//! row.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use compat::rows::{self, CompatRow};

/// The chapter whose rows are sentences.
const SENTENCES: &str = "What the documents do and calculate";

/// Chapters whose rows are methods or functions. Tests must call these.
const PACKAGES: &str = "Apache Apache::SubRequest Apache::SubProcess Apache::Request Apache::Connection Apache::Server \
    Apache::Log Apache::Table Apache::File Apache::URI Apache::Util Apache::ModuleConfig Apache::CmdParms";

#[test]
fn every_row_names_a_test_that_is_there() {
    let missing: Vec<String> = rows::all().iter().filter_map(missing).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn the_test_of_a_row_contains_its_name() {
    let named = |row: &&CompatRow| row.section != SENTENCES;
    let silent = rows::all().iter().filter(named).filter(|row| !row.tests.split(", ").any(|test| has(row, test)));
    let silent: Vec<String> = silent.map(|row| format!("{} {}: {}", row.section, row.name, row.tests)).collect();
    assert!(silent.is_empty(), "none of the tests named calls, sets or loads it:\n{}", silent.join("\n"));
}

#[test]
fn the_chapters_named_here_are_those_of_the_table() {
    for chapter in PACKAGES.split_whitespace().chain([SENTENCES]) {
        assert!(rows::all().iter().any(|row| row.section == chapter), "the table has no chapter {chapter}");
    }
}

fn missing(row: &CompatRow) -> Option<String> {
    let not_there = row.tests.split(", ").find(|test| text_of(test).is_none())?;
    Some(format!("{} {}: {not_there}", row.section, row.name))
}

fn has(row: &CompatRow, test: &str) -> bool {
    let Some(text) = text_of(test) else { return false };
    let name = row.name.trim_matches(['<', '>']);
    let words = words(&text, name);
    match PACKAGES.split_whitespace().any(|package| package == row.section) {
        true => words.into_iter().any(|(before, after)| is_call(before, after)),
        false => !words.is_empty(),
    }
}

/// Whether a word is a call: `$r->name`, `Package::name`, `name(…)`, or an element of a `qw(…)` list of names called in
/// turn.
fn is_call(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    let line = before.rsplit('\n').next().unwrap_or_default();
    before.ends_with("->") || before.ends_with("::") || after.trim_start().starts_with('(') || line.contains("qw(")
}

/// The text before and after each occurrence of a word.
fn words<'a>(text: &'a str, word: &str) -> Vec<(&'a str, &'a str)> {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    let begins_as_word = word.starts_with(continues);
    text.match_indices(word)
        .map(|(at, _)| (&text[..at], &text[at + word.len()..]))
        .filter(|(before, after)| !(after.starts_with(continues) || begins_as_word && before.ends_with(continues)))
        .collect()
}

/// The code of a `.t` file, or of the test `module::test` with the items that it uses from its file and its folder's
/// `mod.rs`.
pub fn text_of(test: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if test.ends_with(".t") {
        let text = std::fs::read_to_string(root.join(test)).ok()?;
        return Some(text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n"));
    }
    let mut parts: Vec<&str> = test.split("::").collect();
    let function = parts.pop().filter(|_| !parts.is_empty())?;
    let file: PathBuf = root.join("tests").join(parts.join("/"));
    let own = [file.with_extension("rs"), file.join("mod.rs")].into_iter().find(|file| file.is_file())?;
    let shared = own.with_file_name("mod.rs");
    let texts = [shared, own].map(|file| std::fs::read_to_string(file).unwrap_or_default());
    let items: HashMap<&str, &str> = texts.iter().flat_map(|text| items(text)).collect();
    items.get(function)?.contains("#[test]").then(|| with_what_it_uses(function, &items))
}

/// A `\n` in a Rust string becomes the end of a line, so that the word after it is recognized.
fn with_what_it_uses(function: &str, items: &HashMap<&str, &str>) -> String {
    let (mut text, mut seen, mut next) = (String::new(), Vec::new(), vec![function]);
    while let Some(name) = next.pop() {
        let Some(item) = items.get(name).filter(|_| !seen.contains(&name)) else { continue };
        seen.push(name);
        text += &item.replace("\\n", "\n");
        next.extend(item.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| items.contains_key(word)));
    }
    text
}

/// Top-level functions and constants of a file, by name. A paragraph that begins otherwise belongs to the item before
/// it.
fn items(text: &str) -> Vec<(&str, &str)> {
    let begins = ["#[", "///", "fn ", "pub ", "const ", "static ", "struct ", "impl ", "use ", "mod "];
    let mut starts: Vec<usize> = text.match_indices("\n\n").map(|(at, _)| at + 2).collect();
    starts.retain(|at| begins.iter().any(|word| text[*at..].starts_with(word)));
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let items = starts.iter().zip(ends).map(|(start, end)| &text[*start..end]);
    items.filter_map(|item| Some((name(item)?, item))).collect()
}

fn name(item: &str) -> Option<&str> {
    let line = item.lines().find(|line| !line.starts_with("#[") && !line.starts_with("//"))?;
    let rest = line.trim_start_matches("pub ").trim_start_matches("pub(super) ").trim_start_matches("pub(crate) ");
    let rest = ["fn ", "const ", "static "].iter().find_map(|word| rest.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}
