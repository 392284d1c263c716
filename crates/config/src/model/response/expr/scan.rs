//! The characters of an expression: words, quotation marks, escapes.

/// A position in the text of an expression.
#[derive(Clone)]
pub struct ExprScanner<'a> {
    whole: &'a str,
    /// The rest from here on.
    pub rest: &'a str,
}

/// Maximum number of characters of the rest that a message quotes.
const QUOTED: usize = 40;

impl<'a> ExprScanner<'a> {
    pub fn of(whole: &'a str) -> ExprScanner<'a> {
        ExprScanner { whole, rest: whole }
    }

    /// A message with a pointer to the current position.
    pub fn wrong(&self, what: &str) -> String {
        let at = self.whole.len() - self.rest.len();
        let number = self.whole.get(..at).map_or(0, |before| before.chars().count()) + 1;
        match self.rest {
            "" => format!("{what} at the end of the expression \"{}\"", shortened(self.whole)),
            rest => format!("{what} at character {number} of the expression: \"{}\"", shortened(rest)),
        }
    }

    /// Skips blanks, and returns the rest.
    pub fn peek(&mut self) -> &'a str {
        self.rest = self.rest.trim_ascii_start();
        self.rest
    }

    /// Consumes `sign` behind blanks.
    pub fn take(&mut self, sign: &str) -> bool {
        let rest = self.peek().strip_prefix(sign);
        rest.map(|rest| self.rest = rest).is_some()
    }

    /// Consumes a character.
    pub fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let c = letters.next();
        self.rest = letters.as_str();
        c
    }

    /// The name behind blanks, such as `tolower`. Empty if there is none.
    pub fn name(&mut self) -> &'a str {
        let rest = self.peek();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            false => 0,
        };
        rest.get(..length).unwrap_or_default()
    }

    /// The operator behind blanks: `-eq`, `-d`. `None`: no `-`, or no letter behind it.
    pub fn dashed(&mut self) -> Option<&'a str> {
        let inner = self.peek().strip_prefix('-')?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = inner.find(|c| !is_part(c)).unwrap_or(inner.len());
        inner.get(..length).filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    /// Consumes an escaped character, whose backslash is consumed.
    pub fn escaped(&mut self) -> Result<char, String> {
        let Some(c) = self.next() else { return Err(self.wrong("expected a character behind the backslash")) };
        Ok(match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            other => other,
        })
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
