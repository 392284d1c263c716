//! The current route of a request.

use std::path::{Component, PathBuf};
use std::rc::Rc;

use http::header::HOST;
use http::request::Parts;
use http::{Method, StatusCode, Uri};
use percent_encoding::percent_encode;

use super::context::expressions::ExprOf;
use super::context::{RequestContext, variables};
use super::{branches, strictness};
use crate::base::refusal::Refusal;
use crate::routing::{NotYet, Route, RouteKey, Routes, once_read};
use base::path::{BadPath, MAX_SEGMENTS, PATH, Text};
use config::Config;

pub async fn find(context: &RequestContext, head: &Parts) -> Result<Rc<Route>, Refusal> {
    find_by(context, head, Routes::find).await
}

/// As [`find`], by one of the lookups of [`Routes`].
pub async fn find_by(
    context: &RequestContext,
    head: &Parts,
    look: fn(&Routes, &Config, RouteKey<'_>) -> Result<Rc<Route>, NotYet>,
) -> Result<Rc<Route>, Refusal> {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let path = match head.uri.path() {
        "" => "/",
        // `OPTIONS *` refers to the whole server; the settings of the root path are used for it.
        "*" if head.method == Method::OPTIONS => "/",
        path => path,
    };
    let key = RouteKey { local: &context.client.local, host, path };
    let find = || {
        let found = look(&context.generation.routes, &context.generation.config, key);
        found.inspect_err(|not_yet| {
            if matches!(not_yet, NotYet::Bad(BadPath::TooDeep)) {
                context.client.log_error(&format!("a path of more than {MAX_SEGMENTS} segments is refused"));
            }
        })
    };
    let route = once_read(&context.generation.routes, find).await?;
    if strictness::is_misdirected(context, &route) {
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST));
    }
    strictness::check(context, head, &route)?;
    Ok(route)
}

/// Applies an `Alias` of a `<Location>`. The text may contain parts of the request, so `..` is refused.
pub async fn aliased(context: &RequestContext, head: &Parts, route: Rc<Route>) -> Result<Rc<Route>, Refusal> {
    match route.settings.response.alias {
        Some(_) => Box::pin(at_alias(context, head, route)).await,
        None => Ok(route),
    }
}

async fn at_alias(context: &RequestContext, head: &Parts, route: Rc<Route>) -> Result<Rc<Route>, Refusal> {
    let Some(alias) = &route.settings.response.alias else { return Ok(route) };
    let file = context.text(&ExprOf::request(context, head, &route), &alias.to).await;
    let file = Text::bytes_of(PathBuf::from(file));
    if !file.is_absolute() || file.components().any(|part| part == Component::ParentDir) {
        context.log_error(&route, &format_args!("Alias: {} is no absolute path without ..", file.display()));
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    let generation = &context.generation;
    let script = alias.script;
    let there = generation.wait_for(|| generation.routes.at_alias(&generation.config, &route, &file, script)).await?;
    settle_all(context, head, &there).await?;
    Ok(there)
}

/// Applies `<If>`, and makes the resulting route the request's current route.
pub async fn choose(context: &RequestContext, head: &Parts, route: Rc<Route>) -> Result<Rc<Route>, Refusal> {
    if !branches::may_apply(context, &route) {
        return Ok(route);
    }
    let chosen = Box::pin(branches::applied(context, head, route.clone())).await?;
    if !Rc::ptr_eq(&chosen, &route) {
        settle_all(context, head, &chosen).await?;
    }
    Ok(chosen)
}

/// As [`settle`], but waits for the lookups that the expressions of variables need.
pub async fn settle_all(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    context.leads_to(route.clone());
    variables::settle_all(context, head, route).await
}

/// Makes `route` the request's current route, and computes its variables.
pub fn settle(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    context.leads_to(route.clone());
    variables::settle(context, head, route)
}

/// Makes the route of a program's internal redirect current, so that its response headers and other settings apply.
pub async fn settle_at(context: &RequestContext, head: &Parts, path: &[u8]) {
    let mut there = head.clone();
    let Ok(uri) = Uri::try_from(percent_encode(path, PATH).to_string()) else { return };
    there.uri = uri;
    if let Ok(route) = find(context, &there).await {
        let _ = settle(context, &there, &route);
    }
}
