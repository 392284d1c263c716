//! Lists of words: `{ 'a', 'b' }`, and the functions `split` and `join`.

use super::super::tree::{List, Word};
use super::ExprParser;

impl ExprParser<'_, '_> {
    pub(super) fn list(&mut self) -> Result<List, String> {
        self.deeper(|parser| {
            if parser.scan.take("{") {
                let words = parser.words()?;
                parser.close("}")?;
                return Ok(List::Words(words));
            }
            if parser.scan.take("(") {
                let list = parser.list()?;
                parser.close(")")?;
                return Ok(list);
            }
            match parser.scan.name() {
                "split" => parser.split(),
                "" => Err(parser.scan.wrong("expected a list such as { 'a', 'b' }")),
                name => Err(parser.scan.wrong(&format!("the list function {name} does not exist"))),
            }
        })
    }

    /// `split(regex, list)`, `split(regex, word)`; the parentheses may be missing.
    fn split(&mut self) -> Result<List, String> {
        self.scan.take("split");
        let has_parentheses = self.scan.take("(");
        let separator = self.flagged()?;
        self.close(",")?;
        let is_list = self.scan.peek().starts_with('{') || self.scan.name() == "split";
        let list = if is_list { self.list()? } else { List::Words(vec![self.word()?]) };
        if has_parentheses {
            self.close(")")?;
        }
        Ok(List::Split(Box::new(separator), Box::new(list)))
    }

    /// `join(list)`, `join(list, separator)`; the parentheses may be missing.
    pub(super) fn join(&mut self) -> Result<Word, String> {
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

    /// Words with commas between them.
    pub(super) fn words(&mut self) -> Result<Vec<Word>, String> {
        let mut words = vec![self.word()?];
        while self.scan.take(",") {
            words.push(self.word()?);
        }
        Ok(words)
    }
}
