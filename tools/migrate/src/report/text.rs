//! The report as text, a row a line.

use std::fmt::Write;
use std::path::Path;

use base::printable;

use super::{MigrateReport, parts};

pub fn name(path: &Path) -> String {
    printable::line(&path.to_string_lossy())
}

pub fn text(report: &MigrateReport) -> String {
    let mut text = format!("cameleer migrate: {} is now {}\n", name(&report.old), name(&report.new));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_paths_are_escaped() {
        let (old, new) = ("/a\nTo be decided: 0".into(), "/\x1b[2J".into());
        let report = MigrateReport {
            old,
            new,
            taken: Vec::new(),
            changed: Vec::new(),
            open: Vec::new(),
            check: Vec::new(),
            passes: true,
        };
        let text = text(&report);
        assert!(text.starts_with("cameleer migrate: /a\\nTo be decided: 0 is now /\\x1b[2J\n"), "{text}");
        assert!(!crate::report::html(&report).contains('\x1b'));
    }
}
