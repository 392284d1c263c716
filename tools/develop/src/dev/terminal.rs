//! Short lines on the terminal. Colours are for terminals only, and not with NO_COLOR (no-color.org).

use std::io::{IsTerminal, Write};
use std::sync::LazyLock;
use std::time::Duration;

use base::printable;
use regex::Regex;
use serde::Deserialize;

use toolkit::conf::environment;

/// A line of the access log in combined or common format, as Plack::Middleware::AccessLog writes it.
static ACCESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^\S+ \S+ \S+ \[[^\]]*\] "(\S+) (.*?)(?: HTTP/[\d.]+)?" (\d{3}) (\d+|-)"#).ok());

/// Part of the server's message about a reload with a mistake.
const REFUSED_RELOAD: &str = "\"message\":\"reload failed, the old code continues to serve";

/// Part of a line with a stack frame, as Carp writes them.
const STACK_FRAME: &str = "\"message\":\"\\t";

/// Where lines are written, and whether they have colours.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    colours: bool,
}

#[derive(Clone, Copy)]
enum Colour {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Cyan = 36,
}

/// The fields of a line of `ErrorLogFormat json` that are shown.
#[derive(Deserialize)]
struct LogLine {
    level: String,
    message: String,
    #[serde(default)]
    method: String,
    #[serde(default)]
    path: String,
}

impl Terminal {
    /// Standard error of this process.
    pub fn of_this_process() -> Terminal {
        Terminal { colours: std::io::stderr().is_terminal() && environment("NO_COLOR").is_none() }
    }

    /// A line of the server's standard error, shortened if it is of the error log.
    pub fn log(self, line: &str) {
        // The mistake is shown by its own message, the stack of an exception by the page in the browser.
        if !line.contains(REFUSED_RELOAD) && !line.contains(STACK_FRAME) {
            self.write(&self.shortened(line));
        }
    }

    /// The program was loaded again.
    pub fn reloaded(self, what: &str, took: Duration) {
        let text = format!("reloaded in {} ms: {}", took.as_millis(), printable::line(what));
        self.write(&self.stamped(Colour::Green, &text, ""));
    }

    /// The program cannot be loaded.
    pub fn mistake(self, text: &str) {
        self.write(&self.stamped(Colour::Red, "mistake", ""));
        self.write(&printable::lines(text.trim_end()));
    }

    /// Something else went wrong.
    pub fn warn(self, text: &str) {
        self.write(&self.stamped(Colour::Yellow, "warn", &printable::line(text)));
    }

    fn shortened(self, line: &str) -> String {
        let Ok(entry) = serde_json::from_str::<LogLine>(line) else {
            return self.access(line).unwrap_or_else(|| printable::line(line));
        };
        if let Some(access) = self.access(&entry.message) {
            return access;
        }
        let colour = match entry.level.as_str() {
            "warn" => Colour::Yellow,
            "notice" | "info" | "debug" => Colour::Cyan,
            _ => Colour::Red,
        };
        let request = match entry.path.as_str() {
            "" => String::new(),
            path => format!("{} {path}: ", entry.method),
        };
        self.stamped(colour, &entry.level, &printable::lines(&(request + &entry.message)))
    }

    /// A line of an access log, shortened.
    fn access(self, line: &str) -> Option<String> {
        let found = ACCESS.as_ref()?.captures(line)?;
        let part = |n: usize| found.get(n).map_or("", |part| part.as_str());
        let colour = match part(3).chars().next() {
            Some('2') => Colour::Green,
            Some('3') => Colour::Cyan,
            Some('4') => Colour::Yellow,
            _ => Colour::Red,
        };
        Some(self.stamped(colour, part(3), &printable::line(&format!("{} {}", part(1), part(2)))))
    }

    fn stamped(self, colour: Colour, label: &str, text: &str) -> String {
        let time = chrono::Local::now().format("%H:%M:%S");
        let label = match self.colours {
            true => format!("\x1b[{}m{label}\x1b[0m", colour as u8),
            false => label.to_owned(),
        };
        format!("{time} {label} {text}").trim_end().to_owned()
    }

    /// One write for each line, because several threads write. Errors are ignored: the terminal may be closed.
    fn write(self, line: &str) {
        let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let plain = Terminal { colours: false }.shortened(line);
        let without_time = if line.starts_with('{') { plain.get(9..).unwrap_or_default() } else { &plain };
        assert_eq!(without_time, expected, "{line}");
    }

    #[test]
    fn lines_of_the_logs_become_short() {
        check(
            r#"{"level":"error","message":"127.0.0.1 - - [27/Nov/2026:08:27:15 +0000] \"GET /a?b HTTP/1.1\" 200 9 \"-\" \"curl\""}"#,
            "200 GET /a?b",
        );
        check(
            r#"{"level":"warn","message":"oops at x line 1.","method":"GET","path":"/a"}"#,
            "warn GET /a: oops at x line 1.",
        );
        check("plain text \x1b[0m", r"plain text \x1b[0m");
    }

    #[test]
    fn colours_are_for_terminals() {
        let coloured = Terminal { colours: true }.shortened(r#"{"level":"error","message":"oops"}"#);
        assert!(coloured.ends_with("\x1b[31merror\x1b[0m oops"), "{coloured:?}");
    }
}
