//! Errors and warnings about the copies, as `cameleer check` reports them.

use std::collections::HashSet;

use config::{At, ConfigError, Directive, LineReader, split_words};
use master::configuration::Survey;

use super::access;
use super::applications::ProgramLines;
use super::htaccess_sections;
use super::ledger::{Ledger, LineVerdict, without_help};
use super::macros::{self, MacroLines, PlacedLine};
use super::positions::Positions;
use super::rewrite::RewriteLines;
use crate::write::{Copies, LineEdit};

/// End of a warning about a line without effect.
const IGNORED: &str = " (this line is ignored)";
/// Part of the message about an unknown name.
const UNKNOWN: &str = "is not a directive";
/// Directives whose absence would weaken the server: the check fails until they are mended.
const ESSENTIAL: &[&str] = &["user", "group", "listen", "serverroot", "documentroot"];
/// Marks of a section's first and last line.
const OF_SECTION: [char; 3] = ['<', '/', '>'];
/// Sections of places and hosts, by the beginning of their names: without them, lines of others would apply there.
const OF_PLACES: &[&str] = &["virtualhost", "directory", "location", "files", "limit", "proxy", "if", "else"];

/// Judges the lines that have a message. Returns whether a copy has to be written again.
pub fn messages(survey: &Survey, copies: &Copies, ledger: &mut Ledger) -> bool {
    let macros = MacroLines::of(copies, &survey.tree);
    let places = Places { positions: Positions::of(&survey.tree), macros, copies };
    let (rules, programs) = (RewriteLines::of(copies), ProgramLines::of(copies));
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
                add(of_warning(&warning.message, &place.directive.at, copies), ledger);
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

/// Indexes that find the lines of a message.
struct Places<'a> {
    positions: Positions<'a>,
    macros: MacroLines,
    copies: &'a Copies,
}

impl Places<'_> {
    /// The lines of the old files that a message is about: one, or those of macros.
    fn of(&self, error: &ConfigError) -> Vec<PlacedLine> {
        let old = error.at.as_ref().and_then(|new| Some((new, self.copies.origin(new)?)));
        let Some((new, at)) = old else { return Vec::new() };
        let name = name_in(&error.message);
        let of_macro = macros::used(&at, self.copies).map(|used| self.macros.lines_of(used, name, &error.message));
        if let Some(lines) = of_macro.filter(|lines| !lines.is_empty()) {
            return lines;
        }
        let (args, around) = self.positions.find(new).unwrap_or_default();
        let (args, (around, is_disputed)) = (args.to_vec(), access::united(&around));
        let directive = Directive { name: name.to_owned(), args, at, section: None };
        vec![PlacedLine { directive, around, is_disputed }]
    }
}

/// The directive that a message begins with.
fn name_in(message: &str) -> &str {
    message.split([' ', ':']).next().unwrap_or_default()
}

/// The line that a message is about, in a `.htaccess` file.
pub fn place(message: &str, at: &At, copies: &Copies) -> PlacedLine {
    let line = copies.find(&at.file).and_then(|copy| {
        let mut lines = LineReader::new(&copy.text);
        lines.find(|line| line.number == at.line)
    });
    let args = line.and_then(|line| split_words(&line.text).ok()).unwrap_or_default().into_iter().skip(1).collect();
    let directive = Directive { name: name_in(message).to_owned(), args, at: at.clone(), section: None };
    let text = copies.find(&at.file).map_or("", |copy| &copy.text);
    let (around, is_disputed) = htaccess_sections::around(text, at.line);
    PlacedLine { directive, around, is_disputed }
}

/// The verdict about a line with an error.
pub fn of_error(message: &str, place: &PlacedLine, copies: &Copies) -> LineVerdict {
    let (name, at) = (name_in(message), &place.directive.at);
    let is_unclear = place.is_disputed && access::restricts(name);
    if is_essential(name, message) || is_unclear || !is_about_line(message, at, copies) {
        return LineVerdict::open(at, message, Some(LineEdit::Note));
    }
    if name.starts_with('<') || begins_section(at, copies) {
        return of_section(name.trim_matches(OF_SECTION), message, at, copies);
    }
    let edit = match access::instead_of(name, &place.directive.args, &place.around) {
        Some(instead) => LineEdit::Replace(instead),
        None => LineEdit::Comment,
    };
    LineVerdict::open(at, without_help(message), Some(edit))
}

/// Whether a message is about the line at its position alone, so that nothing else vanishes with the line: a line with
/// words that cannot be read may be any restriction, and a line that reads a file or a macro may read one.
fn is_about_line(message: &str, at: &At, copies: &Copies) -> bool {
    let Some(outline) = copies.find(&at.file).map(|copy| &copy.outline) else { return false };
    let name = name_in(message).trim_matches(OF_SECTION);
    let is_named = |first: &str| first.trim_matches(OF_SECTION).eq_ignore_ascii_case(name);
    outline.first_word(at.line).is_some_and(is_named)
        && (!outline.reads_more(at.line) || message.contains("includes itself"))
}

fn begins_section(at: &At, copies: &Copies) -> bool {
    let first = copies.find(&at.file).and_then(|copy| copy.outline.first_word(at.line));
    first.is_some_and(|first| first.starts_with('<'))
}

/// A line that must not vanish: an account, an address, a certificate, or a file that is missing on this machine.
fn is_essential(name: &str, message: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ESSENTIAL.contains(&lower.as_str())
        || lower.starts_with("sslcertificate")
        || (message.contains("cannot read") && lower != "typesconfig")
}

/// A section that restricts visitors, or whose end is unknown, must not vanish either; nor one of a place.
fn of_section(section: &str, message: &str, at: &At, copies: &Copies) -> LineVerdict {
    let may_vanish = copies
        .find(&at.file)
        .is_some_and(|copy| copy.outline.end(at.line).is_some() && !copy.outline.has_mark_inside(at.line));
    let lower = section.to_ascii_lowercase();
    if !may_vanish || access::restricts(section) || OF_PLACES.iter().any(|name| lower.starts_with(name)) {
        let sentence = format!("{}; it stays, because it may restrict access", without_help(message));
        return LineVerdict::open(at, sentence, Some(LineEdit::Note));
    }
    LineVerdict::open(at, without_help(message), Some(LineEdit::CommentSection))
}

fn of_warning(message: &str, at: &At, copies: &Copies) -> LineVerdict {
    match message.strip_suffix(IGNORED) {
        Some(message) if is_about_line(message, at, copies) && !begins_section(at, copies) => {
            LineVerdict::changed(at, message.trim_end_matches("; remove the line"), LineEdit::Comment)
        }
        None if message.contains("answered 500") || message.starts_with("SSLCertificate") => {
            LineVerdict::open(at, message, Some(LineEdit::Note))
        }
        _ => LineVerdict::changed(at, message, LineEdit::Note),
    }
}
