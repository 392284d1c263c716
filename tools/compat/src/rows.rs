//! The table of supported features, `rows.txt`: name, state, and the tests that prove it.

use std::fmt::Write;
use std::sync::LazyLock;

/// Level of support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Works as documented.
    Works,
    /// Works, with the exception in the note.
    Partly,
    /// Does not work; the note has the alternative.
    Not,
}

/// A row of the table.
#[derive(Debug)]
pub struct CompatRow {
    /// `Directives`, `Phases`, `Modules`, or the package of a method.
    pub section: &'static str,
    /// A directive, a module, a method.
    pub name: &'static str,
    /// See [`Support`].
    pub state: Support,
    /// Tests: `module::test` in `tests/`, or a file below `perl/t/`; separated by commas.
    pub tests: &'static str,
    /// A note for the reader, or empty.
    pub note: &'static str,
}

static ROWS: LazyLock<Vec<CompatRow>> = LazyLock::new(|| parse(include_str!("rows.txt")));

/// All rows, in the order of the page.
pub fn all() -> &'static [CompatRow] {
    &ROWS
}

/// The row of a name in a section; directives ignore case.
pub fn find(section: &str, name: &str) -> Option<&'static CompatRow> {
    all().iter().find(|row| {
        let name_fits = if section == "Directives" { row.name.eq_ignore_ascii_case(name) } else { row.name == name };
        row.section == section && name_fits
    })
}

fn parse(text: &'static str) -> Vec<CompatRow> {
    let mut section = "";
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        match line.strip_prefix("## ") {
            Some(title) => section = title,
            None => rows.extend(row(section, line)),
        }
    }
    rows
}

/// `name  state  tests  ; note`
fn row(section: &'static str, line: &'static str) -> Option<CompatRow> {
    let (columns, note) = line.split_once(" ;").unwrap_or((line, ""));
    let mut columns = columns.split("  ").map(str::trim).filter(|column| !column.is_empty());
    let name = columns.next()?;
    let state = match columns.next()? {
        "works" => Support::Works,
        "partly" => Support::Partly,
        _ => Support::Not,
    };
    Some(CompatRow { section, name, state, tests: columns.next()?, note: note.trim() })
}

impl Support {
    /// The word on the page.
    pub fn word(self) -> &'static str {
        match self {
            Support::Works => "works",
            Support::Partly => "partly",
            Support::Not => "**not**",
        }
    }
}

/// The text of `docs/compatibility.md`.
pub fn page() -> String {
    let mut page = String::from(
        "# Compatibility with mod_perl 1.x, mod_perl 2 and Apache 1.3\n\n\
         Made from `tools/compat/src/rows.txt` by `make doc`; no row without a test that drives it.\n\
         `cameleer check --compat -f httpd.conf` reads a site by the same table.\n\n",
    );
    let count = |state| all().iter().filter(|row| row.state == state).count();
    let (works, partly, not) = (count(Support::Works), count(Support::Partly), count(Support::Not));
    let _ = writeln!(page, "{} rows: {works} work, {partly} in part, {not} not.", all().len());
    let mut section = "";
    for row in all() {
        if row.section != section {
            section = row.section;
            let _ = write!(page, "\n## {section}\n\n| name | state | test | remark |\n|---|---|---|---|\n");
        }
        let name = row.name.replace('<', "&lt;").replace('>', "&gt;");
        let tests = row.tests.replace(", ", "<br>");
        let _ = writeln!(page, "| {name} | {} | {tests} | {} |", row.state.word(), row.note);
    }
    page + include_str!("mod_perl_2_tests.md") + include_str!("public_configurations.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_row_without_a_duplicate() {
        let text = include_str!("rows.txt");
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
        assert_eq!(all().len(), lines);
        for row in all() {
            let same = all().iter().filter(|other| (other.section, other.name) == (row.section, row.name)).count();
            assert_eq!(same, 1, "{} {}", row.section, row.name);
            assert!(row.state == Support::Works || !row.note.is_empty(), "{}: what does not work?", row.name);
        }
    }

    #[test]
    fn the_page_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md");
        if std::env::var_os("CAMELEER_BLESS").is_some() {
            std::fs::write(path, page()).expect("written");
        }
        let page_on_disk = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page_on_disk == page(), "docs/compatibility.md is old; run `make doc`");
    }
}
