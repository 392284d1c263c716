//! Logical lines of a file: continued lines are joined, blank lines and comments skipped.

use std::collections::HashMap;

/// A line after the lines that continue it (`\`) were joined to it.
#[derive(Debug, PartialEq, Eq)]
pub struct LogicalLine {
    /// Number of its first physical line, from 1.
    pub number: u32,
    /// Text without leading and trailing blanks; never empty.
    pub text: String,
}

/// Reads a text line by line.
#[derive(Clone)]
pub struct LineReader<'a> {
    rest: std::iter::Zip<std::ops::RangeFrom<u32>, std::str::Lines<'a>>,
}

impl<'a> LineReader<'a> {
    /// Lines of a whole file.
    pub fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        LineReader { rest: (1..).zip(text.lines()) }
    }

    /// Number of the last line `</name>` for each name in lower case.
    pub fn ends(&self) -> HashMap<String, u32> {
        let name_of = |line: &str| Some(line.trim().strip_prefix("</")?.strip_suffix('>')?.to_ascii_lowercase());
        self.rest.clone().filter_map(|(number, line)| Some((name_of(line)?, number))).collect()
    }

    /// Number of the next physical line.
    pub fn next_number(&self) -> Option<u32> {
        self.rest.clone().next().map(|(number, _)| number)
    }

    /// Text up to the line `</name>`, unchanged. `None` if there is no such line.
    pub fn raw_until_end_of(&mut self, name: &str) -> Option<String> {
        let end = format!("</{name}>");
        let mut raw = String::new();
        for (_, line) in self.rest.by_ref() {
            if line.trim().eq_ignore_ascii_case(&end) {
                return Some(raw);
            }
            raw.push_str(line);
            raw.push('\n');
        }
        None
    }

    /// Skips POD as mod_perl 1 does: up to `=cut`, the end of the file, or an `=over` that names the server. The
    /// text after that `=over` is configuration until `=back to pod`, which begins POD again.
    fn skips_pod(&mut self, line: &str) -> bool {
        let pod = line.strip_prefix('=').is_some_and(|command| command.starts_with(|c: char| c.is_ascii_lowercase()));
        if pod && !ends_pod(line) {
            self.rest.by_ref().find(|(_, line)| ends_pod(line.trim_start()));
        }
        pod
    }

    /// The next line, joined with its continuation lines. As in httpd, comments can be continued, too.
    fn joined(&mut self) -> Option<LogicalLine> {
        let (number, first) = self.rest.next()?;
        let mut text = first.to_owned();
        while text.ends_with('\\') {
            text.pop();
            match self.rest.next() {
                Some((_, more)) => text.push_str(more),
                None => break,
            }
        }
        Some(LogicalLine { number, text: text.trim().to_owned() })
    }
}

/// Whether POD ends here: `=cut`, `=over to apache`, `=over httpd`.
fn ends_pod(line: &str) -> bool {
    line.starts_with("=cut") || line.starts_with("=over") && (line.contains("apache") || line.contains("httpd"))
}

impl Iterator for LineReader<'_> {
    type Item = LogicalLine;

    fn next(&mut self) -> Option<LogicalLine> {
        loop {
            let line = self.joined()?;
            if line.text == "__END__" {
                return None;
            }
            if self.skips_pod(&line.text) {
                continue;
            }
            if !line.text.is_empty() && !line.text.starts_with('#') {
                return Some(line);
            }
        }
    }
}
