//! `RewriteRule`: rewrites a request on its way to its handler.
//!
//! A host's rules run before redirects and the access check; a folder's rules run after the access check.

mod asked;
mod places;

use std::borrow::Cow;
use std::rc::Rc;

use http::header::{HeaderValue, LOCATION, SET_COOKIE, VARY};
use http::request::Parts;
use http::{StatusCode, Uri};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

use super::access::admit;
use super::context::{RequestContext, variables};
use super::{find, settle};
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::routing::{Route, bytes};
use asked::AskedOf;
use base::path::{PATH, Text};
use config::response::rewrite::{Away, Rewrite, Rewritten, Start, run};
use places::{file_of, lacks_slash, own_path, parted, path_of, tidy};

/// Characters escaped in a rewritten query. Patterns match the unescaped text.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');

/// Applies the host's rules; returns the resulting request and its route.
pub async fn of_host<'a>(
    context: &RequestContext,
    head: Cow<'a, Parts>,
    route: Rc<Route>,
) -> Result<(Cow<'a, Parts>, Rc<Route>), Refusal> {
    let rules = context.generation.config.hosts.get(usize::from(route.host)).map(|host| &host.rewrite);
    let is_about_all = head.uri.path() == "*";
    let Some(rules) = rules.filter(|rules| rules.is_on() && !context.rules_have_ended() && !is_about_all) else {
        return Ok((head, route));
    };
    let path = Text::new(&route.path).0;
    let start = Start { path, path_info: String::new(), query: query_of(&head) };
    let made = follow(context, &head, &route, rules, start).await?;
    let made = Rewritten { path: tidy(&made.path), ..made };
    if !made.variables.is_empty() {
        note(context, &head, &route, &made)?;
    }
    if !made.changed {
        return Ok((head, route));
    }
    if !made.path.starts_with('/') {
        return Err(Refusal::new(StatusCode::BAD_REQUEST));
    }
    if made.pass_through {
        let onward = onward(&head, &made.path, made.query.as_deref())?;
        let route = find(context, &onward).await?;
        settle(context, &onward, &route)?;
        return Ok((Cow::Owned(onward), route));
    }
    // The request's path stays unchanged and only its file is replaced, as in httpd.
    let onward = onward(&head, &Text::new(&route.path).0, made.query.as_deref())?;
    let moved = context.generation.ask(|| {
        let file = file_of(context, &route, &made)?;
        let path = own_path(context, &route, &made, &file);
        context.generation.routes.at_file(&context.generation.config, &route, &file, path)
    });
    let moved = moved.await?;
    settle(context, &onward, &moved)?;
    Ok((Cow::Owned(onward), moved))
}

/// The effect of a folder's rules on a request.
pub enum InFolder {
    /// Unchanged.
    Same,
    /// Answer this head with the same route.
    Here(Box<Parts>),
    /// Process this request from the start.
    Onward(Box<Parts>),
}

/// Applies the rules of the route's folder.
pub async fn of_folder(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<InFolder, Refusal> {
    let rules = &route.settings.response.rewrite;
    if !rules.is_on() || context.rules_have_ended() {
        return Ok(InFolder::Same);
    }
    admit(context, head, route).await?;
    let query = query_of(head);
    let whole = Text::new(bytes(&route.filename)).0;
    let (file, path_info) = context.generation.ask(|| Ok(parted(context, route))).await?;
    let start = Start { path: file.clone(), path_info, query: query.clone() };
    let made = follow(context, head, route, rules, start).await?;
    if !made.variables.is_empty() {
        note(context, head, route, &made)?;
    }
    if !made.changed || made.path == file && made.query == query {
        return Ok(InFolder::Same);
    }
    // An unchanged file is not processed again, and a folder without a trailing slash gets its redirect, as in httpd.
    if made.path == file || context.generation.ask(|| Ok(lacks_slash(context, route))).await? {
        let own = Text::new(&route.path).0;
        return onward(head, &own, made.query.as_deref()).map(|head| InFolder::Here(Box::new(head)));
    }
    let path = path_of(context, route, rules, &made.path, &whole);
    if !path.starts_with('/') {
        return Err(Refusal::new(StatusCode::BAD_REQUEST));
    }
    let mut before = variables::pass_on(context, head, StatusCode::OK);
    // REDIRECT_URL has the old path, but REDIRECT_QUERY_STRING the new query, as in httpd.
    before.set("REDIRECT_QUERY_STRING", made.query.clone());
    context.inherit_variables(before);
    onward(head, &path, made.query.as_deref()).map(|head| InFolder::Onward(Box::new(head)))
}

/// Runs the rules. A redirect or a status from a rule is returned as an error.
async fn follow(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    rules: &Rewrite,
    start: Start,
) -> Result<Rewritten, Refusal> {
    let asked = AskedOf { context, head, route };
    let made = context.generation.ask(|| Ok(context.apply_rules(|| run(rules, start.clone(), &asked)))).await?;
    route.in_time()?;
    if made.end {
        context.end_rules();
    }
    add_fields(context, &made);
    if made.too_much {
        context.complain(
            route,
            &"RewriteRule: the rules of this place need too much work, and are not followed to their end",
        );
    } else {
        context.within_limits(route)?;
    }
    match &made.away {
        None => Ok(made),
        Some(Away::Status(status)) => Err(Refusal::new(status_of(*status))),
        Some(Away::To(status, location)) => Err(match HeaderValue::from_str(location) {
            Ok(location) => Refusal::with(status_of(*status), LOCATION, location),
            Err(_) => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR),
        }),
    }
}

/// Adds the rules' `Vary` and `Set-Cookie` headers to the later response.
fn add_fields(context: &RequestContext, made: &Rewritten) {
    let vary = made.vary.iter().map(|name| (VARY, name));
    for (name, text) in vary.chain(made.cookies.iter().map(|line| (SET_COOKIE, line))) {
        if let Ok(value) = HeaderValue::from_str(text) {
            context.add_field(name, value);
        }
    }
}

fn status_of(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Sets the rules' variables as initial variables of the request.
fn note(context: &RequestContext, head: &Parts, route: &Rc<Route>, made: &Rewritten) -> Result<(), Refusal> {
    for (name, value) in &made.variables {
        let value = value.as_deref().map(|value| String::from_utf8_lossy(&Text::bytes_in(value)).into_owned());
        context.inherit_variable(name, value);
    }
    variables::forget(context);
    settle(context, head, route)
}

fn query_of(head: &Parts) -> Option<String> {
    target::query(head).map(|query| Text::new(query).0)
}

/// The request's head with another path and query.
fn onward(head: &Parts, path: &str, query: Option<&str>) -> Result<Parts, Refusal> {
    let mut target = percent_encode(&Text::bytes_in(path), PATH).to_string();
    if let Some(query) = query {
        target.push('?');
        target.extend(percent_encode(&Text::bytes_in(query), QUERY));
    }
    let mut head = head.clone();
    head.uri = Uri::try_from(target).map_err(|_| Refusal::new(StatusCode::URI_TOO_LONG))?;
    Ok(head)
}
