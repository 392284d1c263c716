//! Directives as they stand in a file, and which option asked for them.

use master::configuration::OptionText;

/// Directives as text.
#[derive(Debug, Default)]
pub struct Text {
    said: Vec<OptionText>,
}

impl Text {
    /// What follows is said by that option.
    pub fn by(&mut self, option: &str) -> &mut Text {
        self.said.push(OptionText { option: option.to_owned(), directives: String::new() });
        self
    }

    /// A directive.
    pub fn line(&mut self, name: &str, args: &[&str]) {
        let mut line = name.to_owned();
        for arg in args {
            line.push(' ');
            line.push_str(&quote(arg));
        }
        self.add(&line);
    }

    /// A section with directives in it.
    pub fn section(&mut self, name: &str, arg: &str, inside: &[(&str, &str)]) {
        self.add(&format!("<{name} {}>", quote(arg)));
        for (name, value) in inside {
            self.add(&format!("    {name} {}", quote(value)));
        }
        self.add(&format!("</{name}>"));
    }

    fn add(&mut self, line: &str) {
        if let Some(said) = self.said.last_mut() {
            said.directives.push_str(line);
            said.directives.push('\n');
        }
    }

    /// All, in order.
    pub fn finish(mut self) -> Vec<OptionText> {
        self.said.retain(|said| !said.directives.is_empty());
        self.said
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
