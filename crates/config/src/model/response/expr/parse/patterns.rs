//! Regular expressions within expressions: delimiters, flags and replacements.

use super::super::tree::Substitution;
use super::ExprParser;
use crate::syntax::pattern::{Case, Pattern};

/// Characters that may delimit a pattern behind `m` or `s`.
const DELIMITERS: &str = "/#$%^|?!'\",;:._-";

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

    /// `/…/flags`, `m#…#flags` or `s#…#…#flags`
    pub(super) fn flagged(&mut self) -> Result<Substitution, String> {
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
        Ok(Substitution { pattern, by, all })
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
}
