//! `Header` and `RequestHeader`.

use std::borrow::Cow;

use super::expr::{Expr, ExprText};
use super::setenv::EnvCondition;
use super::variables::Variables;
use crate::syntax::pattern::{Budget, Pattern};
use crate::syntax::work;

/// A line of `Header` or `RequestHeader`.
#[derive(Debug, Clone)]
pub struct HeaderRule {
    /// First argument of the line.
    pub action: HeaderChange,
    /// Header name in lower case.
    pub name: String,
    /// Header name as the line has it.
    pub written: String,
    /// Whether the rule applies to error responses, too.
    pub always: bool,
    /// Whether the rule applies before the request is handled.
    pub early: bool,
    /// `env=`, `expr=`: condition of the change; `None`: always.
    pub condition: Option<EnvCondition>,
}

/// The first argument of `Header` and its values.
#[derive(Debug, Clone)]
pub enum HeaderChange {
    /// Replaces the header.
    Set(HeaderValue),
    /// Sets the header if it is missing.
    SetIfEmpty(HeaderValue),
    /// Appends to the value, after a comma.
    Append(HeaderValue),
    /// Appends to the value unless the list contains it.
    Merge(HeaderValue),
    /// Adds a further header line.
    Add(HeaderValue),
    /// Removes the header.
    Unset,
    /// Copies the header to a note of this name.
    Note(String),
    /// Copies matching headers of the request.
    Echo(Pattern),
    /// Replaces the first match in the value, or all.
    Edit {
        /// Pattern of the replaced text.
        pattern: Pattern,
        /// Replacement, with `$1`.
        by: HeaderValue,
        /// Whether all matches are replaced.
        all: bool,
    },
}

/// A header value with variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderValue(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// `%t`
    Received,
    /// `%D`
    Took,
    /// `%{name}e`
    Variable(String),
    /// `%{SSL_name}s`
    Tls(String),
    /// `%l`, `%i`, `%b`
    Load(LoadFigure),
    /// `expr=…`: the whole value.
    Expr(ExprText),
}

/// A figure about the load of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadFigure {
    /// Load averages of the machine over one, five and fifteen minutes.
    Averages,
    /// Percentage of workers that wait for a request.
    Idle,
    /// Percentage of workers that answer one.
    Busy,
}

/// Values of a request's variables.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Time of the request, in microseconds since 1970.
    pub received: u64,
    /// Duration of the request so far, in microseconds.
    pub took: u64,
    /// Environment variables of the request.
    pub variables: &'a Variables,
    /// mod_ssl's variables, for requests over TLS.
    pub tls: &'a dyn Fn(&str) -> Option<String>,
    /// The load of the server, as text.
    pub load: &'a dyn Fn(LoadFigure) -> String,
    /// The value of the expression of `expr=`.
    pub expr: &'a str,
}

impl HeaderValue {
    /// The value for one request. A long value is truncated, and exhausts the request's [`work::Allowance`].
    pub fn text(&self, moment: Moment<'_>) -> String {
        let mut out = String::new();
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => Cow::Borrowed(text.as_str()),
            Piece::Received => format!("t={}", moment.received).into(),
            Piece::Took => format!("D={}", moment.took).into(),
            Piece::Variable(name) => moment.variables.get(name).unwrap_or("(null)").into(),
            // A certificate in PEM has several lines.
            Piece::Tls(name) => (moment.tls)(name).map_or("(null)".into(), |text| text.replace('\n', " ").into()),
            Piece::Load(figure) => match figure {
                LoadFigure::Averages => format!("l={}", (moment.load)(*figure)),
                LoadFigure::Idle => format!("i={}", (moment.load)(*figure)),
                LoadFigure::Busy => format!("b={}", (moment.load)(*figure)),
            }
            .into(),
            Piece::Expr(_) => moment.expr.into(),
        });
        pieces.take_while(|piece| work::push(&mut out, piece)).for_each(drop);
        out
    }

    /// Parses a value, or `expr=text` with an expression.
    pub fn parse(text: &str, budget: &mut Budget) -> Result<HeaderValue, String> {
        if let Some(text) = text.strip_prefix("expr=") {
            return Ok(HeaderValue(vec![Piece::Expr(ExprText::parse(text, budget)?)]));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            pieces.push(Piece::Text(before.to_owned()));
            let (piece, left) = piece(after)?;
            pieces.push(piece);
            rest = left;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Ok(HeaderValue(pieces))
    }
}

