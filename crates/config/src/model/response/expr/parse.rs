//! Parser of expressions.

use super::{ExprPart, ExprValue, Node, Operator};
use crate::model::response::variables::Attribute;
use crate::syntax::pattern::{Budget, Case, Pattern};
use crate::syntax::value::network::Network;
use crate::syntax::wildcard::{self, Slash};

/// Parses a whole expression. The error names the part that cannot be parsed.
pub fn parse(source: &str, budget: &mut Budget) -> Result<Node, String> {
    let mut reader = ExprReader { rest: source, depth: 0, budget };
    let root = reader.either()?;
    match reader.peek() {
        "" => Ok(root),
        rest => Err(format!("cannot parse the expression from here on: {rest}")),
    }
}

struct ExprReader<'a, 'b> {
    rest: &'a str,
    depth: u32,
    /// Limit for patterns.
    budget: &'b mut Budget,
}

/// Maximum nesting of parentheses and negations.
const DEEPEST: u32 = 50;

impl<'a> ExprReader<'a, '_> {
    fn peek(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    fn take(&mut self, word: &str) -> bool {
        let rest = self.peek().strip_prefix(word);
        rest.map(|rest| self.rest = rest).is_some()
    }

    /// Consumes `word` unless a letter or digit follows.
    fn take_word(&mut self, word: &str) -> bool {
        let follows = self.peek().strip_prefix(word).map(|rest| rest.starts_with(|c: char| c.is_alphanumeric()));
        follows == Some(false) && self.take(word)
    }

    fn either(&mut self) -> Result<Node, String> {
        let mut parts = vec![self.both()?];
        while self.take("||") {
            parts.push(self.both()?);
        }
        Ok(Node::Either(parts))
    }

    fn both(&mut self) -> Result<Node, String> {
        let mut parts = vec![self.single()?];
        while self.take("&&") {
            parts.push(self.single()?);
        }
        Ok(Node::Both(parts))
    }

    fn single(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the expression is nested too deeply".to_owned());
        }
        let node = self.any_single()?;
        self.depth -= 1;
        Ok(node)
    }

    fn any_single(&mut self) -> Result<Node, String> {
        if self.take("!") {
            return Ok(Node::Not(Box::new(self.single()?)));
        }
        if self.take("(") {
            let inner = self.either()?;
            return if self.take(")") {
                Ok(inner)
            } else {
                Err("a parenthesis is not closed in the expression".to_owned())
            };
        }
        for (word, constant) in [("true", true), ("false", false)] {
            if self.take_word(word) {
                return Ok(Node::Constant(constant));
            }
        }
        for word in ["-n", "-z", "-T"] {
            if self.take_word(word) {
                let value = self.value()?;
                return Ok(match word {
                    "-n" => Node::Not(Box::new(Node::IsEmpty(value))),
                    "-z" => Node::IsEmpty(value),
                    _ => Node::IsTrue(value),
                });
            }
        }
        if self.take_word("-R") {
            return Ok(Node::IsFrom(ExprValue(vec![ExprPart::Of(Attribute::RemoteAddr)]), self.network()?));
        }
        let left = self.value()?;
        self.comparison(left)
    }

    fn comparison(&mut self, left: ExprValue) -> Result<Node, String> {
        for (word, negated) in [("=~", false), ("!~", true)] {
            if self.take(word) {
                let node = Node::Matches(left, self.pattern()?);
                return Ok(if negated { Node::Not(Box::new(node)) } else { node });
            }
        }
        if self.take_word("in") {
            return Ok(Node::IsIn(left, self.list()?));
        }
        if self.take_word("-ipmatch") {
            return Ok(Node::IsFrom(left, self.network()?));
        }
        for (word, folds) in [("-strmatch", false), ("-strcmatch", true), ("-fnmatch", false)] {
            if self.take_word(word) {
                let slash = if word == "-fnmatch" { Slash::Separates } else { Slash::Ordinary };
                let whole = wildcard::whole(&self.plain_text()?, slash);
                let case = if folds { Case::Either } else { Case::Exact };
                let pattern = self.budget.compile(&whole, case)?;
                return Ok(Node::Matches(left, pattern));
            }
        }
        use Operator::{Number, Text};
        let operators: [(&str, Operator); 19] = [
            ("==", Text(|o| o.is_eq())),
            ("!=", Text(|o| o.is_ne())),
            ("<=", Text(|o| o.is_le())),
            (">=", Text(|o| o.is_ge())),
            ("=", Text(|o| o.is_eq())),
            ("<", Text(|o| o.is_lt())),
            (">", Text(|o| o.is_gt())),
            ("-eq", Number(|o| o.is_eq())),
            ("-ne", Number(|o| o.is_ne())),
            ("-lt", Number(|o| o.is_lt())),
            ("-le", Number(|o| o.is_le())),
            ("-gt", Number(|o| o.is_gt())),
            ("-ge", Number(|o| o.is_ge())),
            ("eq", Number(|o| o.is_eq())),
            ("ne", Number(|o| o.is_ne())),
            ("lt", Number(|o| o.is_lt())),
            ("le", Number(|o| o.is_le())),
            ("gt", Number(|o| o.is_gt())),
            ("ge", Number(|o| o.is_ge())),
        ];
        for (word, operator) in operators {
            let is_sign = !word.ends_with(|c: char| c.is_alphabetic());
            if (is_sign && self.take(word)) || (!is_sign && self.take_word(word)) {
                return Ok(Node::Compare(left, operator, self.value()?));
            }
        }
        Err(format!("expected a comparison in the expression before \"{}\"", self.peek()))
    }

    fn list(&mut self) -> Result<Vec<ExprValue>, String> {
        if !self.take("{") {
            return Err("expected a list in braces after `in` in the expression".to_owned());
        }
        let mut items = vec![self.value()?];
        while self.take(",") {
            items.push(self.value()?);
        }
        if self.take("}") { Ok(items) } else { Err("a brace is not closed in the expression".to_owned()) }
    }

    fn network(&mut self) -> Result<Network, String> {
        let text = self.plain_text()?;
        Network::parse(&text).unwrap_or_else(|| Err(format!("expected an address or a network, got \"{text}\"")))
    }

    /// Parses text without variables.
    fn plain_text(&mut self) -> Result<String, String> {
        match self.value()?.0.as_slice() {
            [ExprPart::Text(text)] => Ok(text.clone()),
            _ => Err("expected a plain text in quotation marks in the expression".to_owned()),
        }
    }

    /// `/…/i` or `m#…#i`
    fn pattern(&mut self) -> Result<Pattern, String> {
        let rest = self.peek();
        let rest = rest.strip_prefix('m').filter(|rest| !rest.starts_with(char::is_alphanumeric)).unwrap_or(rest);
        let mut letters = rest.chars();
        let mark =
            letters.next().filter(|c| !c.is_alphanumeric()).ok_or("expected a pattern like /^x/ in the expression")?;
        let (source, rest) = letters.as_str().split_once(mark).ok_or("a pattern is not closed in the expression")?;
        let flags = rest.len() - rest.trim_start_matches(char::is_alphabetic).len();
        let (flags, rest) = rest.split_at(flags);
        self.rest = rest;
        match flags {
            "" => self.budget.compile(source, Case::Exact),
            "i" => self.budget.compile(source, Case::Either),
            other => Err(format!("expected a pattern with the flag i or no flag, got /{source}/{other}")),
        }
    }

    fn value(&mut self) -> Result<ExprValue, String> {
        let mut parts = self.part()?;
        while self.peek().starts_with('.') {
            self.take(".");
            parts.extend(self.part()?);
        }
        Ok(ExprValue(parts))
    }

    fn part(&mut self) -> Result<Vec<ExprPart>, String> {
        let rest = self.peek();
        for mark in ['"', '\''] {
            if let Some(text) = rest.strip_prefix(mark) {
                let (text, rest) = text.split_once(mark).ok_or("a text is not closed in the expression")?;
                self.rest = rest;
                return interpolated(text);
            }
        }
        if let Some(inner) = rest.strip_prefix("%{") {
            let (name, rest) = inner.split_once('}').ok_or("a %{ is not closed in the expression")?;
            self.rest = rest;
            return Ok(vec![named(name)?]);
        }
        if let Some((group, rest)) = group(rest) {
            self.rest = rest;
            return Ok(vec![ExprPart::Found(group)]);
        }
        let length = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if length == 0 {
            return Err(format!(
                "expected a text in quotation marks, a number or %{{NAME}} in the expression before \"{rest}\""
            ));
        }
        let (digits, rest) = rest.split_at(length);
        self.rest = rest;
        Ok(vec![ExprPart::Text(digits.to_owned())])
    }
}

