//! Programs of the site, by the survey of `cameleer check --compat`: modules that are missing, calls that do not work,
//! files that cannot be executed.

use std::collections::HashSet;

use compat::programs::{CgiProgram, Programs};
use compat::{Finding, Light, missing_modules, survey as survey_of};
use config::{At, Directive};
use master::configuration::Survey;

use super::ledger::{Ledger, LineVerdict, ReportPart};
use crate::write::Copies;

/// Beginnings of notes that are no news: a module of CPAN that works most likely, a block that had no effect before
/// either.
const WITHOUT_ROW: [&str; 3] = ["is installed", "is skipped", "its module is missing"];

/// Adds the findings that are not green.
pub fn judge(survey: &Survey, copies: &Copies, ledger: &mut Ledger) {
    let mut findings = survey_of(&survey.tree, &survey.server_root, &survey.mistakes, &survey.warnings);
    findings.extend(missing_modules(&survey.tree, &survey.server_root));
    let mut files = HashSet::new();
    files_of(&survey.tree, &mut files);
    for finding in &findings {
        if let Some(mut verdict) = of_finding(finding, copies)
            && !verdict.at.as_ref().is_some_and(|at| ledger.knows(at))
        {
            if let Some(at) = verdict.at.as_ref().filter(|at| files.contains(&*at.file)) {
                // A file that a macro includes belongs to the old server: its lines stay as they are.
                verdict.part = if copies.find(&at.file).is_none() { ReportPart::Open } else { verdict.part };
            }
            ledger.add(verdict);
        }
    }
    let programs = Programs::of(&survey.config);
    for program in &programs.all {
        of_program(program).into_iter().for_each(|verdict| ledger.add(verdict));
    }
    if programs.is_cut {
        ledger.add(LineVerdict::of_site("the folders of CGI programs are large: not all of their files were checked"));
    }
}

fn files_of<'a>(tree: &'a [Directive], files: &mut HashSet<&'a str>) {
    for directive in tree {
        files.insert(&directive.at.file);
        files_of(directive.section.as_deref().unwrap_or_default(), files);
    }
}

/// `None`: it works.
fn of_finding(finding: &Finding, copies: &Copies) -> Option<LineVerdict> {
    let part = match finding.light {
        Light::Green => return None,
        Light::Amber if WITHOUT_ROW.iter().any(|note| finding.note.starts_with(note)) => return None,
        Light::Amber => ReportPart::Changed,
        Light::Red => ReportPart::Open,
    };
    let at = position(&finding.at);
    let at = at.map(|at| copies.origin(&at).unwrap_or(at));
    Some(LineVerdict { at, part, sentence: format!("{}: {}", finding.what, finding.note), edit: None })
}

/// `/srv/lib/My.pm:12`
fn position(text: &str) -> Option<At> {
    let (file, line) = text.rsplit_once(':')?;
    Some(At { file: file.into(), line: line.parse().ok()? })
}

fn of_program(program: &CgiProgram) -> Vec<LineVerdict> {
    let at = |line| At { file: program.file.to_string_lossy().into(), line };
    let fault = program.fault.iter().map(|fault| LineVerdict::open(&at(1), format!("CGI program: {fault}"), None));
    let risks = program.risks_of(program.mode);
    let risks = risks.map(|risk| LineVerdict::open(&at(risk.line), format!("{}: {}", risk.what, risk.note), None));
    fault.chain(risks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_has_a_file_and_a_line() {
        assert_eq!(position("/a:b.pl:12"), Some(At { file: "/a:b.pl".into(), line: 12 }));
        assert_eq!(position("configuration"), None);
    }
}
