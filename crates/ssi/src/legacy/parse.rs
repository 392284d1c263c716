//! Parser of legacy expressions.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::tokens::{Token, tokens};
use super::{Invalid, LegacyExpr, Node, Operator};

/// Maximum nesting of parentheses and negations.
const MAX_DEPTH: u32 = 50;

/// Parses a whole expression.
pub fn parse(text: &[u8]) -> Result<LegacyExpr, Invalid> {
    let tokens = tokens(text)?;
    let patterns = tokens.iter().filter(|token| matches!(token, Token::Pattern(_))).count();
    if tokens.is_empty() {
        return Ok(LegacyExpr { root: None, patterns });
    }
    let mut reader = TokenReader { tokens: tokens.into_iter().peekable(), depth: 0 };
    let root = reader.expression()?;
    // Only a closing parenthesis can follow, which has no opening one.
    if reader.tokens.next().is_some() { Err(Invalid) } else { Ok(LegacyExpr { root: Some(root), patterns }) }
}

struct TokenReader {
    tokens: Peekable<IntoIter<Token>>,
    depth: u32,
}

impl TokenReader {
    /// An expression up to its end, or to a closing parenthesis.
    fn expression(&mut self) -> Result<Node, Invalid> {
        let (mut parts, mut operators) = (vec![Some(self.part()?)], Vec::new());
        while let Some(both) = self.tokens.next_if(|token| matches!(token, Token::And | Token::Or)) {
            operators.push(both == Token::And);
            let is_over = matches!(self.tokens.peek(), None | Some(Token::Close));
            parts.push(if is_over { None } else { Some(self.part()?) });
        }
        match self.tokens.peek() {
            None | Some(Token::Close) => {}
            Some(_) => return Err(Invalid),
        }
        let mut node = parts.pop().flatten();
        while let (Some(Some(left)), Some(both)) = (parts.pop(), operators.pop()) {
            node = Some(Node::Logic { both, left: Box::new(left), right: node.map(Box::new) });
        }
        node.ok_or(Invalid)
    }

    fn part(&mut self) -> Result<Node, Invalid> {
        match self.tokens.next().ok_or(Invalid)? {
            Token::Word(text) => {
                let text = self.words(text);
                self.comparison(text)
            }
            Token::Not => {
                let inner = self.deeper(TokenReader::operand)?;
                Ok(Node::Not(inner.map(Box::new)))
            }
            Token::Open => self.group(),
            Token::Access => Ok(Node::Accessible(self.string())),
            Token::Pattern(_) | Token::And | Token::Or | Token::Close | Token::Compare(_) => Err(Invalid),
        }
    }

    fn deeper<T>(&mut self, read: fn(&mut TokenReader) -> Result<T, Invalid>) -> Result<T, Invalid> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Invalid);
        }
        let node = read(self)?;
        self.depth -= 1;
        Ok(node)
    }

    /// The operand of `!`: it is no comparison, and may be missing at the end.
    fn operand(&mut self) -> Result<Option<Node>, Invalid> {
        match self.tokens.peek() {
            None => Ok(None),
            Some(Token::Word(_)) => Ok(self.string().map(Node::Text)),
            Some(_) => self.part().map(Some),
        }
    }

    fn group(&mut self) -> Result<Node, Invalid> {
        if self.tokens.next_if_eq(&Token::Close).is_some() {
            return Ok(Node::Group(None));
        }
        if self.tokens.peek().is_none() {
            return Ok(Node::Incomplete);
        }
        let inner = self.deeper(TokenReader::expression)?;
        match self.tokens.next() {
            Some(Token::Close) => Ok(Node::Group(Some(Box::new(inner)))),
            _ => Ok(Node::Incomplete),
        }
    }

    fn comparison(&mut self, left: Vec<u8>) -> Result<Node, Invalid> {
        let Some(Token::Compare(operator)) = self.tokens.next_if(|token| matches!(token, Token::Compare(_))) else {
            return Ok(Node::Text(left));
        };
        match self.tokens.peek() {
            Some(Token::Word(_)) => Ok(Node::Compare(left, operator, self.string())),
            Some(Token::Pattern(_)) if matches!(operator, Operator::Equal | Operator::Unequal) => {
                let Some(Token::Pattern(pattern)) = self.tokens.next() else { return Err(Invalid) };
                Ok(Node::Matches { text: left, pattern, negated: operator == Operator::Unequal })
            }
            Some(Token::Not | Token::Open | Token::Access) => self.part().map(|_| Node::Incomplete),
            None | Some(Token::Close) => Ok(Node::Compare(left, operator, None)),
            Some(_) => Err(Invalid),
        }
    }

    /// The words at this position, with a blank between them.
    fn string(&mut self) -> Option<Vec<u8>> {
        match self.tokens.next_if(|token| matches!(token, Token::Word(_))) {
            Some(Token::Word(text)) => Some(self.words(text)),
            _ => None,
        }
    }

    fn words(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        while let Some(Token::Word(more)) = self.tokens.next_if(|token| matches!(token, Token::Word(_))) {
            if !text.is_empty() {
                text.push(b' ');
            }
            text.extend(more);
        }
        text
    }
}
