//! The words of comments and tests: a comment that says only the name of its item tells a reader nothing. Lines of
//! comments have at most 120 columns, as rustfmt's lines of code. Each wait of a test names its subject.

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
        let words = comment.captures(lines[number])?;
        let is_longer = number > 0 && lines[number - 1].trim_start().starts_with("///");
        let below = lines[number + 1..].iter().find(|line| !line.trim_start().starts_with("#["))?;
        let name = item.captures(below)?;
        let of_type = |owner: &str| types(&lines, number, below).iter().any(|known| letters(known) == letters(owner));
        let is_repeated =
            letters(&words[1]) == letters(&name[1]) && words.get(2).is_none_or(|owner| of_type(owner.as_str()));
        (!is_longer && is_repeated).then(|| format!("{}: {}", number + 1, words[0].trim()))
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

/// Words that add nothing to the name of an item.
const FILLERS: &str = "a all an and are as at be by course current each for from has have in is it its kind last name \
                       number of on one or results that the this to value was were when whether which with";

/// The comments of one line, without names in backticks, figures or lists, whose words are all in the item's first line
/// or in that of the item around it, as `line number: comment`.
fn restatements(text: &str) -> Vec<String> {
    let comment = pattern(r"^\s*///? ([A-Z][A-Za-z' -]*)\.$");
    let lines: Vec<&str> = text.lines().collect();
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let depth = |line: &str| line.len() - line.trim_start().len();
    let fillers: Vec<String> = stems(FILLERS);
    let restates = |number: usize| {
        let words = comment.captures(lines[number])?;
        let is_longer = number > 0 && is_comment(&lines[number - 1]) || lines.get(number + 1).is_some_and(is_comment);
        let item = lines[number + 1..].iter().find(|line| !line.trim_start().starts_with("#["))?;
        let around = |line: &&&str| !line.trim().is_empty() && depth(line) < depth(lines[number]);
        let outer = lines[..number].iter().rev().find(around).copied().unwrap_or_default();
        let known: Vec<String> = fillers.iter().cloned().chain(stems(item)).chain(stems(outer)).collect();
        let adds = stems(&words[1]).iter().any(|word| !known.contains(word));
        (!is_longer && !adds).then(|| format!("{}: {}", number + 1, lines[number].trim()))
    };
    (0..lines.len()).filter_map(restates).collect()
}

/// The words of a text or identifier in lower case, without their endings.
fn stems(text: &str) -> Vec<String> {
    let apart = pattern("([a-z0-9])([A-Z])").replace_all(text, "$1 $2").to_ascii_lowercase();
    let words = apart.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let stem = |word: &str| {
        let endings = ["ing", "ied", "ies", "ed", "es", "s", "e", "y"].into_iter();
        let stem = endings.filter_map(|ending| word.strip_suffix(ending)).find(|stem| stem.len() >= 2);
        stem.unwrap_or(word).to_owned()
    };
    words.map(stem).collect()
}

/// Numbers of the lines of comments with more than 120 columns, outside of tables and drawings.
fn wide_comments(text: &str) -> Vec<String> {
    let mut is_drawing = false;
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        is_drawing ^= comment.starts_with("```");
        if line.chars().count() > 120 && !is_drawing && !comment.starts_with('|') {
            found.push(number.to_string());
        }
    }
    found
}

/// Numbers of the lines where documentation begins a block that is not marked as text. rustdoc would run the block as a
/// test, but `make test` runs no tests of documentation: rustdoc would read all crates once more to find them.
fn blocks_of_code(text: &str) -> Vec<String> {
    let mut is_open = false;
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("///").or(line.strip_prefix("//!")) else { continue };
        let Some(language) = comment.trim_start().strip_prefix("```") else { continue };
        if !is_open && language != "text" {
            found.push(number.to_string());
        }
        is_open = !is_open;
    }
    found
}

#[test]
fn no_block_of_documentation_is_a_test() {
    assert_eq!(blocks_of_code("/// ```text\n/// a\n/// ```\n//! ```\n//! a\n//! ```\n"), ["4"]);
    let found = found_in_sources(blocks_of_code);
    assert!(found.is_empty(), "mark a drawing as text, and write a test as a test:\n{found}");
}

