//! `Header` and `RequestHeader`.

use std::borrow::Cow;

use super::setenv::Condition;
use super::variables::Variables;
use crate::config::syntax::pattern::Pattern;
use crate::config::syntax::work;

/// A line of `Header` or `RequestHeader`.
#[derive(Debug, Clone)]
pub struct HeaderRule {
    /// What to do.
    pub action: Action,
    /// With which header, in lower case.
    pub name: String,
    /// For errors, too.
    pub always: bool,
    /// Before the request is handled.
    pub early: bool,
    /// `env=`, `expr=`: the line is passed over where it does not hold; `None`: it always applies.
    pub condition: Option<Condition>,
}

/// What to do with a header.
#[derive(Debug, Clone)]
pub enum Action {
    /// Replaces it.
    Set(HeaderValue),
    /// Sets it when it is not there.
    SetIfEmpty(HeaderValue),
    /// Adds to its value, behind a comma.
    Append(HeaderValue),
    /// The same unless it is in the list already.
    Merge(HeaderValue),
    /// A further line.
    Add(HeaderValue),
    /// Takes it away.
    Unset,
    /// Copies headers of the request.
    Echo(Pattern),
    /// Replaces the first match, or all.
    Edit {
        /// What is looked for.
        pattern: Pattern,
        /// What takes its place, with `$1`.
        by: HeaderValue,
        /// Not only the first.
        all: bool,
    },
}

/// A value with the pieces that each request fills in.
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
}

/// What a value may say of its request.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// When it came, in microseconds since 1970.
    pub received: u64,
    /// How long it has taken, in microseconds.
    pub took: u64,
    /// See [`Variables`].
    pub variables: &'a Variables,
    /// mod_ssl's variables, where the client speaks TLS.
    pub tls: &'a dyn Fn(&str) -> Option<String>,
}

impl HeaderValue {
    /// The text for one request; cut when it is too long, and the request's [`work::Allowance`] is used up then.
    pub fn text(&self, moment: Moment<'_>) -> String {
        let mut out = String::new();
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => Cow::Borrowed(text.as_str()),
            Piece::Received => format!("t={}", moment.received).into(),
            Piece::Took => format!("D={}", moment.took).into(),
            Piece::Variable(name) => moment.variables.get(name).unwrap_or("(null)").into(),
            Piece::Tls(name) => (moment.tls)(name).map_or("(null)".into(), Cow::Owned),
        });
        pieces.take_while(|piece| work::push(&mut out, piece)).for_each(drop);
        out
    }

    /// As it is written.
    pub fn parse(text: &str) -> Result<HeaderValue, String> {
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
        Some('%') => Piece::Text("%".to_owned()),
        _ => return Err(format!("expected %t, %D, %{{name}}e, %{{SSL_name}}s or %%, got \"%{after}\"")),
    };
    Ok((piece, left.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_in_for_each_request() {
        let mut variables = Variables::default();
        variables.set("USER", Some("camel".into()));
        let tls = |name: &str| (name == "SSL_PROTOCOL").then(|| "TLSv1.3".to_owned());
        let moment = Moment { received: 12, took: 34, variables: &variables, tls: &tls };
        for (value, expected) in [
            ("plain", "plain"),
            ("%t %D", "t=12 D=34"),
            ("a%{USER}e%%b", "acamel%b"),
            ("%{NONE}e", "(null)"),
            ("%{SSL_PROTOCOL}s%{SSL_X}s", "TLSv1.3(null)"),
            ("", ""),
        ] {
            assert_eq!(HeaderValue::parse(value).unwrap().text(moment), expected, "{value}");
        }
        for wrong in ["%", "%x", "%{a}x", "%{a"] {
            assert!(HeaderValue::parse(wrong).is_err(), "{wrong}");
        }
    }
}
