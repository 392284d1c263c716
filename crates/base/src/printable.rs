//! Escaping of untrusted text for logs, terminals and pages. Characters that a terminal or browser would interpret are
//! written as their numbers.

use std::fmt::Write;

/// `text` as one line, with escaped backslashes.
pub fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    put_line(text, &mut line);
    line
}

/// Appends `text` as one line, with escaped backslashes.
pub fn put_line(text: &str, line: &mut String) {
    for c in text.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\\' => line.push_str("\\\\"),
            '\t' => line.push('\t'),
            c => put(c, line),
        }
    }
}

/// `text` with its line breaks.
pub fn lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => lines.push(c),
            c => put(c, &mut lines),
        }
    }
    lines
}

/// JSON that is safe for a terminal. The values are unchanged, since only strings contain such characters.
pub fn json(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => json.push(c),
            c if is_interpreted(c) => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| put_number("\\u", *unit, &mut json));
            }
            c => json.push(c),
        }
    }
    json
}

fn put_number(mark: &str, unit: u16, into: &mut String) {
    let _ = write!(into, "{mark}{unit:04x}");
}

fn put(c: char, into: &mut String) {
    match c {
        c if !is_interpreted(c) => into.push(c),
        c if u32::from(c) < 256 => {
            let _ = write!(into, "\\x{:02x}", u32::from(c));
        }
        c => {
            let _ = write!(into, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Whether a character is a control, or a Unicode character that changes direction, breaks lines or is invisible: the
/// displayed text would differ from the actual text.
fn is_interpreted(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_interprets_are_written_as_numbers() {
        for (text, expected) in [
            ("plain, dotted ÄÖÜ, 日本語, a\tb", "plain, dotted ÄÖÜ, 日本語, a\tb"),
            ("\x1b[2J\x07\x7f\r", "\\x1b[2J\\x07\\x7f\\x0d"),
            ("\u{9b}31m", "\\x9b31m"),
            ("a\u{202e}txt.exe\u{2069}\u{200b}", "a\\u{202e}txt.exe\\u{2069}\\u{200b}"),
            ("two\nlines \\n", "two\\nlines \\\\n"),
        ] {
            assert_eq!(line(text), expected);
        }
        assert_eq!(lines("two\nlines \\n\x1b"), "two\nlines \\n\\x1b");
    }

    #[test]
    fn escaped_json_has_the_same_values() {
        let value = serde_json::json!({ "a": "\x1b\u{9b}\u{202e}\u{e0041}\n\"\\" });
        let shown = json(&serde_json::to_string_pretty(&value).expect("text"));
        assert!(shown.chars().all(|c| c == '\n' || !is_interpreted(c)), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("json"), value);
    }
}