/// Findings of `rule` in all sources, with the names of their files.
fn found_in_sources(rule: fn(&str) -> Vec<String>) -> String {
    let folders = ["crates", "src", "tools", "fuzz", "tests"].into_iter();
    let sources = folders.flat_map(|folder| files(Path::new(folder), "rs")).filter(|file| !file.ends_with("words.rs"));
    let found = sources.flat_map(|file| {
        let found = rule(&text(&file));
        found.into_iter().map(move |at| format!("{}:{at}", file.display()))
    });
    found.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_comment_repeats_only_the_name_of_its_item() {
    for rule in [repeated_names, restatements] {
        let found = found_in_sources(rule);
        assert!(found.is_empty(), "write a unit, a shape or a reason, or no comment:\n{found}");
    }
}

/// Descriptions of `until` without a subject: "waited in vain until it is told" says nothing.
fn waits_without_a_subject(text: &str) -> Vec<String> {
    let wait = pattern(r#"until\(\s*"((?:it|they|this|that) [^"]*)""#);
    wait.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[test]
fn each_wait_of_a_test_names_its_subject() {
    let found = found_in_sources(waits_without_a_subject);
    assert!(found.is_empty(), "write \"the worker is killed\", not \"it is killed\":\n{found}");
    assert_eq!(waits_without_a_subject("until(\n    \"it is told\", || true)").len(), 1);
}

/// Documentation of one line whose subject is a pronoun or missing, as `line number: comment`: alone it says nothing.
fn without_subject(text: &str) -> Vec<String> {
    let pronoun = pattern(r"^\s*//[/!] (?:Its|Of each|Of the|Who|Those)\b");
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let lines: Vec<&str> = text.lines().collect();
    let is_alone = |number: usize| {
        !(number > 0 && is_comment(&lines[number - 1]) || lines.get(number + 1).is_some_and(is_comment))
    };
    let found = (0..lines.len()).filter(|number| pronoun.is_match(lines[*number]) && is_alone(*number));
    found.map(|number| format!("{}: {}", number + 1, lines[number].trim())).collect()
}

#[test]
fn a_comment_of_one_line_names_its_subject() {
    let found = found_in_sources(without_subject);
    assert!(found.is_empty(), "begin with the name of the thing:\n{found}");
    for text in
        ["/// Its size.\nsize: u64,", "    //! Of each, its size.", "/// Who connects.", "/// Those of the host."]
    {
        assert_eq!(without_subject(text).len(), 1, "{text}");
    }
    for text in
        ["/// Sizes of files.\n/// Those of folders are 0.", "// Its size.", "/// Offset of the size.", "/// Itself."]
    {
        assert!(without_subject(text).is_empty(), "{text}");
    }
}

/// Descriptions of limits without the word for a limit, as `line number: comment`.
fn vague_limits(text: &str) -> Vec<String> {
    let limit = pattern(r"^\s*/// (?:Most|At most) .*$");
    let lines = text.lines().zip(1..);
    lines.filter(|(line, _)| limit.is_match(line)).map(|(line, number)| format!("{number}: {}", line.trim())).collect()
}

#[test]
fn the_description_of_a_limit_begins_with_maximum() {
    let found = found_in_sources(vague_limits);
    assert!(found.is_empty(), "write \"Maximum number of …\":\n{found}");
    assert_eq!(vague_limits("    /// Most bytes of a name.\n    /// At most 3.\n    // Most scripts end.").len(), 2);
}

#[test]
fn comments_have_at_most_120_columns() {
    let found = found_in_sources(wide_comments);
    assert!(found.is_empty(), "break these lines:\n{found}");
}

#[test]
fn a_comment_whose_words_are_all_in_the_code_is_a_restatement() {
    for text in [
        "/// Adds a mold.\npub fn add_mold(&mut self, id: MoldId, mold: Mold) {",
        "/// Number of threads.\npub threads: usize,",
        "/// Settings of a pool.\n#[derive(Debug)]\npub struct PoolSettings {",
        "pub enum Exit {\n    /// The code of the exit.\n    Code(i32),",
        "// A line of a macro.\nstruct MacroLine {",
    ] {
        assert_eq!(restatements(text).len(), 1, "{text}");
    }
    for text in [
        "/// Adds a mold that is loaded.\npub fn add_mold(&mut self, id: MoldId, mold: Mold) {",
        "/// Number of threads, from 1.\npub threads: usize,",
        "/// Settings of a pool.\n/// All are numbers.\npub struct PoolSettings {",
        "/// `Timeout`\npub timeout: Duration,",
        "/// Bytes of the body.\npub body: usize,",
    ] {
        assert!(restatements(text).is_empty(), "{text}");
    }
}

#[test]
fn tables_and_drawings_may_be_wide() {
    let wide = "x ".repeat(70);
    assert_eq!(wide_comments(&format!("/// {wide}\nfn f() {{}}\n    // {wide}")), ["1", "3"]);
    let drawing = format!("//! ```text\n//! {wide}\n//! ```\n//! | {wide} |\n{wide}");
    assert!(wide_comments(&drawing).is_empty());
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
