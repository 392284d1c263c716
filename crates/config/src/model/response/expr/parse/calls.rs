//! Calls of functions: `name(word)`, `replace(…)`, `sub(…)`, `%{name:word}`.

use super::super::ExprRights;
use super::super::scan::ExprScanner;
use super::super::source::DiskFact;
use super::super::tree::{ExprFunction, Word};
use super::{ExprParser, names};

impl ExprParser<'_, '_> {
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
        let substitution = self.flagged()?;
        if substitution.by.is_none() {
            return Err(start.wrong("expected a substitution such as s/x/y/"));
        }
        self.close(",")?;
        let word = self.word()?;
        if has_parentheses {
            self.close(")")?;
        }
        Ok(Word::Sub(Box::new(substitution), Box::new(word)))
    }

    /// The function with this name. An unknown name is an error, because a condition must not change its meaning.
    pub(super) fn function(&mut self, name: &str, start: &ExprScanner<'_>) -> Result<ExprFunction, String> {
        // As in mod_include, pages have a short name for their variables.
        let is_of_page = self.rights == ExprRights::OfPage && name.eq_ignore_ascii_case("v");
        let name = if is_of_page { "reqenv" } else { name };
        let function =
            names::function(name).ok_or_else(|| start.wrong(&format!("the function {name} does not exist")))?;
        self.reads_response |= matches!(function, ExprFunction::Response);
        if let ExprFunction::Disk(fact) = &function {
            if self.rights == ExprRights::OfPage {
                return Err(start.wrong(&format!("the function {name} is not allowed in pages")));
            }
            if self.budget.is_of_htaccess() && *fact == DiskFact::File {
                return Err(start.wrong("the function file is not allowed in .htaccess files"));
            }
            self.asks = true;
            self.budget.spend(1 << 10)?;
        }
        Ok(function)
    }
}
