//! Regular expressions within expressions, and the functions that take one.

use super::super::tree::{List, Substitution, Word};
use super::ExprParser;
use crate::syntax::pattern::{Case, Pattern};

/// Characters that may delimit a pattern behind `m` or `s`.
const DELIMITERS: &str = "/#$%^|?!'\",;:._-";

/// A pattern with its flags.
struct FlaggedPattern {
    pattern: Pattern,
    /// Flag `g`
    all: bool,
    /// The replacement of `s/…/…/`.
    by: Option<Word>,
}

impl ExprParser<'_, '_> {
    /// `/…/flags` or `m#…#flags`
    pub(super) fn regex(&mut self) -> Result<Pattern, String> {
        self.scan.peek();
        let start = self.scan.clone();
        let found = self.flagged()?;
        match found.by {
            None => Ok(found.pattern),
            Some(_) => Err(start.wrong("expected a pattern such as /^x/ or m#^x#")),
        }
    }

    fn flagged(&mut self) -> Result<FlaggedPattern, String> {
        let rest = self.scan.peek();
        let mut letters = rest.chars();
        let (is_substitution, mark) = match (letters.next(), letters.next()) {
            (Some('/'), _) => (false, '/'),
            (Some(kind @ ('m' | 's')), Some(mark)) if DELIMITERS.contains(mark) => (kind == 's', mark),
            _ => return Err(self.scan.wrong("expected a pattern such as /^x/ or m#^x#")),
        };
        let start = self.scan.clone();
        self.scan.rest = rest.split_once(mark).map_or("", |(_, rest)| rest);
        let Some((source, rest)) = self.scan.rest.split_once(mark) else {
            return Err(start.wrong("a pattern is not closed"));
        };
        self.scan.rest = rest;
        let by = if is_substitution { Some(self.deeper(|parser| parser.parts_until(Some(mark)))?) } else { None };
        let (pattern, all) = self.with_flags(source)?;
        Ok(FlaggedPattern { pattern, all, by })
    }

    /// Consumes the flags behind a pattern, and compiles it.
    fn with_flags(&mut self, source: &str) -> Result<(Pattern, bool), String> {
        let start = self.scan.clone();
        let (mut case, mut all, mut inline) = (Case::Exact, false, String::new());
        while let Some(flag) = self.scan.rest.chars().next().filter(char::is_ascii_alphanumeric) {
            self.scan.next();
            match flag {
                'i' => case = Case::Either,
                'g' => all = true,
                's' | 'm' => inline.push(flag),
                other => return Err(start.wrong(&format!("expected the flags i, s, m or g of a pattern, got {other}"))),
            }
        }
        let source = if inline.is_empty() { source.to_owned() } else { format!("(?{inline}){source}") };
        Ok((self.budget.compile(&source, case)?, all))
    }

    /// `function(word)`, `replace(…)`, `sub(…)`, `join(…)`
    pub(super) fn called(&mut self, name: &str) -> Result<Word, String> {
        let start = self.scan.clone();
        self.scan.take(name);
        match name {
            "sub" => return self.substitution(),
            "join" => return self.join(),
            _ => {}
        }
        if !self.scan.take("(") {
            return Err(start.wrong(&format!("expected a text in quotation marks, or {name}(…) if this is a function")));
        }
        let words = self.words()?;
        self.close(")")?;
        if name.eq_ignore_ascii_case("replace") {
            let words: Result<[Word; 3], _> = words.try_into();
            return match words {
                Ok(words) => Ok(Word::Replace(Box::new(words))),
                Err(_) => Err(start.wrong("expected replace(word, from, to)")),
            };
        }
        let function = self.function(name, &start)?;
        match <[Word; 1]>::try_from(words) {
            Ok([word]) => Ok(Word::Call(function, Box::new(word))),
            Err(_) => Err(start.wrong(&format!("expected one argument of {name}"))),
        }
    }

    /// `sub(s/…/…/, word)`; the parentheses may be missing.
    fn substitution(&mut self) -> Result<Word, String> {
        let has_parentheses = self.scan.take("(");
        self.scan.peek();
        let start = self.scan.clone();
        let FlaggedPattern { pattern, all, by } = self.flagged()?;
        if by.is_none() {
            return Err(start.wrong("expected a substitution such as s/x/y/"));
        }
        self.close(",")?;
        let word = self.word()?;
        if has_parentheses {
            self.close(")")?;
        }
        Ok(Word::Sub(Box::new(Substitution { pattern, by, all }), Box::new(word)))
    }

    /// `join(list)`, `join(list, separator)`; the parentheses may be missing.
    fn join(&mut self) -> Result<Word, String> {
        let has_parentheses = self.scan.take("(");
        let list = self.list()?;
        let separator = match self.scan.peek().starts_with(',') && (has_parentheses || self.depth == 1) {
            true => {
                self.scan.take(",");
                Some(Box::new(self.word()?))
            }
            false => None,
        };
        if has_parentheses {
            self.close(")")?;
        }
        Ok(Word::Join(Box::new(list), separator))
    }

    /// `split(regex, list)`, `split(regex, word)`; the parentheses may be missing.
    pub(super) fn split(&mut self) -> Result<List, String> {
        self.scan.take("split");
        let has_parentheses = self.scan.take("(");
        let FlaggedPattern { pattern, all, by } = self.flagged()?;
        self.close(",")?;
        let is_list = self.scan.peek().starts_with('{') || self.scan.name() == "split";
        let list = if is_list { self.list()? } else { List::Words(vec![self.word()?]) };
        if has_parentheses {
            self.close(")")?;
        }
        Ok(List::Split(Box::new(Substitution { pattern, by, all }), Box::new(list)))
    }
}
