//! `<If>`: the sections whose conditions are true for a request.

use std::rc::Rc;

use http::request::Parts;

use super::context::RequestContext;
use super::context::expressions::ExprOf;
use crate::base::refusal::Refusal;
use crate::routing::Route;

/// The route with its `<If>` sections. Conditions are evaluated once for each request and list of sections.
pub async fn applied(context: &RequestContext, head: &Parts, route: Rc<Route>) -> Result<Rc<Route>, Refusal> {
    let config = &context.generation.config;
    if !config.have_branches(route.plain_sections(), &route.files) {
        return Ok(route);
    }
    // As in httpd, SetEnv comes after the sections are chosen.
    let mut variables = context.variables().clone();
    let later = &route.settings.response.env;
    later.iter().filter(|(_, value)| value.is_some()).for_each(|(name, _)| variables.set(name, None));
    let of = ExprOf { variables: Some(&variables), ..ExprOf::request(context, head, &route) };
    let choose = || {
        context.apply_rules(|| {
            config.branches(route.plain_sections(), &route.files, &|expr| {
                context.evaluated(&of, expr).is_ok_and(|result| result.value)
            })
        })
    };
    let branches = context.answered(head, &route, choose).await;
    context.within_limits(&route)?;
    if branches == *route.branches {
        return Ok(route);
    }
    Ok(context.generation.routes.with_branches(config, &route, branches))
}
