//! Expressions of `SSILegacyExprParser on`: the language of `if` before httpd 2.4.
//!
//! ```text
//!   expression = part [ ("&&" | "||") expression ]
//!   part       = "!" part | "(" [expression] ")" | -A string | string [ ("=" | "==" | "!=") (string | /regex/) ]
//!              | string ("<" | "<=" | ">" | ">=") string
//!   string     = word { word }
//! ```
//!
//! As in httpd 2.4, an operator takes all that follows as its right side, whatever its manual says of priorities, and
//! what is not evaluated may be incomplete.

mod parse;
mod tokens;

/// Maximum number of tokens of an expression.
pub const MAX_TOKENS: usize = 1000;

/// A parsed expression.
#[derive(Debug)]
pub struct LegacyExpr {
    root: Option<Node>,
    /// Number of regular expressions. Until all have been evaluated, the right side of an operator is, too.
    patterns: usize,
}

#[derive(Debug)]
enum Node {
    Text(Vec<u8>),
    Logic {
        both: bool,
        left: Box<Node>,
        right: Option<Box<Node>>,
    },
    Compare(Vec<u8>, Operator, Option<Vec<u8>>),
    Matches {
        text: Vec<u8>,
        pattern: Vec<u8>,
        negated: bool,
    },
    Not(Option<Box<Node>>),
    Group(Option<Box<Node>>),
    Accessible(Option<Vec<u8>>),
    /// An error if it is evaluated.
    Incomplete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The expression cannot be parsed or evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid;

/// Facts about the request that the evaluation of an expression needs.
pub trait LegacySource {
    /// The text with its variables replaced.
    fn substituted(&mut self, text: &[u8]) -> Result<Vec<u8>, Invalid>;
    /// Whether the regular expression matches; its groups are stored for later elements.
    fn matches(&mut self, pattern: &[u8], text: &[u8]) -> Result<bool, Invalid>;
    /// Whether the client may access this URL.
    fn is_accessible(&mut self, url: &[u8]) -> Result<bool, Invalid>;
}

impl LegacyExpr {
    /// The syntax of httpd before 2.4 (`SSILegacyExprParser`).
    pub fn parse(text: &[u8]) -> Result<LegacyExpr, Invalid> {
        parse::parse(text)
    }

    /// URLs after `-A`, before substitution.
    pub fn urls(&self) -> Vec<&[u8]> {
        let (mut urls, mut open) = (Vec::new(), Vec::from_iter(&self.root));
        while let Some(node) = open.pop() {
            match node {
                Node::Logic { left, right, .. } => open.extend([left].into_iter().chain(right).map(|node| &**node)),
                Node::Not(Some(inner)) | Node::Group(Some(inner)) => open.push(inner),
                Node::Accessible(Some(url)) => urls.push(url.as_slice()),
                _ => {}
            }
        }
        urls
    }

    /// Whether the expression is true.
    pub fn holds(&self, source: &mut dyn LegacySource) -> Result<bool, Invalid> {
        let mut patterns = self.patterns;
        self.root.as_ref().map_or(Ok(false), |root| root.holds(source, &mut patterns))
    }
}

impl Node {
    fn holds(&self, source: &mut dyn LegacySource, patterns: &mut usize) -> Result<bool, Invalid> {
        match self {
            Node::Text(text) => Ok(!source.substituted(text)?.is_empty()),
            Node::Logic { both, left, right } => {
                let right = right.as_ref().ok_or(Invalid)?;
                let first = left.holds(source, patterns)?;
                if *patterns == 0 && first != *both {
                    return Ok(first);
                }
                let second = right.holds(source, patterns)?;
                Ok(if *both { first && second } else { first || second })
            }
            Node::Compare(left, operator, right) => {
                let right = right.as_ref().ok_or(Invalid)?;
                let order = source.substituted(left)?.cmp(&source.substituted(right)?);
                Ok(match operator {
                    Operator::Equal => order.is_eq(),
                    Operator::Unequal => order.is_ne(),
                    Operator::Less => order.is_lt(),
                    Operator::LessOrEqual => order.is_le(),
                    Operator::Greater => order.is_gt(),
                    Operator::GreaterOrEqual => order.is_ge(),
                })
            }
            Node::Matches { text, pattern, negated } => {
                let (text, pattern) = (source.substituted(text)?, source.substituted(pattern)?);
                *patterns = patterns.saturating_sub(1);
                Ok(source.matches(&pattern, &text)? != *negated)
            }
            Node::Not(inner) => Ok(!inner.as_ref().map_or(Ok(true), |inner| inner.holds(source, patterns))?),
            Node::Group(inner) => inner.as_ref().map_or(Ok(true), |inner| inner.holds(source, patterns)),
            Node::Accessible(url) => {
                let url = source.substituted(url.as_ref().ok_or(Invalid)?)?;
                source.is_accessible(&url)
            }
            Node::Incomplete => Err(Invalid),
        }
    }
}

#[cfg(test)]
mod tests;
