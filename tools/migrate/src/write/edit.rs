//! Changes of a file by its lines.

use std::collections::BTreeMap;

use base::printable;
use config::LineReader;

use super::outline::Outline;

/// A change of the logical line that begins at a physical line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineEdit {
    /// The line stays, below a comment.
    Note,
    Comment,
    /// The section that begins here becomes a comment.
    CommentSection,
    /// The section's first and last line become comments; its contents stay.
    Unwrap,
    /// Other lines follow the line, which becomes a comment.
    Replace(Vec<String>),
}

/// A changed file.
pub struct Edited {
    pub text: String,
    /// The old line number of each new line; 0 for the lines at the beginning.
    pub origins: Vec<u32>,
    /// Number of old directives that are unchanged.
    pub unchanged: usize,
    /// Number of old directives.
    pub directives: usize,
}

/// Reason and change by line number.
pub type Edits<'a> = BTreeMap<u32, (&'a str, &'a LineEdit)>;

/// Applies the changes. `head` stands before everything else.
pub fn apply(text: &str, ends: &Outline, head: &[String], edits: &Edits<'_>) -> Edited {
    let lines: Vec<&str> = text.lines().collect();
    let plan = Plan::of(&lines, ends, edits);
    let mut out = Edited { text: String::new(), origins: Vec::new(), unchanged: 0, directives: 0 };
    head.iter().for_each(|line| out.push(line, 0));
    for (line, number) in lines.iter().zip(1..) {
        let (indent, words) = line.split_at(line.len() - line.trim_start().len());
        plan.before.get(&number).into_iter().for_each(|reason| out.push(&format!("{indent}{reason}"), number));
        match plan.is_out[number as usize] && !words.starts_with('#') {
            true => out.push(&format!("{indent}# {words}"), number),
            false => out.push(line, number),
        }
        plan.after.get(&number).into_iter().flatten().for_each(|new| out.push(&format!("{indent}{new}"), number));
    }
    for line in LineReader::new(text) {
        out.directives += 1;
        out.unchanged += usize::from(!plan.is_out[line.number as usize] && !plan.before.contains_key(&line.number));
    }
    out
}

impl Edited {
    fn push(&mut self, line: &str, origin: u32) {
        self.text.push_str(line);
        self.text.push('\n');
        self.origins.push(origin);
    }
}

/// Planned change of each physical line.
struct Plan {
    /// Indexed by line number.
    is_out: Vec<bool>,
    before: BTreeMap<u32, String>,
    after: BTreeMap<u32, Vec<String>>,
}

impl Plan {
    fn of(lines: &[&str], ends: &Outline, edits: &Edits<'_>) -> Plan {
        let mut plan = Plan { is_out: vec![false; lines.len() + 1], before: BTreeMap::new(), after: BTreeMap::new() };
        for (&number, (reason, edit)) in edits {
            if number == 0 || plan.is_out.get(number as usize) != Some(&false) {
                continue;
            }
            plan.before.insert(number, comment(reason));
            plan.change(number, edit, lines, ends);
        }
        plan
    }

    fn change(&mut self, number: u32, edit: &LineEdit, lines: &[&str], ends: &Outline) {
        let end = ends.end(number).unwrap_or(number);
        match edit {
            LineEdit::Note => {}
            LineEdit::Comment => self.comment(number, last_of(lines, number)),
            LineEdit::Replace(new) => {
                let last = last_of(lines, number);
                self.comment(number, last);
                self.after.insert(last, new.clone());
            }
            LineEdit::CommentSection => self.comment(number, last_of(lines, end)),
            LineEdit::Unwrap => {
                self.comment(number, last_of(lines, number));
                self.comment(end, end);
            }
        }
    }

    fn comment(&mut self, first: u32, last: u32) {
        self.is_out[first as usize..=last as usize].fill(true);
    }
}

/// The reason as a comment of one line, which no backslash continues.
fn comment(reason: &str) -> String {
    format!("# migrate: {}", printable::lines(reason).replace(['\n', '\t'], " ").trim_end_matches('\\'))
}

/// The last physical line of a logical line: a backslash continues it.
fn last_of(lines: &[&str], first: u32) -> u32 {
    let continues = |number: &u32| lines.get(*number as usize - 1).is_some_and(|line| line.ends_with('\\'));
    let last = (first..).find(|number| !continues(number)).unwrap_or(first);
    last.min(lines.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# all\n<IfModule a>\n  Foo \\\n   1\n  <IfModule b>\n  </IfModule>\n</IfModule>\nBar\n";

    fn edited(number: u32, edit: &LineEdit) -> Edited {
        apply(TEXT, &Outline::of(TEXT, |_| false), &[], &BTreeMap::from([(number, ("why", edit))]))
    }

    #[test]
    fn a_continued_line_becomes_a_comment_as_a_whole() {
        let edited = edited(3, &LineEdit::Replace(vec!["New".to_owned()]));
        assert!(
            edited.text.contains("<IfModule a>\n  # migrate: why\n  # Foo \\\n   # 1\n   New\n  <IfModule b>"),
            "{}",
            edited.text
        );
        assert_eq!(edited.origins, [1, 2, 3, 3, 4, 4, 5, 6, 7, 8]);
        assert_eq!((edited.unchanged, edited.directives), (5, 6));
    }

    #[test]
    fn a_section_ends_at_its_own_end() {
        assert!(edited(2, &LineEdit::CommentSection).text.ends_with("  # </IfModule>\n# </IfModule>\nBar\n"));
        let unwrapped = edited(2, &LineEdit::Unwrap).text;
        assert!(
            unwrapped.contains("# <IfModule a>\n  Foo \\\n   1\n  <IfModule b>\n  </IfModule>\n# </IfModule>\n"),
            "{unwrapped}"
        );
    }
}
