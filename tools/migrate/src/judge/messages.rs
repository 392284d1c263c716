//! Errors and warnings about the copies, as `cameleer check` reports them.

use std::collections::HashSet;

use config::{At, ConfigError, Directive};
use master::configuration::Survey;

use super::access;
use super::applications::ProgramLines;
use super::ledger::{Ledger, LineVerdict};
use super::macros::{self, PlacedLine};
use super::positions::Positions;
use super::rewrite::Rules;
use crate::write::{Copies, LineEdit};

/// End of a warning about a line without effect.
const IGNORED: &str = " (this line is ignored)";
/// Part of the message about an unknown name.
const UNKNOWN: &str = "is not a directive";
/// Directives whose absence would weaken the server: the check fails until they are mended.
const ESSENTIAL: &[&str] = &["user", "group", "listen", "serverroot", "documentroot"];

/// Judges the lines that have a message. Returns whether a copy has to be written again.
pub fn messages(survey: &Survey, copies: &Copies, ledger: &mut Ledger) -> bool {
    let places = Places { positions: Positions::of(&survey.tree), macros: macros::lines(copies), copies };
    let (rules, programs) = (Rules::of(copies), ProgramLines::of(copies));
    let mut changes = false;
    let mut add = |verdict: LineVerdict, ledger: &mut Ledger| {
        let edits = verdict.edit.as_ref().is_some_and(|edit| *edit != LineEdit::Note);
        changes |= ledger.adds(verdict) && edits;
    };
    let of_perl = names_of_perl(survey);
    for error in survey.mistakes.iter().filter(|error| !of_perl.contains(name_in(&error.message))) {
        for place in places.of(error) {
            let of_rules = rules.of_error(&error.message, &place.directive, ledger);
            let own = of_rules.or_else(|| Some(vec![programs.of_error(&error.message, &place)?]));
            let verdicts = own.unwrap_or_else(|| vec![of_error(&error.message, &place, copies)]);
            verdicts.into_iter().for_each(|verdict| add(verdict, ledger));
        }
    }
    for warning in &survey.warnings {
        for place in places.of(warning) {
            if !ledger.knows(&place.directive.at) {
                add(of_warning(&warning.message, &place.directive.at), ledger);
            }
        }
    }
    changes
}

/// Unknown names that modules of the site seem to define: only the check, which runs the Perl, can judge them.
fn names_of_perl(survey: &Survey) -> HashSet<String> {
    let is_perl = |directive: &Directive| directive.name.to_ascii_lowercase().starts_with("perl");
    let may_define = survey.tree.iter().any(|one| is_perl(one) || one.section.iter().flatten().any(is_perl));
    if !may_define || !survey.mistakes.iter().any(|error| error.message.contains(UNKNOWN)) {
        return HashSet::new();
    }
    let findings = compat::survey(&survey.tree, &survey.server_root, &survey.mistakes, &survey.warnings);
    let of_perl = findings.into_iter().filter(|finding| finding.note.starts_with("is unknown; a module of the site"));
    of_perl.map(|finding| finding.what).collect()
}

/// What is needed to find the lines of a message.
struct Places<'a> {
    positions: Positions<'a>,
    macros: Vec<PlacedLine>,
    copies: &'a Copies,
}

impl Places<'_> {
    /// The lines of the old files that a message is about: one, or those of macros.
    fn of(&self, error: &ConfigError) -> Vec<PlacedLine> {
        let old = error.at.as_ref().and_then(|new| Some((new, self.copies.origin(new)?)));
        let Some((new, at)) = old else { return Vec::new() };
        let name = name_in(&error.message);
        let is_of_macro = |line: &&PlacedLine| line.directive.name.eq_ignore_ascii_case(name);
        let of_macro: Vec<PlacedLine> = match macros::is_use(&at, self.copies) {
            true => self.macros.iter().filter(is_of_macro).cloned().collect(),
            false => Vec::new(),
        };
        if !of_macro.is_empty() {
            return of_macro;
        }
        let (args, around) =
            self.positions.find(new).map_or_else(Default::default, |(args, around)| (args.to_vec(), around));
        let directive = Directive { name: name.to_owned(), args, at, section: None };
        vec![PlacedLine { directive, around }]
    }
}

/// The directive that a message begins with.
fn name_in(message: &str) -> &str {
    message.split([' ', ':']).next().unwrap_or_default()
}

fn of_error(message: &str, place: &PlacedLine, copies: &Copies) -> LineVerdict {
    let (name, at) = (name_in(message), &place.directive.at);
    if is_essential(name, message) {
        return LineVerdict::open(at, message, Some(LineEdit::Note));
    }
    if let Some(section) = name.strip_prefix('<') {
        return of_section(section.trim_end_matches('>'), message, at, copies);
    }
    let edit = match access::instead_of(name, &place.directive.args, &place.around) {
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
    let has_rules = copies.find(&at.file).is_some_and(|copy| copy.outline.has_mark_inside(at.line));
    if access::restricts(section) || has_rules {
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
    message.replace(", or remove the line if everybody may have access", "").replace(
        "is not a directive: `cameleer check --directives` lists all directives",
        "is not a directive of httpd or Cameleer: find out which module defined it",
    )
}
