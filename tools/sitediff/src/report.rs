//! The result as text and as JSON.

use std::fmt::Write;

use serde::Serialize;

use super::page::{ComparedPage, Difference};
use base::printable;

/// The comparison of all pages.
#[derive(Debug, Serialize)]
pub struct SiteDiff {
    /// In the order of the requests.
    pub pages: Vec<ComparedPage>,
}

impl SiteDiff {
    /// 0: the two sites are alike.
    pub fn differing(&self) -> usize {
        self.pages.iter().filter(|page| !page.differences.is_empty()).count()
    }

    /// The pages that differ, and a summary.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for page in self.pages.iter().filter(|page| !page.differences.is_empty()) {
            let _ = writeln!(out, "{}", printable::line(&page.path));
            page.differences.iter().for_each(|difference| describe(&mut out, difference));
        }
        let varying = self.pages.iter().filter(|page| page.varies).count();
        let (all, differing) = (self.pages.len(), self.differing());
        let _ = write!(out, "{} of {all} pages are alike, {differing} differ", all - differing);
        if varying > 0 {
            let _ = write!(
                out,
                "; the bodies of {varying} were not compared, because the old server's own responses differ"
            );
        }
        let own = self.pages.iter().filter(|page| page.own_pages).count();
        if own > 0 {
            let _ = write!(out, "; {own} have the servers' own texts for an error or a redirect");
        }
        out.push('\n');
        out
    }

    /// An object with `pages`; each has `path`, `differences`, `varies` and `own_pages`.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

fn describe(out: &mut String, difference: &Difference) {
    let shown = |value: &Option<String>| value.as_deref().map_or("absent".to_owned(), printable::line);
    let _ = match difference {
        Difference::Failure { server, reason } => writeln!(out, "    the {server} server: {}", printable::line(reason)),
        Difference::Status { old, new } => writeln!(out, "    status: {old}, new {new}"),
        Difference::Header { name, old, new } => writeln!(out, "    {name}: {}, new {}", shown(old), shown(new)),
        Difference::Bytes { old, new } => writeln!(out, "    body: {old} bytes, new {new} bytes, not the same"),
        Difference::Text { line, old, new } => {
            let _ = writeln!(out, "    body, from line {line}:");
            let signed = |sign: char, lines: &[String]| {
                lines.iter().map(|line| format!("      {sign} {}\n", printable::line(line))).collect::<String>()
            };
            write!(out, "{}{}", signed('-', old), signed('+', new))
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_shows_the_pages_that_differ() {
        let page = |path: &str, differences, varies| ComparedPage {
            path: path.to_owned(),
            differences,
            varies,
            own_pages: false,
        };
        let lines = |text: &str| vec![text.to_owned()];
        let diff = SiteDiff {
            pages: vec![
                page("/a", vec![], false),
                page("/b", vec![Difference::Status { old: 200, new: 404 }], true),
                page("/c", vec![Difference::Text { line: 2, old: lines("x"), new: lines("y") }], false),
            ],
        };
        let expected = "/b\n    status: 200, new 404\n/c\n    body, from line 2:\n      - x\n      + y\n\
            1 of 3 pages are alike, 2 differ; the bodies of 1 were not compared, because the old server's own responses differ\n";
        assert_eq!(diff.text(), expected);
    }
}
