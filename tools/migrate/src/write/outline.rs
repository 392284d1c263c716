//! The sections of a text, by their first and last lines.

use std::collections::{HashMap, HashSet};

use config::LineReader;

/// Sections and macros of a file.
#[derive(Default)]
pub struct Outline {
    /// Last line by first line.
    ends: HashMap<u32, u32>,
    /// Lines of the form `Use macro`.
    uses: HashSet<u32>,
    /// First lines of `<Macro>` sections.
    pub macros: Vec<u32>,
    /// Lines whose directive or section the caller asked for.
    marked: Vec<u32>,
}

impl Outline {
    /// Finds all sections in one pass: a file may have very many. `is_marked` is asked for the name in each line.
    pub fn of(text: &str, is_marked: fn(&str) -> bool) -> Outline {
        let mut found = Outline::default();
        let mut open: HashMap<String, Vec<u32>> = HashMap::new();
        for line in LineReader::new(text) {
            if line.text.split_whitespace().next().is_some_and(is_marked) {
                found.marked.push(line.number);
            }
            if let Some(name) = name_of(&line.text, "</") {
                if let Some(first) = open.get_mut(&name).and_then(Vec::pop) {
                    found.ends.insert(first, line.number);
                }
            } else if let Some(name) = name_of(&line.text, "<") {
                found.macros.extend((name == "macro").then_some(line.number));
                open.entry(name).or_default().push(line.number);
            } else if line.text.split_whitespace().next().is_some_and(|name| name.eq_ignore_ascii_case("Use")) {
                found.uses.insert(line.number);
            }
        }
        found
    }

    /// The last line of the section that begins at a line; `None` if nothing closes it.
    pub fn end(&self, first: u32) -> Option<u32> {
        self.ends.get(&first).copied()
    }

    /// Whether the line is a use of a macro, whose messages are about lines of the macro.
    pub fn is_use(&self, line: u32) -> bool {
        self.uses.contains(&line)
    }

    /// Whether a marked line is inside the section that begins at a line.
    pub fn has_mark_inside(&self, first: u32) -> bool {
        let next = self.marked.partition_point(|line| *line <= first);
        self.marked.get(next).is_some_and(|line| Some(*line) < self.end(first))
    }
}

/// The lower-case name of a section's line that begins with `mark`.
fn name_of(line: &str, mark: &str) -> Option<String> {
    let name = line.strip_prefix(mark)?.split([' ', '\t', '>']).next()?.to_ascii_lowercase();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_at_its_own_end() {
        let text = "<A>\n<a>\n<B>\nFoo 1\n</B>\n</A>\n</a>\n<A>\n";
        let ends = Outline::of(text, |name| name == "Foo");
        assert_eq!([1, 2, 3, 8].map(|first| ends.end(first)), [Some(7), Some(6), Some(5), None]);
        assert_eq!([1, 3, 5, 8].map(|first| ends.has_mark_inside(first)), [true, true, false, false]);
    }
}
