//! Parser of expressions, by recursive descent. Each file holds one kind of part.

mod calls;
mod conditions;
mod lists;
mod names;
mod patterns;
mod words;

use super::ExprRights;
use super::scan::ExprScanner;
use super::tree::{Node, Word};
use crate::syntax::pattern::Budget;

/// Maximum nesting of parentheses, negations and functions.
const MAX_DEPTH: u32 = 50;

/// A tree, with facts about all its variables and functions.
pub struct Parsed<T> {
    pub root: T,
    /// Whether the value may depend on questions.
    pub asks: bool,
    /// Whether the expression uses `%{REMOTE_USER}`.
    pub wants_user: bool,
    /// Whether the value may depend on the response.
    pub reads_response: bool,
}

pub fn condition(source: &str, budget: &mut Budget, rights: ExprRights) -> Result<Parsed<Node>, String> {
    let mut parser = ExprParser::of(source, budget, rights);
    let root = parser.condition()?;
    match parser.scan.peek() {
        "" => Ok(parser.parsed(root)),
        _ => Err(parser.scan.wrong("expected &&, || or the end")),
    }
}

/// Parses a text with variables.
pub fn text(source: &str, budget: &mut Budget) -> Result<Parsed<Word>, String> {
    let mut parser = ExprParser::of(source, budget, ExprRights::OfDirective);
    let root = parser.parts_until(None)?;
    Ok(parser.parsed(root))
}

struct ExprParser<'a, 'b> {
    scan: ExprScanner<'a>,
    depth: u32,
    budget: &'b mut Budget,
    rights: ExprRights,
    asks: bool,
    wants_user: bool,
    reads_response: bool,
}

/// An operand whose type depends on the operator that follows.
enum Operand {
    Condition(Node),
    Word(Word),
}

impl<'a, 'b> ExprParser<'a, 'b> {
    fn of(source: &'a str, budget: &'b mut Budget, rights: ExprRights) -> ExprParser<'a, 'b> {
        let scan = ExprScanner::of(source);
        ExprParser { scan, depth: 0, budget, rights, asks: false, wants_user: false, reads_response: false }
    }

    fn parsed<T>(&self, root: T) -> Parsed<T> {
        Parsed { root, asks: self.asks, wants_user: self.wants_user, reads_response: self.reads_response }
    }

    /// Runs a part that may contain itself.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!(
                "parentheses and functions are nested more than {MAX_DEPTH} deep; split the expression"
            ));
        }
        let done = part(self);
        self.depth -= 1;
        done
    }

    fn close(&mut self, sign: &str) -> Result<(), String> {
        match self.scan.take(sign) {
            true => Ok(()),
            false => Err(self.scan.wrong(&format!("expected \"{sign}\""))),
        }
    }
}
