//! Settings of a place that depend on the request: `<If>`, and `Alias` of a `<Location>`.

use std::path::{Component, PathBuf};
use std::rc::Rc;

use http::StatusCode;
use http::request::Parts;

use super::context::RequestContext;
use super::context::expressions::ExprOf;
use super::settle_all;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use base::path::Text;

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

/// Applies an `Alias` of a `<Location>`. The text may contain parts of the request, so `..` is refused.
pub async fn aliased(context: &RequestContext, head: &Parts, route: Rc<Route>) -> Result<Rc<Route>, Refusal> {
    let Some(alias) = &route.settings.response.alias else { return Ok(route) };
    let file = context.text(&ExprOf::request(context, head, &route), alias).await;
    let file = Text::bytes_of(PathBuf::from(file));
    if !file.is_absolute() || file.components().any(|part| part == Component::ParentDir) {
        context.complain(&route, &format_args!("Alias: {} is no absolute path without ..", file.display()));
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    let generation = &context.generation;
    let there = generation.ask(|| generation.routes.at_file(&generation.config, &route, &file, None)).await?;
    settle_all(context, head, &there).await?;
    Ok(there)
}
