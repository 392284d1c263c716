//! Expressions of `SetEnvIfExpr` and `expr=`: the part of httpd 2.4's language (expr.html) that concerns requests.
//!
//! ```text
//!   either  = both { "||" both }            value = part { "." part }
//!   both    = single { "&&" single }         part  = "text" | 'text' | number | %{NAME} | %{function:argument} | $1
//!   single  = "!" single | "(" either ")" | "true" | "false" | -n value | -z value | -T value | value operator value
//! ```

mod parse;

use std::borrow::Cow;

use super::variables::Attribute;
use crate::syntax::pattern::{Budget, Pattern};
use crate::syntax::value::network::Network;
use crate::syntax::work;

use super::variables::ExprInput;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Expr {
    source: String,
    root: Node,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.source == other.source
    }
}

impl Eq for Expr {}

#[derive(Debug, Clone)]
enum Node {
    Either(Vec<Node>),
    Both(Vec<Node>),
    Not(Box<Node>),
    Constant(bool),
    IsEmpty(ExprValue),
    /// `-T`: not empty, 0, off, false or no.
    IsTrue(ExprValue),
    Compare(ExprValue, Operator, ExprValue),
    Matches(ExprValue, Pattern),
    IsIn(ExprValue, Vec<ExprValue>),
    IsFrom(ExprValue, Network),
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    Text(fn(std::cmp::Ordering) -> bool),
    Number(fn(std::cmp::Ordering) -> bool),
}

#[derive(Debug, Clone)]
struct ExprValue(Vec<ExprPart>);

#[derive(Debug, Clone)]
enum ExprPart {
    Text(String),
    Of(Attribute),
    Variable(String),
    Found(usize),
}

impl Expr {
    /// Parses an expression. The error names the part that cannot be parsed.
    pub fn parse(source: &str, budget: &mut Budget) -> Result<Expr, String> {
        Ok(Expr { source: source.to_owned(), root: parse::parse(source, budget)? })
    }

    /// Whether the expression is true for a request.
    pub fn holds(&self, seen: ExprInput<'_>) -> bool {
        self.root.holds(seen, &mut Vec::new())
    }

    /// Groups of the last pattern that matched, `$0` first, if the expression is true.
    pub fn found(&self, seen: ExprInput<'_>) -> Option<Vec<String>> {
        let mut found = Vec::new();
        self.root.holds(seen, &mut found).then_some(found)
    }
}

impl Node {
    /// Evaluates the node. The result is meaningless once the request's [`work::Allowance`] is used up.
    fn holds(&self, seen: ExprInput<'_>, found: &mut Vec<String>) -> bool {
        if !work::spend(work::RULE) {
            return false;
        }
        match self {
            Node::Either(parts) => parts.iter().any(|part| part.holds(seen, found)),
            Node::Both(parts) => parts.iter().all(|part| part.holds(seen, found)),
            Node::Not(part) => !part.holds(seen, found),
            Node::Constant(value) => *value,
            Node::IsEmpty(value) => value.text(seen, found).is_empty(),
            Node::IsTrue(value) => {
                let text = value.text(seen, found).to_ascii_lowercase();
                !matches!(text.as_str(), "" | "0" | "off" | "false" | "no")
            }
            Node::Compare(left, operator, right) => {
                let (left, right) = (left.text(seen, found), right.text(seen, found));
                match operator {
                    Operator::Text(is) => is(left.cmp(&right)),
                    Operator::Number(is) => is(number(&left).cmp(&number(&right))),
                }
            }
            Node::Matches(value, pattern) => {
                let text = value.text(seen, found);
                let Some(groups) = pattern.find(&text) else { return false };
                *found = groups.all();
                work::spend(found.iter().map(String::len).sum());
                true
            }
            Node::IsIn(value, list) => {
                let text = value.text(seen, found);
                list.iter().any(|item| item.text(seen, found) == text)
            }
            Node::IsFrom(value, network) => {
                value.text(seen, found).parse().is_ok_and(|address| network.contains(address))
            }
        }
    }
}

