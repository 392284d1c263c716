//! Changed copies of `.htaccess` files. The files themselves belong to the documents and to the old server.

use compat::htaccess::FoundHtaccess;
use config::{At, Config, ConfigError};

use super::access;
use super::applications::ProgramLines;
use super::ledger::{Ledger, LineVerdict};
use super::macros::PlacedLine;
use super::messages;
use crate::naming::can_be_named;
use crate::write::{Copies, HTACCESS_PATCH, HtaccessCopy, LineEdit};

/// Maximum number of messages about one file.
const MAX_MESSAGES: usize = 20;
/// Maximum number of times that a copy is read again: each time may show errors that others had hidden.
const MAX_ROUNDS: usize = 5;

/// Adds a verdict for each line with an error. Returns the changed copy, if the lines can be changed.
pub fn mend(config: &Config, found: &FoundHtaccess<'_>, text: &str, ledger: &mut Ledger) -> Option<HtaccessCopy> {
    // The text of a file that is no UTF-8 has other bytes than the file.
    let is_exact = std::fs::read(found.file).is_ok_and(|bytes| bytes == text.as_bytes());
    let real = found.file.canonicalize().ok().filter(|real| is_exact && can_be_named(real));
    let mut copies = Copies::of_one(found.file, text, access::restricts);
    let judge = HtaccessLines { found, changes: real.is_some(), programs: ProgramLines::of(&copies) };
    let mut now = text.to_owned();
    for _ in 0..MAX_ROUNDS {
        let errors = config.htaccess_or_all_errors(found.folder, found.file, &now, found.allowed).err();
        let mut is_changed = false;
        for error in errors.iter().flatten().take(MAX_MESSAGES) {
            if let Some(verdict) = judge.verdict(error, &copies) {
                let changes = verdict.edit.is_some();
                is_changed |= ledger.adds(verdict) && changes;
            }
        }
        if !is_changed {
            break;
        }
        now = copies.edit_one(&ledger.edits());
    }
    let real = real?;
    // The changed file needs no word about its change.
    (now != text).then(|| HtaccessCopy { file: real, old: text.to_owned(), new: now.replace(&until_patched(), "") })
}

/// End of the sentence about a line that the patch changes.
fn until_patched() -> String {
    format!("; requests below are answered 500 until it is changed: {HTACCESS_PATCH} does it")
}

struct HtaccessLines<'a> {
    found: &'a FoundHtaccess<'a>,
    /// Whether lines can be changed.
    changes: bool,
    programs: ProgramLines,
}

impl HtaccessLines<'_> {
    fn verdict(&self, error: &ConfigError, copies: &Copies) -> Option<LineVerdict> {
        let line = copies.line_of_one(error.at.as_ref()?.line)?;
        let at = At { file: self.found.file.to_string_lossy().into(), line };
        let place = messages::place(&error.message, &at, copies);
        // The old server refused such a line, too.
        let was_refused = error.message.contains("is not allowed in .htaccess files");
        let edit = if was_refused || !self.changes { None } else { self.edit(&error.message, &place, copies) };
        let end = match &edit {
            Some(_) => until_patched(),
            None => "; requests below are answered 500 until it is changed".to_owned(),
        };
        let sentence = format!("{}{end}", super::ledger::without_help(&error.message));
        Some(LineVerdict::open(&at, sentence, edit))
    }

    /// The change of a line; `None` if only a person can decide.
    fn edit(&self, message: &str, place: &PlacedLine, copies: &Copies) -> Option<LineEdit> {
        let own = self.programs.of_error(message, place);
        let edit = own.unwrap_or_else(|| messages::of_error(message, place, copies)).edit?;
        (edit != LineEdit::Note).then_some(edit)
    }
}
