//! The words of comments: a comment that says only the name of its item tells a reader nothing.

use std::path::Path;

use super::source::{files, pattern, text};

/// The comments of one line that repeat the name below them, as `line number: comment`.
fn repeated_names(text: &str) -> Vec<String> {
    let comment = pattern(r"^\s*/// (?:The|An?) ([A-Za-z _-]+)\.$");
    let item = pattern(
        r"^\s*(?:pub(?:\([a-z]+\))? )?(?:(?:const|unsafe|async) )*(?:(?:fn|struct|enum|static|type|trait|mod) )?(\w+)",
    );
    let lines: Vec<&str> = text.lines().collect();
    let repeats = |number: usize| {
        let said = comment.captures(lines[number])?;
        let is_longer = number > 0 && lines[number - 1].trim_start().starts_with("///");
        let below = lines[number + 1..].iter().find(|line| !line.trim_start().starts_with("#["))?;
        let name = item.captures(below)?;
        (!is_longer && letters(&said[1]) == letters(&name[1])).then(|| format!("{}: {}", number + 1, said[0].trim()))
    };
    (0..lines.len()).filter_map(repeats).collect()
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
    ] {
        assert!(repeats(text), "{text}");
    }
    for text in [
        "/// The body, in bytes.\npub body: Bytes,",
        "/// The body of a response.\npub body: Bytes,",
        "/// What a client sends.\n/// The body.\npub body: Bytes,",
        "/// The body.\npub text: Bytes,",
        "// The body.\npub body: Bytes,",
    ] {
        assert!(!repeats(text), "{text}");
    }
}
