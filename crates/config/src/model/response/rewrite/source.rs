//! Inputs of rewrite rules: variables of a request, tests of files, and groups of patterns.

use super::ahead::{Question, RuleAnswer};
use super::variable::RuleVariable;
use crate::model::response::expr::Expr;

/// Work for one rule or condition, in bytes.
pub const STEP: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "what they say")]
pub enum FileTest {
    Folder,
    File,
    /// A regular file that is not empty.
    Size,
    Link,
    Executable,
}

/// Access to a request and the file system.
pub trait RuleSource {
    /// `%{NAME}`
    fn known(&self, known: RuleVariable) -> String;
    /// `%{HTTP:name}`, with the name in lower case.
    fn header(&self, name: &str) -> String;
    /// `%{ENV:name}`
    fn variable(&self, name: &str) -> Option<String>;
    /// `%{SSL:name}`
    fn tls(&self, name: &str) -> String;
    /// The groups of an expression's last pattern, if the expression is true.
    fn found(&self, expr: &Expr) -> Option<Vec<String>>;
    /// Whether a file passes a test.
    fn file(&self, name: &str, test: FileTest) -> bool;
    /// `http://host:port` of the server, as the client used it.
    fn origin(&self) -> String;
    /// The answer to a question; `None`: the answer is not known yet, and the rules will be run again.
    fn answer(&self, question: &Question) -> Option<RuleAnswer>;
    /// The highest level of lines for `LogLevel rewrite:trace1` to `trace8`; 0: none.
    fn trace_level(&self) -> u8;
}

pub trait TemplateSource {
    /// `%{NAME}`
    fn known(&self, known: RuleVariable) -> String;
    /// `%{HTTP:name}`, with the name in lower case.
    fn header(&self, name: &str) -> String;
    /// `%{ENV:name}`
    fn variable(&self, name: &str) -> String;
    /// `%{SSL:name}`
    fn tls(&self, name: &str) -> String;
    /// Notes that the result depends on more than the rules and their input: on other facts of the request, files or
    /// chance.
    fn varies(&self);
    /// Accounts for work of this many bytes.
    fn spend(&self, bytes: usize);
    /// Records a step of the rules, see [`super::trace`].
    fn note(&self, level: u8, text: std::fmt::Arguments<'_>);
    /// The answer to a question. `None`: the run stops.
    fn answer(&self, question: Question) -> Option<RuleAnswer>;
    /// `%{LA-U:NAME}`, or else `%{LA-F:NAME}`.
    fn ahead(&self, is_path: bool, known: RuleVariable) -> String;
}

/// Groups of patterns that matched; index 0 is the whole match.
#[derive(Debug, Clone, Copy)]
pub struct MatchedGroups<'a> {
    /// Groups of the rule's pattern.
    pub rule: &'a [String],
    /// `%0` to `%9` of the last condition that matched.
    pub condition: &'a [String],
}

impl<'a> MatchedGroups<'a> {
    pub(super) fn of_rule(self, number: usize) -> &'a str {
        self.rule.get(number).map_or("", String::as_str)
    }

    pub(super) fn of_condition(self, number: usize) -> &'a str {
        self.condition.get(number).map_or("", String::as_str)
    }
}
