//! Directives as they stand in a file.

/// Directives as text.
#[derive(Debug, Default)]
pub struct Text(pub String);

impl Text {
    /// A directive.
    pub fn line(&mut self, name: &str, args: &[&str]) {
        self.0.push_str(name);
        for arg in args {
            self.0.push(' ');
            self.0.push_str(&quote(arg));
        }
        self.0.push('\n');
    }

    /// A section with directives in it.
    pub fn section(&mut self, name: &str, arg: &str, inside: &[(&str, &str)]) {
        self.0.push_str(&format!("<{name} {}>\n", quote(arg)));
        for (name, value) in inside {
            self.0.push_str("    ");
            self.line(name, &[value]);
        }
        self.0.push_str(&format!("</{name}>\n"));
    }
}

/// As httpd reads it: only a word with blanks or quotes needs quotation marks.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-:*+,=@%~[]|".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}
