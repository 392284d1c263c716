//! The sections of a `.htaccess` file around a line, and the lines that close its folder without `RedirectMatch`.

use config::{At, LineReader, LogicalLine};

use super::access;
use super::ledger::{LineVerdict, without_help};
use super::macros::PlacedLine;
use crate::write::{FileCopy, LineEdit};

/// Directives by which visitors may have access although a `Require` line refuses them.
const MAY_OPEN: [&str; 2] = ["satisfy", "authmerging"];

/// The lower-case names of the sections around a line, and whether they are not known for certain.
pub fn around(text: &str, line: u32) -> (Vec<String>, bool) {
    let mut open = OpenSections::default();
    LineReader::new(text).take_while(|it| it.number < line).for_each(|it| open.pass(&it));
    (open.around(), open.is_unclear)
}

/// The sections that are open at a line.
#[derive(Default)]
struct OpenSections {
    names: Vec<String>,
    /// Whether a line closes another section than the innermost one.
    is_unclear: bool,
}

impl OpenSections {
    fn pass(&mut self, line: &LogicalLine) {
        let Some(rest) = line.text.strip_prefix('<') else { return };
        let name = |rest: &str| rest.split([' ', '\t', '>']).next().unwrap_or_default().to_ascii_lowercase();
        match rest.strip_prefix('/') {
            Some(closed) => self.is_unclear |= self.names.pop().is_none_or(|open| open != name(closed)),
            None => self.names.push(name(rest)),
        }
    }

    /// The file's folder is the outermost place.
    fn around(&self) -> Vec<String> {
        std::iter::once("directory").chain(self.names.iter().map(String::as_str)).map(str::to_owned).collect()
    }
}

/// Refuses all visitors by `Require` lines, where `RedirectMatch` is not allowed: one that lets visitors in would do so
/// beside the new line. Empty if that would not close the folder.
pub fn refused_by_requirements(message: &str, place: &PlacedLine, copy: &FileCopy) -> Vec<LineVerdict> {
    let at = &place.directive.at;
    let first = LineEdit::Replace(access::instead_of("require", &[], &place.around).unwrap_or_default());
    let mut verdicts = vec![LineVerdict::open(at, without_help(message), Some(first))];
    let mut open = OpenSections::default();
    for line in LineReader::new(&copy.text) {
        let name = line.text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        if MAY_OPEN.contains(&name.as_str()) {
            return Vec::new();
        }
        if name == "require" && line.number != at.line {
            let instead = access::instead_of(&name, &[], &open.around()).unwrap_or_default();
            let sentence = format!("Require: line {} cannot stay, so nobody has access", at.line);
            let at = At { file: at.file.clone(), line: line.number };
            verdicts.push(LineVerdict::open(&at, sentence, Some(LineEdit::Replace(instead))));
        }
        open.pass(&line);
    }
    if open.is_unclear { Vec::new() } else { verdicts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_around_a_line_end_at_their_own_lines() {
        let text = "<Files a>\n</Files>\n<RequireAll>\n<requireNone>\nRequire x\n</RequireNone>\n</Files>\n";
        let found = |line| around(text, line);
        assert_eq!(found(2), (vec!["directory".to_owned(), "files".to_owned()], false));
        assert_eq!(found(5), (["directory", "requireall", "requirenone"].map(str::to_owned).to_vec(), false));
        assert_eq!(found(7), (["directory", "requireall"].map(str::to_owned).to_vec(), false));
        assert!(found(8).1);
    }
}
