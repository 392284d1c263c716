//! Numbers that grow only by hand: unsafe blocks, lines of the longest files, lines of the program, uses of vague
//! names. They stand in tests/walls/ratchet.txt, and `CAMELEER_BLESS=1` lowers them there, but never raises one.

use std::collections::BTreeSet;
use std::path::Path;

use super::source::{bare, files, pattern, root, text};

const FILE: &str = "tests/walls/ratchet.txt";
/// Folders of the program.
const PROGRAM: [&str; 4] = ["src", "crates", "tools", "perl"];
/// Folders whose names are counted.
const NAMED: [&str; 5] = ["src", "crates", "tools", "fuzz", "tests"];
/// Endings of the languages in which the program is written.
const LANGUAGES: [&str; 6] = ["rs", "c", "h", "xs", "pm", "js"];

#[test]
fn the_numbers_of_the_ratchet_rise_only_by_hand() {
    let allowed = text(FILE);
    let mut lowered = String::new();
    let (mut grown, mut known) = (Vec::new(), BTreeSet::new());
    for line in allowed.lines() {
        let Some((number, what)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else {
            lowered += &format!("{line}\n");
            continue;
        };
        assert!(known.insert(what), "{FILE} has two numbers of {what}");
        let (most, now): (usize, usize) = (number.parse().expect("a number"), measured(what));
        if now > most {
            grown.push(format!("{what}: {now}, and {FILE} allows {most}"));
        }
        lowered += &format!("{} {what}\n", most.min(now));
    }
    assert!(grown.is_empty(), "make it smaller, or say in the commit why it has to grow: {grown:#?}");
    if std::env::var_os("CAMELEER_BLESS").is_some() {
        std::fs::write(root().join(FILE), lowered).expect("written");
    }
}

fn measured(what: &str) -> usize {
    if let Some(names) = what.strip_prefix("uses of the names ") {
        return uses(names);
    }
    match what.strip_prefix("lines of the longest file: .") {
        Some(language) => program(language).map(|text| text.lines().count()).max().expect("files"),
        None if what == "unsafe blocks" => {
            let block = pattern(r"\bunsafe \{");
            program("rs").map(|text| block.find_iter(&text).count()).sum()
        }
        None => {
            let folder = what.strip_prefix("lines below ").expect("a number that is known").trim_end_matches('/');
            let texts = LANGUAGES.iter().flat_map(|language| files(Path::new(folder), language));
            texts.map(|file| text(file).lines().count()).sum()
        }
    }
}

/// Uses of names in Rust code, without comments and strings.
fn uses(names: &str) -> usize {
    let name = pattern(&format!(r"\b(?:{})\b", names.replace(", ", "|")));
    let sources = NAMED.iter().flat_map(|folder| files(Path::new(folder), "rs"));
    sources.map(|file| name.find_iter(&bare(&text(file))).count()).sum()
}

fn program(language: &str) -> impl Iterator<Item = String> {
    PROGRAM.iter().flat_map(move |folder| files(Path::new(folder), language)).map(text)
}
