//! Errors and warnings about the copies, as `cameleer check` reports them.

use config::{At, ConfigError};
use master::configuration::Survey;

use super::access;
use super::ledger::{Ledger, LineVerdict};
use crate::write::{Copies, LineEdit, names_inside};

/// End of a warning about a line without effect.
const IGNORED: &str = " (this line is ignored)";
/// Directives whose absence would weaken the server: the check fails until they are mended.
const ESSENTIAL: &[&str] = &["user", "group", "listen", "serverroot", "documentroot"];

/// Judges the lines that have a message. Returns whether a copy has to be written again.
pub fn messages(survey: &Survey, copies: &Copies, ledger: &mut Ledger) -> bool {
    let mut changes = false;
    for error in &survey.mistakes {
        let Some((new, at)) = places(error, copies) else { continue };
        let verdict = of_error(&error.message, &at, &new, survey, copies);
        let edits = verdict.edit.as_ref().is_some_and(|edit| *edit != LineEdit::Note);
        changes |= ledger.adds(verdict) && edits;
    }
    for warning in &survey.warnings {
        let Some((_, at)) = places(warning, copies).filter(|(_, at)| !ledger.knows(at)) else { continue };
        let verdict = of_warning(&warning.message, &at);
        let edits = verdict.edit != Some(LineEdit::Note);
        changes |= ledger.adds(verdict) && edits;
    }
    changes
}

/// The positions of a message in the new and in the old files.
fn places(error: &ConfigError, copies: &Copies) -> Option<(At, At)> {
    let new = error.at.clone()?;
    let old = copies.origin(&new)?;
    Some((new, old))
}

fn of_error(message: &str, at: &At, new: &At, survey: &Survey, copies: &Copies) -> LineVerdict {
    let name = message.split([' ', ':']).next().unwrap_or_default();
    if is_essential(name, message) {
        return LineVerdict::open(at, message, Some(LineEdit::Note));
    }
    let (around, args) = match access::around(&survey.tree, new) {
        Some((around, directive)) => (around, directive.args.clone()),
        None => (Vec::new(), Vec::new()),
    };
    if let Some(section) = name.strip_prefix('<') {
        return of_section(section.trim_end_matches('>'), message, at, copies);
    }
    let edit = match access::instead_of(name, &args, &around) {
        Some(instead) => LineEdit::Replace(instead),
        None => LineEdit::Comment,
    };
    LineVerdict::open(at, without_help(message), Some(edit))
}

/// A line that must not vanish: an account, an address, a certificate, or a file that is missing on this machine.
fn is_essential(name: &str, message: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ESSENTIAL.contains(&lower.as_str())
        || lower.starts_with("sslcertificate")
        || (message.contains("cannot read") && lower != "typesconfig")
}

/// A section that restricts visitors must not vanish either.
fn of_section(section: &str, message: &str, at: &At, copies: &Copies) -> LineVerdict {
    let inside = copies.find(&at.file).map(|copy| names_inside(&copy.text, at.line)).unwrap_or_default();
    if access::restricts(section) || inside.iter().any(|name| access::restricts(name)) {
        let sentence = format!("{}; it stays, because it restricts access", without_help(message));
        return LineVerdict::open(at, sentence, Some(LineEdit::Note));
    }
    LineVerdict::open(at, without_help(message), Some(LineEdit::CommentSection))
}

fn of_warning(message: &str, at: &At) -> LineVerdict {
    match message.strip_suffix(IGNORED) {
        Some(message) => LineVerdict::changed(at, message.trim_end_matches("; remove the line"), LineEdit::Comment),
        None if message.contains("answered 500") || message.starts_with("SSLCertificate") => {
            LineVerdict::open(at, message, Some(LineEdit::Note))
        }
        None => LineVerdict::changed(at, message, LineEdit::Note),
    }
}

/// The message of an unknown name without the hint of the command line.
pub fn without_help(message: &str) -> String {
    message.replace(
        "is not a directive: `cameleer check --directives` lists all directives",
        "is not a directive of httpd or Cameleer: find out which module defined it",
    )
}