impl HeaderRule {
    /// The expressions of the rule whose value may depend on questions.
    pub fn asking(&self) -> (Option<&Expr>, Option<&ExprText>) {
        let condition = self.condition.as_ref().and_then(EnvCondition::expr).filter(|expr| expr.may_need_lookup());
        (condition, self.action.expr().filter(|text| text.may_need_lookup()))
    }

    /// Whether condition or value are expressions.
    pub fn has_expressions(&self) -> bool {
        self.action.expr().is_some() || self.condition.as_ref().is_some_and(|condition| condition.expr().is_some())
    }
}

impl HeaderChange {
    /// Whether the change may add a field of the rule's name.
    pub fn makes_field(&self) -> bool {
        use HeaderChange::{Add, Append, Merge, Set, SetIfEmpty};
        matches!(self, Set(_) | SetIfEmpty(_) | Append(_) | Merge(_) | Add(_))
    }

    fn value(&self) -> Option<&HeaderValue> {
        match self {
            HeaderChange::Set(value)
            | HeaderChange::SetIfEmpty(value)
            | HeaderChange::Append(value)
            | HeaderChange::Merge(value)
            | HeaderChange::Add(value)
            | HeaderChange::Edit { by: value, .. } => Some(value),
            HeaderChange::Unset | HeaderChange::Note(_) | HeaderChange::Echo(_) => None,
        }
    }

    /// The text after `expr=`.
    pub fn expr(&self) -> Option<&ExprText> {
        self.value().and_then(HeaderValue::expr)
    }
}

impl HeaderValue {
    /// The value of an expression.
    pub fn of(text: ExprText) -> HeaderValue {
        HeaderValue(vec![Piece::Expr(text)])
    }

    fn expr(&self) -> Option<&ExprText> {
        match self.0.as_slice() {
            [Piece::Expr(text)] => Some(text),
            _ => None,
        }
    }
}

fn piece(after: &str) -> Result<(Piece, &str), String> {
    if let Some((name, rest)) = after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        match rest.split_at_checked(1) {
            Some(("e", left)) => return Ok((Piece::Variable(name.to_owned()), left)),
            Some(("s", left)) => return Ok((Piece::Tls(name.to_owned()), left)),
            _ => {}
        }
    }
    let mut left = after.chars();
    let piece = match left.next() {
        Some('t') => Piece::Received,
        Some('D') => Piece::Took,
        Some('l') => Piece::Load(LoadFigure::Averages),
        Some('i') => Piece::Load(LoadFigure::Idle),
        Some('b') => Piece::Load(LoadFigure::Busy),
        Some('%') => Piece::Text("%".to_owned()),
        _ => return Err(format!("expected %t, %D, %l, %i, %b, %{{name}}e, %{{SSL_name}}s or %%, got \"%{after}\"")),
    };
    Ok((piece, left.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_expanded_for_each_request() {
        let mut variables = Variables::default();
        variables.set("USER", Some("camel".into()));
        let tls = |name: &str| (name == "SSL_PROTOCOL").then(|| "TLSv1.3".to_owned());
        let load = |figure| if figure == LoadFigure::Averages { "1/2/3".to_owned() } else { "50".to_owned() };
        let moment = Moment { received: 12, took: 34, variables: &variables, tls: &tls, load: &load, expr: "found" };
        let parsed = |value: &str| HeaderValue::parse(value, &mut Budget::of_htaccess());
        for (value, expected) in [
            ("plain", "plain"),
            ("%t %D", "t=12 D=34"),
            ("a%{USER}e%%b", "acamel%b"),
            ("%l %i %b", "l=1/2/3 i=50 b=50"),
            ("%{NONE}e", "(null)"),
            ("%{SSL_PROTOCOL}s%{SSL_X}s", "TLSv1.3(null)"),
            ("expr=a%{ENV:x}", "found"),
            ("", ""),
        ] {
            assert_eq!(parsed(value).unwrap().text(moment), expected, "{value}");
        }
        for wrong in ["%", "%x", "%{a}x", "%{a", "expr=%{a"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
