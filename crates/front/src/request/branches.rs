//! `<If>`: the sections whose conditions are true for a request.

use std::cell::Cell;
use std::rc::Rc;

use http::StatusCode;
use http::request::Parts;

use super::context::RequestContext;
use super::context::expressions::ExprOf;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::response::expr::{Expr, ExprFailure};

/// Whether a section of the route has an `<If>`.
pub fn may_apply(context: &RequestContext, route: &Route) -> bool {
    context.generation.config.have_branches(route.plain_sections(), &route.files)
}

/// The route with its `<If>` sections. Conditions are evaluated once for each request and list of sections.
pub async fn applied(context: &RequestContext, head: &Parts, route: Rc<Route>) -> Result<Rc<Route>, Refusal> {
    let config = &context.generation.config;
    if !may_apply(context, &route) {
        return Ok(route);
    }
    // As in httpd, SetEnv comes after the sections are chosen.
    let mut variables = context.variables().clone();
    let later = &route.settings.response.env;
    later.iter().filter(|(_, value)| value.is_some()).for_each(|(name, _)| variables.set(name, None));
    let of = ExprOf { variables: Some(&variables), ..ExprOf::request(context, head, &route) };
    let failed = Cell::new(false);
    let is_true = |expr: &Expr| match context.evaluated(&of, expr) {
        Ok(result) => result.value,
        Err(failure) => {
            failed.set(matches!(failure, ExprFailure::Failed(_)) || failed.get());
            false
        }
    };
    let choose = || {
        failed.set(false);
        context.apply_rules(|| config.branches(route.plain_sections(), &route.files, &is_true))
    };
    let branches = context.answered(head, &route, choose).await;
    context.within_limits(&route)?;
    // A condition without a value must not leave out a section that refuses access.
    if failed.get() {
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    }
    if branches == *route.branches {
        return Ok(route);
    }
    Ok(context.generation.routes.with_branches(config, &route, branches))
}
