//! The verdicts about the lines of the old configuration.

use std::collections::{BTreeMap, HashMap};

use config::At;

use crate::write::LineEdit;

/// The part of the report that has a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportPart {
    /// Done, nothing is left to do.
    Changed,
    /// The administrator has to decide.
    Open,
}

/// A sentence about a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineVerdict {
    /// Position in the old files; `None` for the whole site.
    pub at: Option<At>,
    pub part: ReportPart,
    /// Sentence that begins with the directive's name.
    pub sentence: String,
    /// Change of the line, if any.
    pub edit: Option<LineEdit>,
}

impl LineVerdict {
    /// A change that needs no decision.
    pub fn changed(at: &At, sentence: impl Into<String>, edit: LineEdit) -> LineVerdict {
        LineVerdict { at: Some(at.clone()), part: ReportPart::Changed, sentence: sentence.into(), edit: Some(edit) }
    }

    /// A decision that is left.
    pub fn open(at: &At, sentence: impl Into<String>, edit: Option<LineEdit>) -> LineVerdict {
        LineVerdict { at: Some(at.clone()), part: ReportPart::Open, sentence: sentence.into(), edit }
    }

    /// A decision about the whole site.
    pub fn of_site(sentence: impl Into<String>) -> LineVerdict {
        LineVerdict { at: None, part: ReportPart::Open, sentence: sentence.into(), edit: None }
    }
}

/// All verdicts, at most one change for each line.
#[derive(Default)]
pub struct Ledger {
    pub verdicts: Vec<LineVerdict>,
    /// Indices of the verdicts about a position.
    by_place: HashMap<Option<At>, Vec<usize>>,
}

impl Ledger {
    /// Adds a verdict unless the line has one that changes it, or the same sentence.
    pub fn add(&mut self, verdict: LineVerdict) {
        self.adds(verdict);
    }

    /// As [`Ledger::add`]; returns whether the verdict was added.
    pub fn adds(&mut self, verdict: LineVerdict) -> bool {
        let about = self.by_place.entry(verdict.at.clone()).or_default();
        let settles =
            |known: &LineVerdict| known.sentence == verdict.sentence || (known.at.is_some() && known.edit.is_some());
        if about.iter().any(|index| settles(&self.verdicts[*index])) {
            return false;
        }
        about.push(self.verdicts.len());
        self.verdicts.push(verdict);
        true
    }

    /// Whether a sentence about the line is there already.
    pub fn knows(&self, at: &At) -> bool {
        self.by_place.contains_key(&Some(at.clone()))
    }

    /// Whether the line has a comment above it, and no change.
    pub fn has_note(&self, at: &At) -> bool {
        let about = self.by_place.get(&Some(at.clone()));
        about.into_iter().flatten().any(|index| self.verdicts[*index].edit == Some(LineEdit::Note))
    }

    /// The changes by file and line.
    pub fn edits(&self) -> HashMap<String, BTreeMap<u32, (&str, &LineEdit)>> {
        let mut edits: HashMap<String, BTreeMap<u32, (&str, &LineEdit)>> = HashMap::new();
        for verdict in &self.verdicts {
            if let (Some(at), Some(edit)) = (&verdict.at, &verdict.edit) {
                edits.entry(at.file.to_string()).or_default().insert(at.line, (verdict.sentence.as_str(), edit));
            }
        }
        edits
    }

    /// The verdicts of a part, in the order of `files` and of lines; verdicts about other files and the site follow.
    pub fn part(&self, part: ReportPart, files: &[String]) -> Vec<&LineVerdict> {
        let mut found: Vec<&LineVerdict> = self.verdicts.iter().filter(|verdict| verdict.part == part).collect();
        found.sort_by_cached_key(|verdict| {
            let at = verdict.at.as_ref();
            let file = at.map_or("", |at| &*at.file);
            let place = files.iter().position(|known| known == file).unwrap_or(files.len() + usize::from(at.is_none()));
            (place, file.to_owned(), at.map_or(0, |at| at.line))
        });
        found
    }
}

/// The message of an unknown name without the hint of the command line.
pub fn without_help(message: &str) -> String {
    message.replace(
        "is not a directive: `cameleer check --directives` lists all directives",
        "is not a directive of httpd or Cameleer; find out which module defined it",
    )
}
