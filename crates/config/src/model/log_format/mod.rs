//! Apache's `LogFormat`, compiled once. The front writes the lines.
//!
//! `item` has the table of what may follow a `%`.
//!
//! `%400,501{X}i` and `%!200{X}i` are `-` for other statuses.

mod item;
mod time;

pub use item::{LogItem, PortOf, Unit};
pub use time::{TimeFormat, TimeShape};

/// A compiled `LogFormat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFormat(Vec<FormatPiece>);

/// A part of a compiled format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatPiece {
    /// Bytes that are the same in each line.
    Text(Vec<u8>),
    /// A value of the request.
    Value {
        /// The item whose value is logged.
        item: LogItem,
        /// `-` is logged for other statuses.
        only: Option<Statuses>,
    },
}

/// `%!200,304…`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statuses {
    except: bool,
    codes: Vec<u16>,
}

/// Checks a format. The error message names the invalid item.
pub fn check(format: &str) -> Result<(), String> {
    LogFormat::compile(format).map(drop)
}

impl LogFormat {
    /// The format with a newline at its end. The error names the invalid item.
    pub fn compile(format: &str) -> Result<LogFormat, String> {
        let mut pieces = Vec::new();
        let mut text = Vec::new();
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            text.extend_from_slice(&rest.as_bytes()[..at]);
            if let Some(after) = rest[at..].strip_prefix('\\') {
                rest = escaped(after, &mut text);
                continue;
            }
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                text.push(b'%');
                rest = after;
                continue;
            }
            if !text.is_empty() {
                pieces.push(FormatPiece::Text(std::mem::take(&mut text)));
            }
            let (piece, after) = directive(rest)?;
            pieces.push(piece);
            rest = after;
        }
        text.extend_from_slice(rest.as_bytes());
        text.push(b'\n');
        pieces.push(FormatPiece::Text(text));
        Ok(LogFormat(pieces))
    }

    /// Whether the format has a header of the response, which must then be stored until the line is written.
    pub fn wants_response(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, FormatPiece::Value { item: LogItem::ResponseHeader(_), .. }))
    }

    /// The parts of a line, in order.
    pub fn pieces(&self) -> &[FormatPiece] {
        &self.0
    }
}

/// Replaces escapes such as `
/// ` and `\t`. A backslash before any other character is written as is.
fn escaped<'a>(after: &'a str, text: &mut Vec<u8>) -> &'a str {
    let known = [('n', b'\n'), ('t', b'\t'), ('r', b'\r'), ('\\', b'\\'), ('"', b'"')];
    for (letter, byte) in known {
        if let Some(after) = after.strip_prefix(letter) {
            text.push(byte);
            return after;
        }
    }
    text.push(b'\\');
    after
}

/// Parses the text after a `%`: conditions, `<` or `>`, an argument, a letter.
fn directive(text: &str) -> Result<(FormatPiece, &str), String> {
    let (mut rest, mut argument) = (text, None);
    let mut only = Statuses { except: false, codes: Vec::new() };
    loop {
        let mut chars = rest.chars();
        let letter = chars.next().ok_or_else(|| format!("%{text}: incomplete item at the end of the format"))?;
        let after = chars.as_str();
        match letter {
            '!' => only.except = true,
            '<' | '>' | ',' => {}
            '0'..='9' => {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                only.codes.push(rest[..digits].parse().map_err(|_| format!("%{text}: not a status"))?);
                rest = &rest[digits..];
                continue;
            }
            '{' => {
                let (inside, after) = after.split_once('}').ok_or_else(|| format!("%{text}: no }} after {{"))?;
                argument = Some(inside);
                rest = after;
                continue;
            }
            '^' if after.starts_with("ti") || after.starts_with("to") => {
                return Ok((
                    FormatPiece::Value { item: LogItem::Dash, only: None },
                    after.get(2..).unwrap_or_default(),
                ));
            }
            letter => {
                let written = format!("%{}", text.strip_suffix(after).unwrap_or(text));
                let item = LogItem::named(letter, argument.unwrap_or(""), &written)?;
                let only = (!only.codes.is_empty()).then_some(only);
                return Ok((FormatPiece::Value { item, only }, after));
            }
        }
        rest = after;
    }
}

impl Statuses {
    /// Whether a request with this status is logged.
    pub fn include(&self, status: u16) -> bool {
        self.codes.contains(&status) != self.except
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_items_are_named() {
        let good = [
            "",
            "plain",
            "%%",
            "%>s %!200,304{Referer}i",
            "%{%Y-%m-%d}t %{end:usec}t",
            "%{us}T",
            "%{X}^ti %{X}^to",
            "\\t\\n\\x",
        ];
        for format in good {
            assert_eq!(check(format), Ok(()), "{format}");
        }
        let bad = [
            ("%", "%: incomplete item at the end of the format"),
            ("%{Referer", "%{Referer: no } after {"),
            ("%y", "unknown log item %y: httpd's mod_log_config and docs/operating/logs.md list the items"),
            (
                "%>{years}T",
                "unknown log item %>{years}T: httpd's mod_log_config and docs/operating/logs.md list the items",
            ),
            (
                "%{cameleer:mood}x",
                "unknown log item %{cameleer:mood}x: httpd's mod_log_config and docs/operating/logs.md list the items",
            ),
            ("%{%!}t", "%{%!}t: not a time format: strftime(3) lists the conversions"),
            ("%99999s", "%99999s: not a status"),
        ];
        for (format, expected) in bad {
            assert_eq!(check(format), Err(expected.to_owned()), "{format}");
        }
    }

    #[test]
    fn backslashes_work_as_in_httpd() {
        let text = |format: &str| LogFormat::compile(format).map(|format| format.0);
        assert_eq!(text(r#"a\tb\n\"\\\x"#), Ok(vec![FormatPiece::Text(b"a\tb\n\"\\\\x\n".to_vec())]));
    }
}
