//! The expressions of `if` and `elif`, in both languages.

use std::collections::HashMap;

use super::page::{Document, Page};
use super::values::{Fault, fault};
use crate::request::context::variables;
use config::pattern::{Budget, Case};
use config::response::expr::Expr;
use config::response::variables::Variables;
use ssi::legacy::{Asked, Invalid, LegacyExpr};
use ssi::substitute::Undefined;

/// Longest expression, in bytes.
const LONGEST: usize = 8 << 10;
/// Work for each byte of compiled regular expressions.
const COMPILED: usize = 16;

impl Page {
    /// Whether an expression is true. Its groups are stored for later elements.
    pub async fn is_true(&mut self, expression: &[u8]) -> Result<bool, Fault> {
        if expression.len() > LONGEST {
            return Err(fault(format!("the expression is longer than {} KB", LONGEST >> 10)));
        }
        let is_legacy = self.document().route.settings.response.includes.legacy_expressions == Some(true);
        let result = match is_legacy {
            true => self.is_true_legacy(expression).await?,
            false => self.is_true_expr(expression)?,
        };
        let Document { context, route, .. } = self.document();
        context.within_limits(route).map_err(|_| fault("the expressions do too much"))?;
        Ok(result)
    }

    fn is_true_expr(&mut self, expression: &[u8]) -> Result<bool, Fault> {
        let text = adapted(&String::from_utf8_lossy(expression));
        let mut budget = Budget::of_htaccess();
        let expr = Expr::parse(&text, &mut budget).map_err(fault)?;
        self.charge(&budget)?;
        let named = self.named_in(&text);
        let Document { context, head, route, .. } = self.document();
        match variables::found_among(context, head, route, &expr, &named) {
            Some(groups) => {
                self.groups = Some(groups).filter(|groups| !groups.is_empty()).or(self.groups.take());
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn charge(&self, budget: &Budget) -> Result<(), Fault> {
        match self.whole.spend(budget.spent().saturating_mul(COMPILED)) {
            true => Ok(()),
            false => Err(fault("the page's elements do too much")),
        }
    }

    /// The variables whose names are in the expression.
    fn named_in(&self, text: &str) -> Variables {
        let names: Vec<Vec<u8>> = self.whole.variables.borrow().iter().map(|(name, _)| name.to_vec()).collect();
        let mut named = Variables::default();
        for name in names {
            let name = String::from_utf8_lossy(&name);
            if text.contains(&*name)
                && let Some(value) = self.variable(name.as_bytes())
            {
                named.set(&name, Some(String::from_utf8_lossy(&value).into_owned()));
            }
        }
        named
    }

    async fn is_true_legacy(&mut self, expression: &[u8]) -> Result<bool, Fault> {
        let invalid = |Invalid| fault("the expression is invalid");
        let expr = LegacyExpr::parse(expression).map_err(invalid)?;
        let mut access = HashMap::new();
        for url in expr.urls() {
            let url = self.substituted(url, Undefined::Empty)?;
            let is_accessible = self.is_accessible(&url).await?;
            access.insert(url, is_accessible);
        }
        let context = self.document().context.clone();
        context.apply_rules(|| expr.holds(&mut LegacyInput { page: self, access })).map_err(invalid)
    }
}

struct LegacyInput<'a> {
    page: &'a mut Page,
    /// Whether the client may access the URLs of the expression.
    access: HashMap<Vec<u8>, bool>,
}

impl Asked for LegacyInput<'_> {
    fn substituted(&mut self, text: &[u8]) -> Result<Vec<u8>, Invalid> {
        self.page.substituted(text, Undefined::Empty).map_err(|_| Invalid)
    }

    fn matches(&mut self, pattern: &[u8], text: &[u8]) -> Result<bool, Invalid> {
        let mut budget = Budget::of_htaccess();
        let pattern = budget.compile(&String::from_utf8_lossy(pattern), Case::Exact).map_err(|_| Invalid)?;
        self.page.charge(&budget).map_err(|_| Invalid)?;
        let text = String::from_utf8_lossy(text);
        let groups = pattern.find(&text).map(|groups| groups.all());
        let has_matched = groups.is_some();
        self.page.groups = groups;
        Ok(has_matched)
    }

    fn is_accessible(&mut self, url: &[u8]) -> Result<bool, Invalid> {
        self.access.get(url).copied().ok_or(Invalid)
    }
}

/// The expression with calls of functions that read variables, `v("x")`, in the form `%{reqenv:x}`.
fn adapted(expression: &str) -> String {
    const FUNCTIONS: [(&str, &str); 5] =
        [("reqenv", "reqenv"), ("v", "reqenv"), ("env", "reqenv"), ("req", "req"), ("http", "http")];
    let mut text = String::with_capacity(expression.len());
    let (mut rest, mut quote, mut is_in_word) = (expression, None, false);
    while let Some(letter) = rest.chars().next() {
        let call = FUNCTIONS.iter().filter(|_| quote.is_none() && !is_in_word).find_map(|(name, function)| {
            let (argument, behind) = argument(rest.strip_prefix(name)?)?;
            Some((format!("%{{{function}:{argument}}}"), behind))
        });
        if let Some((value, behind)) = call {
            text.push_str(&value);
            (rest, is_in_word) = (behind, false);
            continue;
        }
        match quote {
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            Some(open) if open == letter => quote = None,
            _ => {}
        }
        is_in_word = letter.is_alphanumeric() || matches!(letter, '_' | '{' | ':' | '-');
        text.push(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    text
}

/// The argument of a call, and the text behind it.
fn argument(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start().strip_prefix('(')?.trim_start();
    let quote = inner.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let (argument, behind) = inner.get(1..)?.split_once(quote)?;
    Some((argument, behind.trim_start().strip_prefix(')')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_become_variables() {
        for (expression, expected) in [
            ("v(\"foo\") = \"bar\"", "%{reqenv:foo} = \"bar\""),
            ("-n reqenv( 'x' ) && \"v('y')\" == 'z'", "-n %{reqenv:x} && \"v('y')\" == 'z'"),
            ("env(\"a\") == %{req:v} || av('b')", "%{reqenv:a} == %{req:v} || av('b')"),
        ] {
            assert_eq!(adapted(expression), expected);
        }
    }
}
