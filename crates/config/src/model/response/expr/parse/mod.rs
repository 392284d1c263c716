//! Parser of expressions, by recursive descent.

mod names;
mod patterns;

use super::scan::ExprScanner;
use super::tree::{ExprFunction, Globbing, List, Node, Word, WordComparison};
use super::{ExprRights, ExprVariable};
use crate::syntax::pattern::Budget;
use crate::syntax::value::network::Network;

/// Maximum nesting of parentheses, negations and functions.
const DEEPEST: u32 = 50;

/// A parsed expression.
pub struct Parsed<T> {
    pub root: T,
    /// Whether the value may depend on questions.
    pub asks: bool,
    /// Whether the expression uses `%{REMOTE_USER}`.
    pub wants_user: bool,
}

/// Parses a whole condition.
pub fn condition(source: &str, budget: &mut Budget, rights: ExprRights) -> Result<Parsed<Node>, String> {
    let mut parser = ExprParser::of(source, budget, rights);
    let root = parser.condition()?;
    match parser.scan.peek() {
        "" => Ok(Parsed { root, asks: parser.asks, wants_user: parser.wants_user }),
        _ => Err(parser.scan.wrong("expected &&, || or the end")),
    }
}

/// Parses a text with variables.
pub fn text(source: &str, budget: &mut Budget) -> Result<Parsed<Word>, String> {
    let mut parser = ExprParser::of(source, budget, ExprRights::OfDirective);
    let root = parser.parts_until(None)?;
    Ok(Parsed { root, asks: parser.asks, wants_user: parser.wants_user })
}

struct ExprParser<'a, 'b> {
    scan: ExprScanner<'a>,
    depth: u32,
    budget: &'b mut Budget,
    rights: ExprRights,
    asks: bool,
    wants_user: bool,
}

/// A part whose kind only the following operator shows.
enum Operand {
    Condition(Node),
    Word(Word),
}

impl<'a, 'b> ExprParser<'a, 'b> {
    fn of(source: &'a str, budget: &'b mut Budget, rights: ExprRights) -> ExprParser<'a, 'b> {
        ExprParser { scan: ExprScanner::of(source), depth: 0, budget, rights, asks: false, wants_user: false }
    }

    fn condition(&mut self) -> Result<Node, String> {
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
    fn either(&mut self) -> Result<Operand, String> {
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

    /// Runs a part that may contain itself.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the expression has more than {DEEPEST} parentheses or functions in one another"));
        }
        let done = part(self);
        self.depth -= 1;
        done
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

    fn close(&mut self, sign: &str) -> Result<(), String> {
        match self.scan.take(sign) {
            true => Ok(()),
            false => Err(self.scan.wrong(&format!("expected \"{sign}\""))),
        }
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

    fn comparison(&mut self, left: Word, comparison: WordComparison) -> Result<Node, String> {
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

    fn list(&mut self) -> Result<List, String> {
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

    /// Words with commas between them.
    fn words(&mut self) -> Result<Vec<Word>, String> {
        let mut words = vec![self.word()?];
        while self.scan.take(",") {
            words.push(self.word()?);
        }
        Ok(words)
    }

    /// A word, and those that `.` appends.
    fn word(&mut self) -> Result<Word, String> {
        let word = self.deeper(ExprParser::single_word)?;
        self.followed(word)
    }

    fn followed(&mut self, word: Word) -> Result<Word, String> {
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
                let word = names::variable(name)
                    .ok_or_else(|| start.wrong(&format!("the variable %{{{name}}} does not exist")))?;
                self.wants_user |= matches!(word, Word::Variable(ExprVariable::RemoteUser));
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
    fn parts_until(&mut self, end: Option<char>) -> Result<Word, String> {
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

    /// The function with this name. An unknown name is an error, because a condition must not change its meaning.
    fn function(&mut self, name: &str, start: &ExprScanner<'_>) -> Result<ExprFunction, String> {
        let function =
            names::function(name).ok_or_else(|| start.wrong(&format!("the function {name} does not exist")))?;
        if let ExprFunction::Disk(fact) = &function {
            if self.rights == ExprRights::OfPage {
                return Err(start.wrong(&format!("the function {name} is not allowed in pages")));
            }
            if self.budget.is_of_htaccess() && *fact == super::DiskFact::File {
                return Err(start.wrong("the function file is not allowed in .htaccess files"));
            }
            self.asks = true;
            self.budget.spend(1 << 10)?;
        }
        Ok(function)
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
