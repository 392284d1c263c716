//! `Action` and `Script`: a script answers a request for a file, with the request's method and body.

use http::request::Parts;
use http::{StatusCode, Uri};
use percent_encoding::percent_encode;

use super::context::{RequestContext, redirect_variables};
use super::files::LookupResult;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use base::path::PATH;
use config::Handler;
use files::mime;

/// The route whose script may answer, and whether its file exists.
type ScriptRoute<'a> = (&'a Route, bool);

/// The request for the script that answers in place of the file, if there is one. An unknown handler name is an error.
pub fn script(
    context: &RequestContext,
    head: &Parts,
    requested: &Route,
    found: &Result<LookupResult, Refusal>,
) -> Result<Option<Parts>, Refusal> {
    let Some((route, is_there)) = place(requested, found) else { return Ok(None) };
    let actions = &route.settings.response.actions;
    let name = handler(context, route, is_there);
    let action = name.as_deref().and_then(|name| actions.of(name));
    if let Some(action) = action {
        if !is_there && !action.is_virtual {
            return Ok(None);
        }
        explain(context, head, name.as_deref());
        return onward(head, &action.script, &requested.path).map(Some);
    }
    match actions.of_method(head.method.as_str(), head.uri.query().is_some()) {
        Some(script) => {
            explain(context, head, None);
            onward(head, script, &requested.path).map(Some)
        }
        None => match &route.settings.handler {
            Handler::Named(name) => Err(unknown(context, route, name)),
            _ => Ok(None),
        },
    }
}

fn place<'a>(requested: &'a Route, found: &'a Result<LookupResult, Refusal>) -> Option<ScriptRoute<'a>> {
    let place = match found {
        Ok(LookupResult::Moved(..)) => return None,
        Ok(LookupResult::Folder(_)) => (requested, false),
        Ok(found) => (&**found.file()?, true),
        Err(refusal) if matches!(refusal.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) => {
            (requested, false)
        }
        Err(_) => return None,
    };
    let speaks_of_it = |route: &Route| {
        matches!(route.settings.handler, Handler::Named(_)) || !route.settings.response.actions.is_empty()
    };
    (speaks_of_it(place.0) && place.0.settings.handler.is_about_a_file()).then_some(place)
}

/// The name that an `Action` may refer to: that of the handler, or else the MIME type of the file.
fn handler(context: &RequestContext, route: &Route, is_there: bool) -> Option<String> {
    if let Some(name) = route.settings.handler.name() {
        return Some(name.to_owned());
    }
    let mime = mime::describe(&context.generation.config, &route.settings, &route.filename).mime;
    mime.or_else(|| route.settings.default_type.clone()).filter(|_| is_there)
}

fn unknown(context: &RequestContext, route: &Route, name: &str) -> Refusal {
    let why = format!(
        "handler \"{name}\" not found for {}: no Action defines a script for it (SetHandler, AddHandler)",
        route.filename.display()
    );
    context.log_error(route, &why);
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The request's head with the script's path, followed by the original path as PATH_INFO.
fn onward(head: &Parts, script: &str, path: &[u8]) -> Result<Parts, Refusal> {
    let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let target = format!("{script}{}{query}", percent_encode(path, PATH));
    let uri = Uri::try_from(target).map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))?;
    let mut head = head.clone();
    head.uri = uri;
    Ok(head)
}

/// Sets the `REDIRECT_…` variables for the script.
fn explain(context: &RequestContext, head: &Parts, handler: Option<&str>) {
    let mut variables = redirect_variables::pass_on(context, head, StatusCode::OK);
    variables.set("REDIRECT_HANDLER", handler.map(str::to_owned));
    context.inherit_variables(variables);
}
