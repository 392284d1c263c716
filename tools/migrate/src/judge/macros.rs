//! The lines of macros. The parser reports what is wrong in them at their `Use` line.

use config::{At, Directive, LineReader, split_words};

use crate::write::{Copies, FileCopy};

/// A line, and the lower-case names of the sections around it: for a line of a macro, those within the macro.
#[derive(Clone)]
pub struct PlacedLine {
    pub directive: Directive,
    pub around: Vec<String>,
}

/// Whether the position is that of a `Use` line.
pub fn is_use(at: &At, copies: &Copies) -> bool {
    copies.find(&at.file).is_some_and(|copy| copy.outline.is_use(at.line))
}

/// The lines of all macros.
pub fn lines(copies: &Copies) -> Vec<PlacedLine> {
    copies.all.iter().filter(|copy| !copy.outline.macros.is_empty()).flat_map(of_file).collect()
}

fn of_file(copy: &FileCopy) -> Vec<PlacedLine> {
    let mut found = Vec::new();
    let mut around: Vec<String> = Vec::new();
    let mut end = 0;
    for line in LineReader::new(&copy.text) {
        let mut words = split_words(&line.text).unwrap_or_default().into_iter();
        let name = words.next().unwrap_or_default();
        if copy.outline.macros.binary_search(&line.number).is_ok() {
            end = copy.outline.end(line.number).unwrap_or_default();
            around.clear();
        } else if line.number >= end {
            continue;
        } else if name.starts_with("</") {
            around.pop();
        } else if let Some(section) = name.strip_prefix('<') {
            around.push(section.trim_end_matches('>').to_ascii_lowercase());
        } else {
            let at = At { file: copy.origin.to_string_lossy().into(), line: line.number };
            let directive = Directive { name, args: words.collect(), at, section: None };
            found.push(PlacedLine { directive, around: around.clone() });
        }
    }
    found
}
