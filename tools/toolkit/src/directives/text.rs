//! Directives as text, with the option that each comes from.

use master::configuration::OptionText;

/// Directives as text, grouped by option.
#[derive(Debug, Default)]
pub struct DirectiveText {
    options: Vec<OptionText>,
}

impl DirectiveText {
    /// Sets the option of the following directives.
    pub fn by(&mut self, option: &str) -> &mut DirectiveText {
        self.options.push(OptionText { option: option.to_owned(), directives: String::new() });
        self
    }

    pub fn line(&mut self, name: &str, args: &[&str]) {
        let mut line = name.to_owned();
        for arg in args {
            line.push(' ');
            line.push_str(&quote(arg));
        }
        self.add(&line);
    }

    pub fn section(&mut self, name: &str, arg: &str, inside: &[(&str, &str)]) {
        self.add(&format!("<{name} {}>", quote(arg)));
        for (name, value) in inside {
            self.add(&format!("    {name} {}", quote(value)));
        }
        self.add(&format!("</{name}>"));
    }

    /// A directive as the user wrote it.
    pub fn verbatim(&mut self, directive: &str) {
        self.add(directive);
    }

    fn add(&mut self, line: &str) {
        if let Some(option) = self.options.last_mut() {
            option.directives.push_str(line);
            option.directives.push('\n');
        }
    }

    /// All groups with directives, in order.
    pub fn finish(mut self) -> Vec<OptionText> {
        self.options.retain(|option| !option.directives.is_empty());
        self.options
    }
}

/// Quotes a word for httpd's syntax, if it has blanks, quotes or other special characters.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-:*+,=@%~[]|".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}
