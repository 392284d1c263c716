//! Expressions: httpd 2.4's `ap_expr` (expr.html), wherever a directive takes one.
//!
//! ```text
//!   condition = "true" | "false" | "!" condition | condition ("&&" | "||") condition | "(" condition ")"
//!             | -n word | word == word | word -eq word | word =~ regex | word in list | word -ipmatch word | …
//!   word      = "text" | 'text' | number | %{NAME} | %{function:text} | %{:condition:} | $1 | function(word)
//!             | word . word | sub(s/…/…/, word) | join(list, word) | replace(word, word, word) | "(" word ")"
//!   list      = "{" word, … "}" | split(regex, list) | "(" list ")"
//!   regex     = /…/flags | m#…#flags | s/…/…/flags
//! ```
//!
//! An expression is parsed when its directive is read, and evaluated for an [`ExprSource`]. Answers that take time are
//! [`ExprQuestion`]s: the evaluation fails with [`ExprFailure::Unknown`], and is repeated when the answer is known.

mod evaluate;
mod functions;
mod glob;
mod parse;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;
use std::sync::Arc;

use crate::syntax::pattern::Budget;
use evaluate::Evaluation;
pub use evaluate::number;
pub use source::{DiskFact, ExprAnswer, ExprFailure, ExprQuestion, ExprSource, ExprVariable, LookAhead};
use tree::{ExprFunction, Node, Word};

/// A condition.
#[derive(Clone)]
pub struct Expr {
    source: Arc<str>,
    root: Arc<Node>,
    asks: bool,
    wants_user: bool,
    reads_response: bool,
}

/// A text with variables.
#[derive(Clone)]
pub struct ExprText {
    source: Arc<str>,
    root: Arc<Word>,
    asks: bool,
}

/// The functions and operators that an expression may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExprRights {
    /// All functions and operators; in `.htaccess` files none that reads the contents of a file.
    OfDirective,
    /// No functions and operators about files on disk: httpd's rule for expressions in pages (mod_include).
    OfPage,
    /// As [`ExprRights::OfDirective`]; comparisons are those of mod_ssl's older language.
    OfSslRequire,
}

/// The value of an expression, and the request's parts that it depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExprResult<T> {
    /// `bool` for a condition, text for a string expression.
    pub value: T,
    /// Groups of the last pattern with groups, `$0` first.
    pub groups: Vec<String>,
    /// Headers of the request that were used, for `Vary`.
    pub vary: Vec<String>,
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source)
    }
}

impl fmt::Debug for ExprText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source)
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.source == other.source
    }
}

impl Eq for Expr {}

impl PartialEq for ExprText {
    fn eq(&self, other: &ExprText) -> bool {
        self.source == other.source
    }
}

impl Eq for ExprText {}

impl Expr {
    /// Parses a condition of a directive. The error names the part that cannot be parsed.
    pub fn parse(source: &str, budget: &mut Budget) -> Result<Expr, String> {
        Expr::parse_with(source, budget, ExprRights::OfDirective)
    }

    /// Parses a condition with these rights.
    pub fn parse_with(source: &str, budget: &mut Budget, rights: ExprRights) -> Result<Expr, String> {
        let parse::Parsed { root, asks, wants_user, reads_response } = parse::condition(source, budget, rights)?;
        Ok(Expr { source: source.into(), root: Arc::new(root), asks, wants_user, reads_response })
    }

    /// The expression as written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the value may depend on an [`ExprQuestion`].
    pub fn may_need_lookup(&self) -> bool {
        self.asks
    }

    /// Whether the expression uses `%{REMOTE_USER}`: if access depends on it, the client is asked for a user.
    pub fn wants_user(&self) -> bool {
        self.wants_user
    }

    /// Whether the value may depend on a header or the status of the response.
    pub fn reads_response(&self) -> bool {
        self.reads_response
    }

    /// Whether the condition is true for a request.
    pub fn evaluate(&self, source: &dyn ExprSource) -> Result<ExprResult<bool>, ExprFailure> {
        let mut evaluation = Evaluation::of(source);
        let value = evaluation.holds(&self.root)?;
        Ok(ExprResult { value, groups: evaluation.groups, vary: evaluation.vary })
    }

    /// As [`Expr::evaluate`]; false if the expression fails.
    pub fn holds(&self, source: &dyn ExprSource) -> bool {
        self.evaluate(source).is_ok_and(|result| result.value)
    }

    /// Groups of the last pattern, `$0` first, if the condition is true.
    pub fn found(&self, source: &dyn ExprSource) -> Option<Vec<String>> {
        self.evaluate(source).ok().filter(|result| result.value).map(|result| result.groups)
    }
}

impl ExprText {
    /// Parses a text of a directive with `%{NAME}`, `%{function:text}` and `$1`.
    pub fn parse(source: &str, budget: &mut Budget) -> Result<ExprText, String> {
        let parse::Parsed { root, asks, .. } = parse::text(source, budget)?;
        Ok(ExprText { source: source.into(), root: Arc::new(root), asks })
    }

    /// The text `Basic credentials` of HTTP's Basic authentication (RFC 7617).
    pub fn credentials(user: &ExprText, password: &ExprText) -> ExprText {
        let pair = Word::Concat(vec![(*user.root).clone(), Word::Text(":".to_owned()), (*password.root).clone()]);
        ExprText {
            source: format!("Basic %{{base64:{}:{}}}", user.source, password.source).into(),
            root: Arc::new(Word::Concat(vec![
                Word::Text("Basic ".to_owned()),
                Word::Call(ExprFunction::Pure(functions::base64), Box::new(pair)),
            ])),
            asks: user.asks || password.asks,
        }
    }

    /// The same text, in which each value of an expression is escaped for names and filters of LDAP. Values of the
    /// function `ldap` are.
    pub fn escaped_for_ldap(&self) -> ExprText {
        let escaped = |word: &Word| match word {
            Word::Text(_) => word.clone(),
            Word::Call(ExprFunction::Pure(function), _) if std::ptr::fn_addr_eq(*function, functions::LDAP) => {
                word.clone()
            }
            word => Word::Call(ExprFunction::Pure(functions::LDAP), Box::new(word.clone())),
        };
        let root = match &*self.root {
            Word::Concat(parts) => Word::Concat(parts.iter().map(escaped).collect()),
            word => escaped(word),
        };
        ExprText { root: Arc::new(root), ..self.clone() }
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The text if it has no variables.
    pub fn constant(&self) -> Option<&str> {
        match &*self.root {
            Word::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the value may depend on an [`ExprQuestion`].
    pub fn may_need_lookup(&self) -> bool {
        self.asks
    }

    /// The text for a request.
    pub fn evaluate(&self, source: &dyn ExprSource) -> Result<String, ExprFailure> {
        self.evaluate_with(source, &[])
    }

    /// The text for a request, in which `$0` to `$9` are `groups`.
    pub fn evaluate_with(&self, source: &dyn ExprSource, groups: &[String]) -> Result<String, ExprFailure> {
        let mut evaluation = Evaluation::of(source);
        evaluation.groups = groups.to_vec();
        evaluation.text(&self.root)
    }
}
