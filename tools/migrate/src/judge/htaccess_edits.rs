//! Changed copies of `.htaccess` files. The files themselves belong to the documents and to the old server.

use std::path::PathBuf;

use compat::htaccess::FoundHtaccess;
use config::{At, Config, ConfigError};

use super::access;
use super::applications::ProgramLines;
use super::htaccess_sections::refused_by_requirements;
use super::ledger::{Ledger, LineVerdict, without_help};
use super::macros::PlacedLine;
use super::messages;
use super::rewrite::RewriteLines;
use crate::naming::can_be_named;
use crate::write::{Copies, LineEdit};

/// Maximum number of messages about one file.
const MAX_MESSAGES: usize = 20;
/// Maximum number of times that a copy is read again: each time may show errors that others had hidden.
const MAX_ROUNDS: usize = 5;

/// Directives that may keep visitors out, by the beginning of their names: a condition of `Deny from env=…`, a
/// `RedirectMatch 403`, an `Options -Indexes`. Nothing stands for such a line, so that a person has to mend it.
const MAY_RESTRICT: [&str; 4] = ["redirect", "setenvif", "browsermatch", "options"];

/// A `.htaccess` file as it is read for one place.
pub struct ReadHtaccess {
    pub file: PathBuf,
    /// The file without links.
    pub real: PathBuf,
    /// A verdict without a change for each line with an error.
    pub errors: Vec<LineVerdict>,
    /// Changes of lines; one error may need several.
    pub edits: Vec<LineVerdict>,
    pub result: ReadResult,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// The file has no errors.
    Valid,
    /// Only a person can mend the file.
    Open,
    /// The changed text has no errors.
    Mended { old: String, new: String },
}

/// Reads a file, and changes its lines with errors in a copy.
pub fn mend(config: &Config, found: &FoundHtaccess<'_>, text: &str) -> ReadHtaccess {
    // The text of a file that is no UTF-8 has other bytes than the file.
    let is_exact = std::fs::read(found.file).is_ok_and(|bytes| bytes == text.as_bytes());
    let real = found.file.canonicalize().unwrap_or_else(|_| found.file.to_owned());
    let mut copies = Copies::of_one(found.file, text, access::restricts);
    let judge = HtaccessLines {
        found,
        changes: is_exact && can_be_named(&real),
        programs: ProgramLines::of(&copies),
        rules: RewriteLines::of(&copies),
    };
    let errors_of = |text: &str| {
        let read = config.htaccess_or_all_errors(found.folder, found.file, text, found.allowed);
        read.err().unwrap_or_default()
    };
    let (mut errors, mut ledger, mut now) = (Ledger::default(), Ledger::default(), text.to_owned());
    let mut left = errors_of(&now);
    for _ in 0..MAX_ROUNDS {
        let mut is_changed = false;
        for error in left.iter().take(MAX_MESSAGES) {
            let Some(place) = judge.place(error, &copies) else { continue };
            // A message about a line that has been changed is not about the file.
            if !ledger.knows(&place.directive.at) {
                errors.add(LineVerdict::open(&place.directive.at, without_help(&error.message), None));
            }
            let edits = judge.edits(&error.message, &place, &copies, &ledger);
            edits.into_iter().for_each(|edit| is_changed |= ledger.adds(edit));
        }
        if !is_changed {
            break;
        }
        now = copies.edit_one(&ledger.edits());
        left = errors_of(&now);
    }
    let result = match (left.is_empty(), now == text) {
        (true, true) => ReadResult::Valid,
        (true, false) => ReadResult::Mended { old: text.to_owned(), new: now },
        (false, _) => ReadResult::Open,
    };
    ReadHtaccess { file: found.file.to_owned(), real, errors: errors.verdicts, edits: ledger.verdicts, result }
}

struct HtaccessLines<'a> {
    found: &'a FoundHtaccess<'a>,
    /// Whether lines can be changed.
    changes: bool,
    programs: ProgramLines,
    rules: RewriteLines,
}

impl HtaccessLines<'_> {
    /// The line of the file that an error is about.
    fn place(&self, error: &ConfigError, copies: &Copies) -> Option<PlacedLine> {
        let line = copies.line_of_one(error.at.as_ref()?.line)?;
        let at = At { file: self.found.file.to_string_lossy().into(), line };
        Some(messages::place(&error.message, &at, copies))
    }

    /// The changes of lines because of an error; none if only a person can decide.
    fn edits(&self, message: &str, place: &PlacedLine, copies: &Copies, ledger: &Ledger) -> Vec<LineVerdict> {
        let name = place.directive.name.to_ascii_lowercase();
        let may_restrict = MAY_RESTRICT.iter().any(|beginning| name.starts_with(beginning));
        // The old server refused a line that is not allowed, too.
        if !self.changes || may_restrict || message.contains("is not allowed in .htaccess files") {
            return Vec::new();
        }
        let of_rules = self.rules.of_error(message, &place.directive, ledger);
        let own = of_rules.or_else(|| Some(vec![self.programs.of_error(message, place)?]));
        let verdicts = own.unwrap_or_else(|| vec![messages::of_error(message, place, copies)]);
        if verdicts.iter().any(|verdict| matches!(verdict.edit, None | Some(LineEdit::Note))) {
            return Vec::new();
        }
        let closes = |verdict: &LineVerdict| verdict.edit == Some(LineEdit::Replace(vec![access::CLOSED.to_owned()]));
        match verdicts.iter().any(closes) && !self.found.allowed.lets_handlers_be_set() {
            true => refused_by_requirements(message, place, &copies.all[0]),
            false => verdicts,
        }
    }
}
