//! Environment variables of a request moved to a location inside this process, by `SetEnv`, `SetEnvIf` and
//! `BrowserMatch`.

mod source;

use std::borrow::Cow;
use std::collections::HashSet;

use super::set_env::is_before_fixup;
use crate::location::ResolvedLocation;
use crate::site::paths::plain;
use config::response::ResponseRules;
use config::response::expr::{Expr, ExprFailure, ExprText};
use config::response::variables::{Attribute, Variables};
use config::work;
use source::WorkerSource;

/// Applies the variable rules of the location to the request, with its current URI. Variables set only by the
/// location `left` are removed. `false`: the rules exceed the work allowance of a request.
#[must_use]
pub fn settle(request: u64, left: Option<&ResolvedLocation>, location: &ResolvedLocation) -> bool {
    let rules = &location.settings.response;
    let old = left.map(|left| &left.settings.response);
    if !rules.has_variables() && !old.is_some_and(|old| old.has_variables()) {
        return true;
    }
    let mut before = Variables::default();
    apache::variables(request).into_iter().for_each(|(name, value)| before.set(&name, Some(value)));
    let mut variables = before.clone();
    let here: HashSet<&str> = rules.variables().collect();
    let there = old.into_iter().flat_map(ResponseRules::variables);
    there.filter(|name| !here.contains(name)).for_each(|name| variables.set(name, None));
    let allowance = work::Allowance::default();
    let found = |expr: &Expr, variables: &Variables| evaluated(&WorkerSource::of(request, variables), expr);
    allowance.count(|| variables.apply(&rules.set_env_if, |name| look(request, name).map(Cow::Owned), found));
    if !is_before_fixup(request) {
        variables.set_all(&rules.env);
    }
    apache::change_variables(request, &variables.changes_since(&before));
    !allowance.is_used_up()
}

/// Whether an expression holds for the request. The result is meaningless when `allowance` is used up.
pub fn is_true(request: u64, user: Option<&str>, expr: &Expr, allowance: &work::Allowance) -> bool {
    let variables = all(request);
    let of = WorkerSource { user, ..WorkerSource::of(request, &variables) };
    allowance.count(|| evaluated(&of, expr).is_some())
}

/// The text of an expression, or an empty text if it has no value in a worker.
pub fn text_of(request: u64, text: &ExprText) -> String {
    value_of(request, text).unwrap_or_default()
}

/// The text of an expression; `None`: it has no value in a worker.
pub fn value_of(request: u64, text: &ExprText) -> Option<String> {
    match text.constant() {
        Some(constant) => Some(constant.to_owned()),
        None => work::Allowance::default().count(|| text.evaluate(&WorkerSource::of(request, &all(request)))).ok(),
    }
}

/// The text of an expression for a user. One that has no value in a worker uses up `allowance`, so that the request is
/// refused.
pub fn text_as(request: u64, user: Option<&str>, text: &ExprText, allowance: &work::Allowance) -> String {
    let variables = all(request);
    let of = WorkerSource { user, ..WorkerSource::of(request, &variables) };
    let failed = |_| {
        work::fail(|| format!("the expression \"{}\" has no value in a worker", text.as_str()));
        String::new()
    };
    allowance.count(|| text.evaluate(&of).unwrap_or_else(failed))
}

fn all(request: u64) -> Variables {
    let mut variables = Variables::default();
    apache::variables(request).into_iter().for_each(|(name, value)| variables.set(&name, Some(value)));
    variables
}

/// The groups of an expression's last pattern, if it is true. An expression that has no value in a worker uses up the
/// request's [`work::Allowance`], so that the request is refused.
fn evaluated(of: &WorkerSource<'_>, expr: &Expr) -> Option<Vec<String>> {
    match expr.evaluate(of) {
        Ok(result) => result.value.then_some(result.groups),
        Err(ExprFailure::Failed(why)) => {
            work::fail(|| format!("the expression \"{}\" has no value: {why}", expr.as_str()));
            None
        }
        Err(ExprFailure::Unknown(_)) => {
            work::fail(|| {
                format!(
                    "the expression \"{}\" has no value in a subrequest: -U and -F are for the client's request",
                    expr.as_str()
                )
            });
            None
        }
    }
}

fn look(request: u64, attribute: &Attribute) -> Option<String> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match attribute {
        Attribute::RemoteAddr => Some(apache::addresses(request).0),
        Attribute::RemoteHost => apache::remote_host(request).or_else(|| Some(apache::addresses(request).0)),
        Attribute::ServerAddr => Some(apache::addresses(request).1),
        Attribute::RequestMethod => Some(apache::method(request)),
        Attribute::RequestProtocol => Some(apache::protocol(request)),
        // Normalised: rules must not depend on the number of slashes that a client writes.
        Attribute::RequestUri => Some(text(plain(&apache::set_by_handlers(request).uri))),
        Attribute::Headers(pattern) => {
            let meant = |name: &[u8]| pattern.is_match(&String::from_utf8_lossy(name));
            apache::headers_in(request).into_iter().rfind(|(name, _)| meant(name)).map(|(_, value)| text(value))
        }
        Attribute::Named(name, _) => apache::header_in(request, name.as_bytes()).map(text),
    }
}
