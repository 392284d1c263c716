//! The report as text, a row a line.

use std::fmt::Write;

use super::{MigrateReport, parts};

/// The report as text.
pub fn text(report: &MigrateReport) -> String {
    let mut text = format!("cameleer migrate: {} is now {}\n", report.old.display(), report.new.display());
    for (heading, rows) in parts(report) {
        let _ = writeln!(text, "\n{heading}: {}\n", rows.len());
        for row in rows {
            let separator = if row.at.is_empty() { "" } else { ": " };
            let _ = writeln!(text, "{}{separator}{}", row.at, row.sentence);
        }
    }
    let _ = writeln!(text, "\nCheck\n");
    for line in &report.check {
        let _ = writeln!(text, "{line}");
    }
    text
}
