//! Conditions of expressions: `&&`, `||`, `!`, comparisons and tests.

use super::super::ExprRights;
use super::super::tree::{Comparing, Globbing, Node, Word, WordComparison};
use super::{ExprParser, Operand, names};
use crate::syntax::value::network::Network;

impl ExprParser<'_, '_> {
    pub(super) fn condition(&mut self) -> Result<Node, String> {
        let operand = self.either()?;
        self.must_be_condition(operand)
    }

    fn must_be_condition(&self, operand: Operand) -> Result<Node, String> {
        match operand {
            Operand::Condition(node) => Ok(node),
            Operand::Word(_) => Err(self.scan.wrong("expected a comparison such as == or =~")),
        }
    }

    /// Parses with the operators of the lowest precedence.
    pub(super) fn either(&mut self) -> Result<Operand, String> {
        self.chain(&["||"], "or", ExprParser::both, Node::Either)
    }

    fn both(&mut self) -> Result<Operand, String> {
        self.chain(&["&&"], "and", ExprParser::operand, Node::Both)
    }

    fn chain(
        &mut self,
        signs: &[&str],
        word: &str,
        part: fn(&mut Self) -> Result<Operand, String>,
        made: fn(Vec<Node>) -> Node,
    ) -> Result<Operand, String> {
        let first = part(self)?;
        if !self.takes(signs, word) {
            return Ok(first);
        }
        let mut parts = vec![self.must_be_condition(first)?];
        loop {
            let next = part(self)?;
            parts.push(self.must_be_condition(next)?);
            if !self.takes(signs, word) {
                return Ok(Operand::Condition(made(parts)));
            }
        }
    }

    fn takes(&mut self, signs: &[&str], word: &str) -> bool {
        signs.iter().any(|sign| self.scan.take(sign)) || self.takes_name(word)
    }

    fn takes_name(&mut self, word: &str) -> bool {
        self.scan.name() == word && self.scan.take(word)
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.deeper(|parser| {
            let rest = parser.scan.peek();
            if rest.starts_with('!') && !rest.starts_with("!=") && !rest.starts_with("!~")
                || parser.scan.name() == "not"
            {
                parser.scan.take(if rest.starts_with('!') { "!" } else { "not" });
                let negated = parser.operand()?;
                return Ok(Operand::Condition(Node::Not(Box::new(parser.must_be_condition(negated)?))));
            }
            for (word, value) in [("true", true), ("false", false)] {
                if parser.takes_name(word) {
                    return Ok(Operand::Condition(Node::Constant(value)));
                }
            }
            if let Some(name) = parser.scan.dashed() {
                return parser.unary(name).map(Operand::Condition);
            }
            let left = match parser.scan.take("(") {
                true => match parser.parenthesis()? {
                    Operand::Condition(node) => return Ok(Operand::Condition(node)),
                    Operand::Word(word) => parser.followed(word)?,
                },
                false => parser.word()?,
            };
            parser.compared(left)
        })
    }

    /// Parses up to the closing parenthesis.
    fn parenthesis(&mut self) -> Result<Operand, String> {
        let inner = self.either()?;
        self.close(")")?;
        Ok(inner)
    }

    fn unary(&mut self, name: &str) -> Result<Node, String> {
        self.scan.take("-");
        if name.len() != 1 {
            return Err(self.scan.wrong("expected a word or an operator such as -d"));
        }
        let start = self.scan.clone();
        self.scan.take(name);
        if name == "R" {
            return Ok(Node::ClientIsFrom(self.network()?));
        }
        let made = names::unary(name).ok_or_else(|| start.wrong(&format!("the operator -{name} does not exist")))?;
        let word = self.word()?;
        let node = made(word);
        self.note_test(&node)?;
        Ok(node)
    }

    fn note_test(&mut self, node: &Node) -> Result<(), String> {
        match node {
            Node::Disk(..) if self.rights == ExprRights::OfPage => {
                Err(self.scan.wrong("tests of files are not allowed in pages"))
            }
            Node::Disk(..) | Node::Path(_) | Node::File(_) => {
                self.asks = true;
                // A file test costs more than a comparison.
                self.budget.spend(1 << 10)
            }
            _ => Ok(()),
        }
    }

    fn compared(&mut self, left: Word) -> Result<Operand, String> {
        let start = self.scan.clone();
        let node = match self.operator() {
            None => return Ok(Operand::Word(left)),
            Some("=~") => Node::Matches(left, self.regex()?),
            Some("!~") => Node::Not(Box::new(Node::Matches(left, self.regex()?))),
            Some("in") => Node::IsIn(left, self.list()?),
            Some(name) => match (names::comparison(name), names::globbing(name)) {
                (Some(comparison), _) => self.comparison(left, comparison)?,
                (None, Some(globbing)) => self.glob(left, globbing)?,
                _ if name == "ipmatch" => Node::IsFrom(left, self.network()?),
                _ => return Err(start.wrong("such an operator does not exist")),
            },
        };
        Ok(Operand::Condition(node))
    }

    fn comparison(&mut self, left: Word, mut comparison: WordComparison) -> Result<Node, String> {
        if self.rights == ExprRights::OfSslRequire {
            comparison.kind = Comparing::LengthsFirst;
        }
        Ok(Node::Compare(left, comparison, self.word()?))
    }

    fn glob(&mut self, left: Word, globbing: Globbing) -> Result<Node, String> {
        self.budget.spend(256)?;
        Ok(Node::Glob(left, globbing, self.word()?))
    }

    /// Consumes an operator between words. Operators with letters are returned in lower case without `-`.
    fn operator(&mut self) -> Option<&'static str> {
        let signs = ["==", "=~", "!=", "!~", "<=", ">=", "=", "<", ">"];
        if let Some(sign) = signs.into_iter().find(|sign| self.scan.take(sign)) {
            return Some(sign);
        }
        if let Some(name) = self.scan.dashed() {
            let known = names::binary(&name.to_ascii_lowercase()).unwrap_or("?");
            self.scan.take("-");
            self.scan.take(name);
            return Some(known);
        }
        // Without `-`, only the operators of mod_ssl's older language.
        let name = self.scan.name();
        let known = names::binary(name).filter(|name| name.len() == 2)?;
        self.scan.take(known);
        Some(known)
    }

    fn network(&mut self) -> Result<Network, String> {
        self.scan.peek();
        let start = self.scan.clone();
        let Word::Text(text) = self.word()? else {
            return Err(start.wrong("expected a network in quotation marks without variables"));
        };
        Network::parse(&text).unwrap_or_else(|| Err(format!("expected an address or a network, got \"{text}\"")))
    }
}
