//! The expressions of `if` and `elif`, in both languages.

use std::collections::HashMap;

use super::document::Document;
use super::page::Page;
use super::values::{Fault, fault};
use crate::request::context::expressions::ExprOf;
use config::pattern::{Budget, Case};
use config::response::expr::{Expr, ExprRights};
use config::response::variables::Variables;
use ssi::legacy::{Invalid, LegacyExpr, LegacySource};
use ssi::substitute::Undefined;

/// Longest expression, in bytes.
const MAX_BYTES: usize = 8 << 10;
/// Work for each byte of compiled regular expressions.
const COMPILED: usize = 16;
/// Work for each variable whose name is searched for in an expression, in addition to the search.
const NAME: usize = 64;
/// Bytes of text that a search reads for one byte of work.
const SEARCHED: usize = 16;

impl Page {
    /// Whether an expression is true. Its groups are stored for later elements.
    pub async fn is_true(&mut self, expression: &[u8]) -> Result<bool, Fault> {
        if expression.len() > MAX_BYTES {
            return Err(fault(format!(
                "the expression is longer than {} KB; split it into several conditions",
                MAX_BYTES >> 10
            )));
        }
        let is_legacy = self.document().route.settings.response.includes.legacy_expressions == Some(true);
        let result = match is_legacy {
            true => self.is_true_legacy(expression).await?,
            false => self.is_true_expr(expression).await?,
        };
        let Document { context, route, .. } = self.document();
        context
            .within_limits(route)
            .map_err(|_| fault("the page's expressions exceed the work limit of one request"))?;
        Ok(result)
    }

    async fn is_true_expr(&mut self, expression: &[u8]) -> Result<bool, Fault> {
        let text = String::from_utf8_lossy(expression);
        let mut budget = Budget::of_htaccess();
        let expr = Expr::parse_with(&text, &mut budget, ExprRights::OfPage).map_err(fault)?;
        self.charge(&budget)?;
        let named = self.named_in(&text)?;
        let Document { context, head, route, .. } = self.document();
        let of = ExprOf { variables: Some(&named), ..ExprOf::request(context, head, route) };
        let result = context.answered(head, route, || context.apply_rules(|| context.evaluated(&of, &expr))).await;
        let Ok(result) = result else { return Ok(false) };
        if result.value && !result.groups.is_empty() {
            self.groups = Some(result.groups);
        }
        Ok(result.value)
    }

    fn charge(&self, budget: &Budget) -> Result<(), Fault> {
        match self.whole.spend(budget.spent().saturating_mul(COMPILED)) {
            true => Ok(()),
            false => Err(fault("the page's elements exceed the work limit of one request")),
        }
    }

    /// The variables whose names are in the expression.
    fn named_in(&self, text: &str) -> Result<Variables, Fault> {
        let names: Vec<Vec<u8>> = self.whole.variables.borrow().iter().map(|(name, _)| name.to_vec()).collect();
        if !self.whole.spend(names.len() * (NAME + text.len() / SEARCHED)) {
            return Err(fault("the page's elements exceed the work limit of one request"));
        }
        let mut named = Variables::default();
        for name in names {
            let name = String::from_utf8_lossy(&name);
            if text.contains(&*name)
                && let Some(value) = self.variable(name.as_bytes())
            {
                if !self.whole.spend(value.len()) {
                    return Err(fault("the page's elements exceed the work limit of one request"));
                }
                named.set(&name, Some(String::from_utf8_lossy(&value).into_owned()));
            }
        }
        Ok(named)
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

impl LegacySource for LegacyInput<'_> {
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
