//! Evaluation of expressions. Time and memory are counted by [`work`]: no text is longer than its limit.

use std::cmp::Ordering;

use super::functions::{replace, replaced_length};
use super::glob;
use super::source::{ExprAnswer, ExprFailure, ExprQuestion, ExprSource, LookAhead};
use super::tree::{Comparing, ExprFunction, Globbing, List, Node, Substitution, Word};
use crate::syntax::work;

/// Maximum number of texts of a list.
const MAX_LIST_TEXTS: usize = 10_000;

/// Result of a part of an expression.
type Evaluated<T> = Result<T, ExprFailure>;

/// The state of an evaluation.
pub struct Evaluation<'a> {
    source: &'a dyn ExprSource,
    /// Groups of the last pattern with groups, `$0` first; empty if it did not match.
    pub groups: Vec<String>,
    /// Headers of the request that were used, for `Vary`.
    pub vary: Vec<String>,
}

impl<'a> Evaluation<'a> {
    pub fn of(source: &'a dyn ExprSource) -> Evaluation<'a> {
        Evaluation { source, groups: Vec::new(), vary: Vec::new() }
    }

    pub fn holds(&mut self, node: &Node) -> Evaluated<bool> {
        if !work::spend(work::RULE) {
            return Err(too_long());
        }
        Ok(match node {
            Node::Either(parts) => {
                for part in parts {
                    if self.holds(part)? {
                        return Ok(true);
                    }
                }
                false
            }
            Node::Both(parts) => {
                for part in parts {
                    if !self.holds(part)? {
                        return Ok(false);
                    }
                }
                true
            }
            Node::Not(part) => !self.holds(part)?,
            Node::Constant(value) => *value,
            Node::IsEmpty(word) => self.text(word)?.is_empty(),
            Node::IsTrue(word) => {
                let text = self.text(word)?.to_ascii_lowercase();
                !matches!(text.as_str(), "" | "0" | "off" | "false" | "no")
            }
            Node::Disk(fact, word) => {
                let name = self.text(word)?;
                self.is_so(ExprQuestion::Disk(*fact, name))?
            }
            Node::Path(word) => {
                let path = self.text(word)?;
                self.is_so(ExprQuestion::LookAhead(LookAhead::Path(path)))?
            }
            Node::File(word) => {
                let file = self.text(word)?;
                self.is_so(ExprQuestion::LookAhead(LookAhead::File(file)))?
            }
            Node::Compare(left, comparison, right) => {
                let (left, right) = (self.text(left)?, self.text(right)?);
                (comparison.is)(compare(&left, &right, comparison.kind))
            }
            Node::Matches(word, pattern) => {
                let text = self.text(word)?;
                let found = pattern.find(&text);
                // As in httpd, a pattern without groups leaves those of the last one.
                if pattern.has_groups() {
                    self.groups = found.as_ref().map(|groups| groups.all()).unwrap_or_default();
                    work::spend(self.groups.iter().map(String::len).sum());
                }
                found.is_some()
            }
            Node::Glob(word, globbing, pattern) => {
                let (text, pattern) = (self.text(word)?, self.text(pattern)?);
                glob_within_limits(&pattern, &text, *globbing)?
            }
            Node::IsIn(word, list) => {
                let (list, text) = (self.list(list)?, self.text(word)?);
                list.contains(&text)
            }
            Node::IsFrom(word, network) => self.text(word)?.parse().is_ok_and(|address| network.contains(address)),
            Node::ClientIsFrom(network) => self.source.client().is_some_and(|client| network.contains(client)),
        })
    }

    pub fn text(&mut self, word: &Word) -> Evaluated<String> {
        let text = match word {
            Word::Text(text) => text.clone(),
            Word::Variable(variable) => self.source.variable(*variable)?,
            Word::Group(number) => self.groups.get(*number).cloned().unwrap_or_default(),
            Word::Concat(parts) => return self.joined(parts),
            Word::Call(function, argument) => {
                let argument = self.text(argument)?;
                self.call(function, argument)?
            }
            Word::Replace(words) => {
                let [text, from, to] = &**words;
                let (text, from, to) = (self.text(text)?, self.text(from)?, self.text(to)?);
                fits(replaced_length(&text, &from, &to))?;
                replace(&text, &from, &to)
            }
            Word::Sub(how, word) => {
                let text = self.text(word)?;
                self.substituted(how, &text)?
            }
            Word::Join(list, separator) => {
                let list = self.list(list)?;
                let separator = separator.as_ref().map_or(Ok(String::new()), |word| self.text(word))?;
                fits(list.iter().map(|text| text.len() + separator.len()).sum())?;
                list.join(&separator)
            }
            Word::Condition(node) => self.holds(node)?.to_string(),
        };
        fits(text.len())?;
        Ok(text)
    }

    fn joined(&mut self, parts: &[Word]) -> Evaluated<String> {
        let mut whole = String::new();
        for part in parts {
            let piece = self.text(part)?;
            if !work::push(&mut whole, &piece) {
                return Err(too_long());
            }
        }
        Ok(whole)
    }

    fn call(&mut self, function: &ExprFunction, argument: String) -> Evaluated<String> {
        let source = self.source;
        let value = match function {
            ExprFunction::Request(varies) => {
                let name = argument.to_ascii_lowercase();
                let is_new = || !self.vary.iter().any(|known| known.eq_ignore_ascii_case(&argument));
                // A response always depends on its host (RFC 9110, section 12.5.5).
                if *varies && name != "host" && is_new() {
                    self.vary.push(argument.clone());
                }
                source.request_header(&name)
            }
            ExprFunction::Response => source.response_header(&argument.to_ascii_lowercase()),
            ExprFunction::RequestEnv => source.request_env(&argument),
            ExprFunction::Note => source.note(&argument),
            ExprFunction::OsEnv => source.os_env(&argument),
            ExprFunction::Env => {
                let own = source.note(&argument).or_else(|| source.request_env(&argument));
                own.or_else(|| source.os_env(&argument))
            }
            ExprFunction::Tls => source.tls(&argument),
            ExprFunction::Disk(fact) => {
                let question = ExprQuestion::Disk(*fact, argument);
                Some(answer(source, question)?)
            }
            ExprFunction::Pure(function) => {
                // The result of `escape` is up to three times as long.
                fits(argument.len() * 3)?;
                Some(function(&argument))
            }
        };
        Ok(value.unwrap_or_default())
    }

    fn is_so(&self, question: ExprQuestion) -> Evaluated<bool> {
        match self.source.answer(&question) {
            Some(ExprAnswer::Holds(holds)) => Ok(holds),
            Some(ExprAnswer::Text(_)) => Ok(false),
            // An error, not false: `!` would make it true.
            Some(ExprAnswer::Failed(why)) => Err(ExprFailure::Failed(why)),
            None => Err(ExprFailure::Unknown(question)),
        }
    }

    fn list(&mut self, list: &List) -> Evaluated<Vec<String>> {
        match list {
            List::Words(words) => words.iter().map(|word| self.text(word)).collect(),
            List::Split(how, list) => {
                let mut pieces = Vec::new();
                for text in self.list(list)? {
                    self.pieces(how, text, true, &mut pieces)?;
                }
                Ok(pieces)
            }
        }
    }

    fn substituted(&mut self, how: &Substitution, text: &str) -> Evaluated<String> {
        let mut pieces = Vec::new();
        self.pieces(how, text.to_owned(), how.all, &mut pieces)?;
        fits(pieces.iter().map(String::len).sum())?;
        Ok(pieces.concat())
    }

    /// Splits a text behind each match, or only the first, and replaces the matches.
    fn pieces(&mut self, how: &Substitution, text: String, all: bool, pieces: &mut Vec<String>) -> Evaluated<()> {
        let mut rest = text;
        let mut skipped = String::new();
        while !rest.is_empty() {
            fits(rest.len())?;
            let Some(found) = how.pattern.cut(&rest) else { break };
            if pieces.len() >= MAX_LIST_TEXTS {
                return Err(too_long());
            }
            let is_empty = found.after.len() == rest.len();
            self.groups = found.groups;
            let by = how.by.as_ref().map_or(Ok(String::new()), |word| self.text(word))?;
            fits(skipped.len() + found.before.len() + by.len())?;
            pieces.push(std::mem::take(&mut skipped) + &found.before + &by);
            rest = found.after;
            if !all {
                break;
            }
            // An empty match steps over a character.
            if let Some(first) = rest.chars().next().filter(|_| is_empty) {
                skipped.push(first);
                rest.drain(..first.len_utf8());
            }
        }
        if !rest.is_empty() || !skipped.is_empty() {
            pieces.push(skipped + &rest);
        }
        Ok(())
    }
}

fn answer(source: &dyn ExprSource, question: ExprQuestion) -> Evaluated<String> {
    match source.answer(&question) {
        Some(ExprAnswer::Text(text)) => Ok(text),
        Some(ExprAnswer::Holds(holds)) => Ok(holds.to_string()),
        Some(ExprAnswer::Failed(why)) => Err(ExprFailure::Failed(why)),
        None => Err(ExprFailure::Unknown(question)),
    }
}

fn compare(left: &str, right: &str, kind: Comparing) -> Ordering {
    match kind {
        Comparing::Numbers => number(left).cmp(&number(right)),
        Comparing::Texts => left.cmp(right),
        Comparing::LengthsFirst => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
    }
}

/// The number at the start of a text, saturating, or 0: as httpd's `apr_atoi64`.
pub fn number(text: &str) -> i64 {
    let text = text.trim_ascii_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.bytes().take_while(u8::is_ascii_digit);
    digits.fold(0, |number: i64, digit| number.saturating_mul(10).saturating_add(sign * i64::from(digit - b'0')))
}

fn glob_within_limits(pattern: &str, text: &str, globbing: Globbing) -> Evaluated<bool> {
    /// Characters compared for each byte of work.
    const PER_BYTE: usize = 16;
    let steps = if pattern.contains('*') { text.len().saturating_mul(pattern.len()) } else { text.len() };
    match work::spend(steps / PER_BYTE + 1) {
        true => Ok(glob::matches(pattern, text, globbing)),
        false => Err(too_long()),
    }
}

/// Counts a text of this length. An error if it, or all work, is too much.
fn fits(length: usize) -> Evaluated<()> {
    match work::fits(length) {
        true => Ok(()),
        false => Err(too_long()),
    }
}

fn too_long() -> ExprFailure {
    ExprFailure::Failed("the expression exceeds the limits of work for one request".to_owned())
}
