//! Modules in C, and the directives that they define.

use config::foreign_modules::{self, Counterpart, Need};
use config::{Directive, is_embodied, reference, table};

use super::access;
use super::applications;
use super::ledger::{LineVerdict, ReportPart};
use crate::write::LineEdit;

/// Directives that set variables of a request: a rule that denies by a variable would open its place without them.
const OF_VARIABLES: &[&str] = &["GeoIPEnable", "MaxMindDBEnable"];

/// `LoadModule` of a module that Cameleer does not have. `decided` gets the names of modules with a decision.
pub fn loaded(directive: &Directive, decided: &mut Vec<&'static str>) -> Option<LineVerdict> {
    let identifier = directive.args.first().filter(|identifier| !is_embodied(identifier))?;
    if let Some(file) = other_name(directive) {
        let sentence = format!("LoadModule {identifier}: {file} is built in");
        return Some(LineVerdict::changed(&directive.at, sentence, LineEdit::Comment));
    }
    if let Some(row) = foreign_modules::of_module(identifier) {
        return Some(of_row(row, directive, &format!("LoadModule {identifier}"), decided));
    }
    let what = format!("LoadModule {identifier}: is not part of Cameleer");
    Some(match foreign_modules::is_of_httpd(identifier) {
        true => LineVerdict::changed(
            &directive.at,
            format!("{what}; its directives, if any, have their own entries"),
            LineEdit::Comment,
        ),
        false => LineVerdict::open(
            &directive.at,
            format!("{what}; find out what it did for the site"),
            Some(LineEdit::Comment),
        ),
    })
}

/// The source file of a module that has another identifier than in httpd 1.3: `config_log_module
/// libexec/mod_log_config.so`.
fn other_name(directive: &Directive) -> Option<String> {
    let name = directive.args.get(1)?.rsplit('/').next()?.strip_suffix(".so")?;
    is_embodied(&format!("{name}.c")).then(|| name.to_owned())
}

/// A directive of a module that Cameleer does not have.
pub fn own_directive(directive: &Directive, around: &[String], decided: &mut Vec<&'static str>) -> Option<LineVerdict> {
    let is_harmless = reference::foreign(directive).is_some_and(|(is_ignored, _)| is_ignored);
    if is_harmless || directive.section.is_some() || table::is_known(&directive.name) {
        return None;
    }
    let row = foreign_modules::of_directive(&directive.name).filter(|row| row.need != Need::Nothing)?;
    let mut verdict = decision(row, directive, &directive.name, decided);
    if is_off(directive) {
        return Some(verdict);
    }
    if let Some(instead) = access::instead_of(&directive.name, &directive.args, around) {
        verdict.edit = Some(LineEdit::Replace(instead));
    } else if let Some(edit) = applications::edit(&directive.name, &directive.args, around) {
        verdict.sentence.push_str(applications::outcome(&edit));
        verdict.edit = Some(edit);
    } else if OF_VARIABLES.iter().any(|name| directive.name.eq_ignore_ascii_case(name)) {
        verdict
            .sentence
            .push_str("; remove the line when no Deny, Require or RewriteCond, here or in .htaccess, tests them");
        verdict.edit = Some(LineEdit::Note);
    }
    if verdict.edit == Some(LineEdit::Note) {
        verdict.part = ReportPart::Open;
    }
    Some(verdict)
}

/// Whether the line turns its module off, so that its absence opens nothing.
fn is_off(directive: &Directive) -> bool {
    let values: &[&str] = match directive.name.to_ascii_lowercase().as_str() {
        "mellonenable" => &["off", "info"],
        "secruleengine" | "secfilterengine" => &["off", "detectiononly"],
        "geoipenable" | "maxminddbenable" => &["off"],
        _ => &[],
    };
    applications::words(&directive.args)
        .first()
        .is_some_and(|arg| values.iter().any(|value| arg.eq_ignore_ascii_case(value)))
}

fn of_row(row: &Counterpart, directive: &Directive, what: &str, decided: &mut Vec<&'static str>) -> LineVerdict {
    let sentence = match row.need {
        Need::Decide => return decision(row, directive, what, decided),
        Need::IfUsed => {
            format!("{what}: {} is not part of Cameleer; its directives, if any, have their own entries", row.name)
        }
        Need::Nothing => row.sentence(what),
    };
    LineVerdict::changed(&directive.at, sentence, LineEdit::Comment)
}

/// The first mention of a module is its decision, the others lead to it.
fn decision(row: &Counterpart, directive: &Directive, what: &str, decided: &mut Vec<&'static str>) -> LineVerdict {
    if decided.contains(&row.name) {
        let sentence = format!("{what}: belongs to {}, see there", row.name);
        return LineVerdict::changed(&directive.at, sentence, LineEdit::Comment);
    }
    decided.push(row.name);
    LineVerdict::open(&directive.at, row.sentence(what), Some(LineEdit::Comment))
}
