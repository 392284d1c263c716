//! The parsed form of an expression.

use super::functions::Transformation;
use super::source::{DiskFact, ExprVariable};
use crate::syntax::pattern::Pattern;
use crate::syntax::value::network::Network;

/// A condition.
#[derive(Debug, Clone)]
pub enum Node {
    /// `a || b`
    Either(Vec<Node>),
    /// `a && b`
    Both(Vec<Node>),
    /// `! a`
    Not(Box<Node>),
    /// `true`, `false`
    Constant(bool),
    /// `-z`: the word is empty.
    IsEmpty(Word),
    /// `-T`: not empty, 0, off, false or no.
    IsTrue(Word),
    /// `-d`, `-f`, …: a test of a file.
    Disk(DiskFact, Word),
    /// `-U`, `-A`: a request for the path would be answered.
    Path(Word),
    /// `-F`: a request for the file would be answered.
    File(Word),
    /// `==`, `-eq`, …
    Compare(Word, WordComparison, Word),
    /// `=~`
    Matches(Word, Pattern),
    /// `-strmatch`, `-strcmatch`, `-fnmatch`
    Glob(Word, Globbing, Word),
    /// `in`
    IsIn(Word, List),
    /// `-ipmatch`
    IsFrom(Word, Network),
    /// `-R`
    ClientIsFrom(Network),
}

/// How two words are compared, and which results hold.
#[derive(Debug, Clone, Copy)]
pub struct WordComparison {
    /// Type of the operands.
    pub kind: Comparing,
    /// Whether a result satisfies the operator.
    pub is: fn(std::cmp::Ordering) -> bool,
}

/// Type of the operands of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparing {
    /// Texts by their bytes.
    Texts,
    /// The integers at the start of the texts.
    Numbers,
    /// `SSLRequire`: the longer text is greater; texts of equal length by their bytes.
    LengthsFirst,
}

/// The meaning of wildcards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Globbing {
    /// `-fnmatch`: wildcards match no slash.
    pub keeps_slashes: bool,
    /// `-strcmatch`: upper and lower case are equal.
    pub folds_case: bool,
}

/// A text that is known when the expression is evaluated.
#[derive(Debug, Clone)]
pub enum Word {
    /// A constant.
    Text(String),
    /// `%{NAME}`
    Variable(ExprVariable),
    /// `$1`: a group of the last match.
    Group(usize),
    /// `a . b`, and the parts of a text with variables.
    Concat(Vec<Word>),
    /// `function(word)`, `%{function:word}`
    Call(ExprFunction, Box<Word>),
    /// `replace(word, from, to)`
    Replace(Box<[Word; 3]>),
    /// `sub(s/…/…/, word)`
    Sub(Box<Substitution>, Box<Word>),
    /// `join(list, separator)`
    Join(Box<List>, Option<Box<Word>>),
    /// `%{:condition:}`: `true` or `false`.
    Condition(Box<Node>),
}

/// A function with one argument.
#[derive(Debug, Clone)]
pub enum ExprFunction {
    /// A header of the request, which is added to `Vary` if the value is true.
    Request(bool),
    /// A header of the response.
    Response,
    /// A variable of the request.
    RequestEnv,
    /// A note of the request.
    Note,
    /// A variable of the server's environment.
    OsEnv,
    /// A note, a variable of the request, or one of the server's environment.
    Env,
    /// A variable of mod_ssl.
    Tls,
    /// A fact about a file.
    Disk(DiskFact),
    /// A function of the argument alone.
    Pure(Transformation),
}

/// `s/pattern/text/flags`, or `m/pattern/flags` in `split`.
#[derive(Debug, Clone)]
pub struct Substitution {
    pub pattern: Pattern,
    /// The replacement; `None` for `m/…/`.
    pub by: Option<Word>,
    /// Flag `g`: all matches are replaced.
    pub all: bool,
}

#[derive(Debug, Clone)]
pub enum List {
    Words(Vec<Word>),
    Split(Box<Substitution>, Box<List>),
}