/// The number at the start of a text, saturating, or 0: as httpd's `apr_atoi64`.
pub fn number(text: &str) -> i64 {
    let text = text.trim_ascii_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.bytes().take_while(u8::is_ascii_digit);
    digits.fold(0, |number: i64, digit| number.saturating_mul(10).saturating_add(sign * i64::from(digit - b'0')))
}

impl ExprValue {
    fn text(&self, seen: ExprInput<'_>, found: &[String]) -> String {
        let mut text = String::new();
        let parts = self.0.iter().map(|part| match part {
            ExprPart::Text(text) => Cow::Borrowed(text.as_str()),
            ExprPart::Of(attribute) => (seen.look)(attribute).unwrap_or_default().into(),
            ExprPart::Variable(name) => seen.variables.get(name).unwrap_or_default().into(),
            ExprPart::Found(group) => found.get(*group).map_or("", String::as_str).into(),
        });
        parts.take_while(|part| work::push(&mut text, part)).for_each(drop);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::response::variables::Variables;

    fn holds(source: &str) -> bool {
        let mut variables = Variables::default();
        variables.set("robot", Some("yes".to_owned()));
        let look = |attribute: &Attribute| match attribute {
            Attribute::RemoteAddr => Some("192.0.2.7".to_owned()),
            Attribute::RequestMethod => Some("GET".to_owned()),
            Attribute::Https => Some("off".to_owned()),
            Attribute::RequestUri => Some("/a/b.html".to_owned()),
            Attribute::QueryString => Some("x=12".to_owned()),
            Attribute::Named(name, _) if name == "user-agent" => Some("Robot/1.0".to_owned()),
            _ => None,
        };
        Expr::parse(source, &mut Budget::of_the_administrator())
            .expect(source)
            .holds(ExprInput { variables: &variables, look: &look })
    }

    #[test]
    fn expressions_evaluate_as_httpds_manual_specifies() {
        for (source, expected) in [
            ("true", true),
            ("! true || (false || true)", true),
            ("true && false || false", false),
            ("%{REQUEST_METHOD} == 'GET'", true),
            ("%{REQUEST_METHOD} != 'GET'", false),
            ("%{REQUEST_URI} =~ m#^/a/(.*)\\.html$# && $1 == 'b'", true),
            ("%{HTTP_USER_AGENT} !~ /robot/i", false),
            ("%{HTTP:User-Agent} =~ /^Robot/", true),
            ("%{reqenv:robot} == \"yes\" && -z %{reqenv:other}", true),
            ("-n %{REMOTE_HOST}", false),
            ("-T %{reqenv:robot}", true),
            ("-R '192.0.2.0/24'", true),
            ("%{REMOTE_ADDR} -ipmatch '198.51.100.0/24'", false),
            ("%{REQUEST_METHOD} in {'POST', 'GET'}", true),
            ("'10' -gt 9 && '10' < '9'", true),
            ("'-1' -lt 0 && ' 12abc' -eq 12 && '+3' eq 3 && 'abc' -eq 0 && '' lt 1 && '1.9' -eq 1", true),
            ("'9223372036854775808' -gt '9223372036854775806' && '-99999999999999999999' -lt 0", true),
            ("'99999999999999999999' -lt 100", false),
            ("%{HTTPS} == 'off' && %{HTTPS} != 'on'", true),
            ("%{QUERY_STRING} =~ /x=([0-9]+)/ && $1 -eq 12", true),
            ("'a%{REQUEST_METHOD}b' == 'a' . %{REQUEST_METHOD} . 'b'", true),
            ("%{REQUEST_URI} -fnmatch '/a/*.html' && %{REQUEST_URI} -strcmatch '*.HTML'", true),
        ] {
            assert_eq!(holds(source), expected, "{source}");
        }
    }

    #[test]
    fn an_invalid_expression_is_an_error() {
        let deep = "(".repeat(99) + "true" + &")".repeat(99);
        for source in [
            "",
            "maybe",
            "%{NOBODY_KNOWS} == 'x'",
            "%{REQUEST_URI} =~ /x",
            "true true",
            "(true",
            "'a' ~ 'b'",
            "'a' == ",
            &deep,
        ] {
            assert!(Expr::parse(source, &mut Budget::of_the_administrator()).is_err(), "{source}");
        }
    }
}
