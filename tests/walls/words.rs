//! The words of comments: a comment that says only the name of its item tells a reader nothing.

use std::path::Path;

use super::source::{files, pattern, text};

/// The comments of one line that repeat the name below them, alone or with the type of it or around it, as
/// `line number: comment`.
fn repeated_names(text: &str) -> Vec<String> {
    let comment =
        pattern(r"^\s*/// (?:(?:The|An?) )?([A-Za-z][A-Za-z _-]*?)(?: of (?:(?:the|an?) )?([A-Za-z _-]+))?\.$");
    let item = pattern(
        r"^\s*(?:pub(?:\([a-z]+\))? )?(?:(?:const|unsafe|async) )*(?:(?:fn|struct|enum|static|type|trait|mod) )?(\w+)",
    );
    let lines: Vec<&str> = text.lines().collect();
    let repeats = |number: usize| {
        let said = comment.captures(lines[number])?;
        let is_longer = number > 0 && lines[number - 1].trim_start().starts_with("///");
        let below = lines[number + 1..].iter().find(|line| !line.trim_start().starts_with("#["))?;
        let name = item.captures(below)?;
        let of_type = |owner: &str| types(&lines, number, below).iter().any(|known| letters(known) == letters(owner));
        let is_repeated =
            letters(&said[1]) == letters(&name[1]) && said.get(2).is_none_or(|owner| of_type(owner.as_str()));
        (!is_longer && is_repeated).then(|| format!("{}: {}", number + 1, said[0].trim()))
    };
    (0..lines.len()).filter_map(repeats).collect()
}

/// The words of an item's line, which has its type, and the names of the items around line `number`.
fn types<'a>(lines: &[&'a str], number: usize, item: &'a str) -> Vec<&'a str> {
    let word = pattern(r"\w+");
    let opening = pattern(
        r"^\s*(?:pub(?:\([a-z]+\))? )?(?:(?:struct|enum|trait|mod|impl(?:<[^>]*>)?) )?(?:.* for )?(\w+)[^=;()]*\{$",
    );
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut inner = depth(lines[number]);
    let mut found: Vec<&str> = word.find_iter(item).map(|it| it.as_str()).collect();
    for line in lines[..number].iter().copied().rev().filter(|line| !line.trim().is_empty()) {
        if depth(line) < inner {
            inner = depth(line);
            found.extend(opening.captures(line).map(|it| it.get(1).expect("a name").as_str()));
        }
    }
    found
}

/// The letters of a name or of words, without the end of a plural.
fn letters(words: &str) -> String {
    let all: String = words.chars().filter(char::is_ascii_alphanumeric).collect();
    all.to_ascii_lowercase().trim_end_matches(['e', 's']).to_owned()
}

#[test]
fn no_comment_repeats_only_the_name_of_its_item() {
    let folders = ["crates", "src", "tools", "fuzz", "tests"].into_iter();
    let sources = folders.flat_map(|folder| files(Path::new(folder), "rs")).filter(|file| !file.ends_with("words.rs"));
    let found: Vec<String> = sources
        .flat_map(|file| {
            let found = repeated_names(&text(&file));
            found.into_iter().map(move |at| format!("{}:{at}", file.display()))
        })
        .collect();
    assert!(found.is_empty(), "write a unit, a shape or a reason, or no comment:\n{}", found.join("\n"));
}

#[test]
fn a_comment_with_more_than_the_name_is_no_repetition() {
    let repeats = |text: &str| !repeated_names(text).is_empty();
    for text in [
        "/// The body.\npub body: Bytes,",
        "    /// The bodies.\n    Bodies(Bytes),",
        "/// A slow request.\n#[derive(Debug)]\npub struct SlowRequest {",
        "/// The idle time.\npub(crate) fn idle_time() {",
        "/// An address.\npub unsafe fn addresses() {",
        "/// Body.\npub body: Bytes,",
        "/// The role of the process.\npub role: Process,",
        "pub struct Process {\n    /// Role of the process.\n    pub role: ProcessRole,",
        "pub enum Message {\n    Worker {\n        /// Slot of a worker.\n        slot: Slot,",
        "impl Drop for Process {\n    /// The role of a process.\n    fn role(&self) {",
    ] {
        assert!(repeats(text), "{text}");
    }
    for text in [
        "/// The body, in bytes.\npub body: Bytes,",
        "/// The body of a response.\npub body: Bytes,",
        "/// What a client sends.\n/// The body.\npub body: Bytes,",
        "/// The body.\npub text: Bytes,",
        "pub struct Process {\n}\n/// Role of the process.\npub role: ProcessRole,",
        "// The body.\npub body: Bytes,",
    ] {
        assert!(!repeats(text), "{text}");
    }
}
