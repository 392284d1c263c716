//! Words of expressions: texts, numbers, variables, and what `.` joins.

use super::super::ExprVariable;
use super::super::tree::Word;
use super::{ExprParser, Operand, names};

const KNOWN_VARIABLES: &str =
    "; httpd's expressions list the variables, and %{reqenv:NAME} has any other of the request";

impl ExprParser<'_, '_> {
    /// A word, and those that `.` appends.
    pub(super) fn word(&mut self) -> Result<Word, String> {
        let word = self.deeper(ExprParser::single_word)?;
        self.followed(word)
    }

    pub(super) fn followed(&mut self, word: Word) -> Result<Word, String> {
        let mut parts = vec![word];
        while self.scan.take(".") {
            parts.push(self.deeper(ExprParser::single_word)?);
        }
        Ok(joined(parts))
    }

    fn single_word(&mut self) -> Result<Word, String> {
        let rest = self.scan.peek();
        for mark in ['"', '\''] {
            if rest.starts_with(mark) {
                self.scan.next();
                return self.parts_until(Some(mark));
            }
        }
        if let Some(word) = self.variable()? {
            return Ok(word);
        }
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let digits = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let length = digits + usize::from(rest.starts_with('-'));
            let number = rest.get(..length).unwrap_or_default();
            self.scan.take(number);
            return Ok(Word::Text(number.to_owned()));
        }
        if self.scan.take("(") {
            let word = self.word()?;
            self.close(")")?;
            return Ok(word);
        }
        match self.scan.name() {
            "" => Err(self.scan.wrong("expected a text in quotation marks, a number, %{NAME} or a function")),
            name => self.called(name),
        }
    }

    /// `%{NAME}`, `%{function:text}`, `%{:condition:}` or `$1`. `None`: nothing of that begins here.
    fn variable(&mut self) -> Result<Option<Word>, String> {
        let mut ahead = self.scan.rest.chars();
        if let (Some('$'), Some(number)) = (ahead.next(), ahead.next().and_then(|c| c.to_digit(10))) {
            self.scan.rest = ahead.as_str();
            return Ok(Some(Word::Group(number as usize)));
        }
        let start = self.scan.clone();
        if self.scan.rest.strip_prefix("%{:").map(|rest| self.scan.rest = rest).is_some() {
            return self.deeper(ExprParser::embedded).map(Some);
        }
        let Some(inner) = self.scan.rest.strip_prefix("%{") else { return Ok(None) };
        let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let (name, rest) = inner.split_at(length);
        self.scan.rest = rest;
        match self.scan.next() {
            Some('}') => {
                let word = names::variable(name).ok_or_else(|| {
                    start.wrong(&format!("the variable %{{{name}}} does not exist")) + KNOWN_VARIABLES
                })?;
                self.wants_user |= matches!(word, Word::Variable(ExprVariable::RemoteUser));
                self.reads_response |= matches!(word, Word::Variable(ExprVariable::RequestStatus));
                self.asks |= matches!(word, Word::Variable(variable) if variable.is_about_file());
                Ok(Some(word))
            }
            Some(':') => {
                let argument = self.deeper(|parser| parser.parts_until(Some('}')))?;
                let function = self.function(name, &start)?;
                Ok(Some(Word::Call(function, Box::new(argument))))
            }
            _ => Err(start.wrong("expected a name and } behind %{")),
        }
    }

    /// The rest of `%{:condition:}` or `%{:word:}`.
    fn embedded(&mut self) -> Result<Word, String> {
        let inner = self.either()?;
        self.close(":}")?;
        Ok(match inner {
            Operand::Condition(node) => Word::Condition(Box::new(node)),
            Operand::Word(word) => word,
        })
    }

    /// Text and variables up to `end`, which is consumed, or to the end of the expression.
    pub(super) fn parts_until(&mut self, end: Option<char>) -> Result<Word, String> {
        let start = self.scan.clone();
        let (mut parts, mut plain) = (Vec::new(), String::new());
        loop {
            if let Some(part) = self.variable()? {
                if !plain.is_empty() {
                    parts.push(Word::Text(std::mem::take(&mut plain)));
                }
                parts.push(part);
                continue;
            }
            match self.scan.next() {
                None if end.is_none() => break,
                None => return Err(start.wrong("a text or variable is not closed")),
                c if c == end => break,
                Some('\\') => plain.push(self.scan.escaped()?),
                Some(c) => plain.push(c),
            }
        }
        if !plain.is_empty() || parts.is_empty() {
            parts.push(Word::Text(plain));
        }
        Ok(joined(parts))
    }
}

fn joined(mut parts: Vec<Word>) -> Word {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            Word::Concat(parts)
        }
        (_, None) => Word::Text(String::new()),
    }
}
