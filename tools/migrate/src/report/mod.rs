//! The report: what was taken over, what was changed, what is left to decide.

mod html;
mod text;

pub use html::html;
pub use text::text;

use std::path::PathBuf;

use base::printable;

use crate::judge::{Ledger, LineVerdict, ReportPart};
use crate::write::Copies;

/// A line of the report: position and sentence.
pub struct ReportRow {
    /// `/etc/apache2/apache2.conf:12`; empty for the whole site.
    pub at: String,
    pub sentence: String,
}

/// The contents of the report, printable.
pub struct MigrateReport {
    pub old: PathBuf,
    pub new: PathBuf,
    /// File, and the number of unchanged directives of all.
    pub taken: Vec<ReportRow>,
    pub changed: Vec<ReportRow>,
    pub open: Vec<ReportRow>,
    /// Result of `cameleer check`, line by line.
    pub check: Vec<String>,
    /// Whether the check has passed.
    pub passes: bool,
}

/// The three parts with their headings.
pub fn parts(report: &MigrateReport) -> [(&'static str, &[ReportRow]); 3] {
    [("Taken over", &report.taken), ("Changed", &report.changed), ("To be decided", &report.open)]
}

impl MigrateReport {
    /// The report without the result of the check.
    pub fn of(copies: &Copies, ledger: &Ledger) -> MigrateReport {
        let names: Vec<String> = copies.all.iter().map(|copy| copy.origin.display().to_string()).collect();
        let rows = |part| rows(&ledger.part(part, &names));
        MigrateReport {
            old: copies.all[0].origin.clone(),
            new: copies.main().to_owned(),
            taken: copies.all.iter().zip(&names).map(|(copy, name)| taken(copy, name)).collect(),
            changed: rows(ReportPart::Changed),
            open: rows(ReportPart::Open),
            check: Vec::new(),
            passes: false,
        }
    }
}

fn taken(copy: &crate::write::FileCopy, name: &str) -> ReportRow {
    let (unchanged, all) = copy.edited.as_ref().map_or((0, 0), |edited| (edited.unchanged, edited.directives));
    ReportRow { at: printable::line(name), sentence: format!("{unchanged} of {all} lines unchanged") }
}

/// One row for lines of one file that have the same sentence and follow each other.
fn rows(verdicts: &[&LineVerdict]) -> Vec<ReportRow> {
    let file = |verdict: &LineVerdict| verdict.at.as_ref().map(|at| at.file.clone());
    let is_same = |one: &&LineVerdict, next: &&LineVerdict| {
        one.at.is_some() && file(one) == file(next) && one.sentence == next.sentence
    };
    verdicts.chunk_by(is_same).filter_map(row).collect()
}

fn row(same: &[&LineVerdict]) -> Option<ReportRow> {
    let (first, last) = (same.first()?, same.last()?);
    let at = first.at.as_ref().map(ToString::to_string).unwrap_or_default();
    let more = match (same.len(), &last.at) {
        (2.., Some(last)) => format!(" ({} lines, the last is {})", same.len(), last.line),
        _ => String::new(),
    };
    let sentence = printable::lines(&first.sentence).replace('\n', " ");
    Some(ReportRow { at, sentence: sentence + &more })
}