/// Number of `$1`, and the text after it.
fn group(text: &str) -> Option<(usize, &str)> {
    let mut letters = text.strip_prefix('$')?.chars();
    let digit = letters.next()?.to_digit(10)?;
    Some((digit as usize, letters.as_str()))
}

/// Parses a text with `%{NAME}` and `$1`.
fn interpolated(text: &str) -> Result<Vec<ExprPart>, String> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let part = match rest.strip_prefix("%{").and_then(|inner| inner.split_once('}')) {
            Some((name, after)) => Some((named(name)?, after)),
            None => group(rest).map(|(group, after)| (ExprPart::Found(group), after)),
        };
        match part {
            Some((part, after)) => {
                parts.push(ExprPart::Text(std::mem::take(&mut plain)));
                parts.push(part);
                rest = after;
            }
            None => {
                plain.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    parts.push(ExprPart::Text(plain));
    if parts.len() > 1 {
        parts.retain(|part| !matches!(part, ExprPart::Text(text) if text.is_empty()));
    }
    Ok(parts)
}

/// The part for a name. An unknown name is an error, because an access condition must not change its meaning.
fn named(name: &str) -> Result<ExprPart, String> {
    let header = |name: &str| ExprPart::Of(Attribute::Named(name.to_ascii_lowercase(), String::new()));
    if let Some((function, argument)) = name.split_once(':') {
        return match function.to_ascii_lowercase().as_str() {
            "http" | "req" | "req_novary" => Ok(header(argument)),
            "env" | "reqenv" | "osenv" => Ok(ExprPart::Variable(argument.to_owned())),
            _ => Err(format!("%{{{name}}} is not supported in expressions: use req:name or reqenv:name")),
        };
    }
    let attribute = match name.to_ascii_uppercase().as_str() {
        "REMOTE_ADDR" => Attribute::RemoteAddr,
        "REMOTE_HOST" => Attribute::RemoteHost,
        "REQUEST_METHOD" => Attribute::RequestMethod,
        "REQUEST_URI" | "DOCUMENT_URI" => Attribute::RequestUri,
        "SERVER_ADDR" => Attribute::ServerAddr,
        "SERVER_PROTOCOL" => Attribute::RequestProtocol,
        "QUERY_STRING" => Attribute::QueryString,
        "HTTPS" => Attribute::Https,
        "HTTP_ACCEPT" | "HTTP_COOKIE" | "HTTP_FORWARDED" | "HTTP_HOST" | "HTTP_REFERER" | "HTTP_USER_AGENT" => {
            return Ok(header(&name[5..].replace('_', "-")));
        }
        _ => return Err(format!("%{{{name}}} is not supported in expressions: use SetEnvIf, or a Perl handler")),
    };
    Ok(ExprPart::Of(attribute))
}
