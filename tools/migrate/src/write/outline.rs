//! The sections of a text, by their first and last lines.

use std::collections::HashMap;

use config::LineReader;

/// Directives that read other lines at their place.
const READS_MORE: [&str; 5] = ["include", "includeoptional", "use", "resourceconfig", "accessconfig"];

/// Sections and macros of a file.
#[derive(Default)]
pub struct Outline {
    /// Number of a section's last line, by that of its first.
    ends: HashMap<u32, u32>,
    /// First word by line.
    first_words: HashMap<u32, String>,
    /// Lower-case name of the macro by line of the form `Use macro`.
    uses: HashMap<u32, String>,
    /// First lines of `<Macro>` sections.
    pub macros: Vec<u32>,
    /// Lines whose directive or section the caller asked for, and those that read other lines.
    marked: Vec<u32>,
}

impl Outline {
    /// Finds all sections in one pass: a file may have very many. `is_marked` is asked for the name in each line.
    pub fn of(text: &str, is_marked: fn(&str) -> bool) -> Outline {
        let mut found = Outline::default();
        let mut open: HashMap<String, Vec<u32>> = HashMap::new();
        for line in LineReader::new(text) {
            let mut words = line.text.split_whitespace();
            let first = words.next().unwrap_or_default();
            if is_marked(first) || reads_more(first) {
                found.marked.push(line.number);
            }
            found.first_words.insert(line.number, first.to_owned());
            if let Some(name) = name_of(&line.text, "</") {
                if let Some(first) = open.get_mut(&name).and_then(Vec::pop) {
                    found.ends.insert(first, line.number);
                }
            } else if let Some(name) = name_of(&line.text, "<") {
                found.macros.extend((name == "macro").then_some(line.number));
                open.entry(name).or_default().push(line.number);
            } else if first.eq_ignore_ascii_case("Use") {
                let used = words.next().unwrap_or_default().trim_matches(['"', '\'']);
                found.uses.insert(line.number, used.to_ascii_lowercase());
            }
        }
        found
    }

    /// The last line of the section that begins at a line; `None` if nothing closes it.
    pub fn end(&self, first: u32) -> Option<u32> {
        self.ends.get(&first).copied()
    }

    /// The first word of a line; `None` for a comment, or the second half of a continued line.
    pub fn first_word(&self, line: u32) -> Option<&str> {
        self.first_words.get(&line).map(String::as_str)
    }

    /// Whether the line reads a file or a macro at its place.
    pub fn reads_more(&self, line: u32) -> bool {
        self.first_word(line).is_some_and(reads_more)
    }

    /// The lower-case name of the macro that the line uses. Messages at such a line are about lines of the macro.
    pub fn used(&self, line: u32) -> Option<&str> {
        self.uses.get(&line).map(String::as_str)
    }

    /// Whether a marked line is inside the section that begins at a line.
    pub fn has_mark_inside(&self, first: u32) -> bool {
        let next = self.marked.partition_point(|line| *line <= first);
        self.marked.get(next).is_some_and(|line| Some(*line) < self.end(first))
    }
}

fn reads_more(name: &str) -> bool {
    READS_MORE.iter().any(|known| name.eq_ignore_ascii_case(known))
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

    #[test]
    fn a_line_that_reads_others_counts_as_marked() {
        let outline = Outline::of("<A>\nInclude x\n</A>\n<A>\nUse \"M\" 1\n</A>\n<A>\nFoo\n</A>\n", |_| false);
        assert_eq!([1, 4, 7].map(|first| outline.has_mark_inside(first)), [true, true, false]);
        assert_eq!([2, 5].map(|line| outline.used(line)), [None, Some("m")]);
        assert_eq!([2, 3, 10].map(|line| outline.first_word(line)), [Some("Include"), Some("</A>"), None]);
    }
}
