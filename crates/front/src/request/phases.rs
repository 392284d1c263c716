//! Perl handlers of the phases of a request that a backend answers. A worker runs them, as httpd with mod_perl does
//! before mod_proxy, and reports what they have set.
//!
//! ```text
//!   phases::run ── frame without the body ──▶ worker: Trans … Access, Authen, Authz … Fixup
//!               ◀─ Onward: user, headers, query, variables ─┘   or the response of a phase
//! ```

use std::borrow::Cow;
use std::rc::Rc;

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HeaderMap, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{StatusCode, Uri};
use wire::reply::OnwardRequest;

use super::ask_worker::{self, WorkerReply};
use super::body::RequestBody;
use super::context::RequestContext;
use super::respond::from_worker;
use super::{Dispatched, repeated};
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::routing::Route;
use config::proxy::Passed;

/// Fields about the connection and the framing of the body, which handlers do not change.
const OF_THE_FRONT: [HeaderName; 7] = [CONNECTION, CONTENT_LENGTH, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// The next step of a request whose phases have run.
pub enum PhasesResult<'a> {
    /// The backend gets the request with this head.
    Onward(Cow<'a, Parts>),
    /// No backend is asked: a handler has refused, or has given a response.
    Answered(Dispatched),
}

/// Lets a worker run the phases of a request on its way to a backend, if Perl code has some. `to`: the URL that
/// handlers see as `$r->filename`, where the request has no file.
pub async fn run<'a>(
    context: &RequestContext,
    head: &'a Parts,
    route: &Rc<Route>,
    body: &RequestBody,
    to: Option<&Passed>,
) -> Result<PhasesResult<'a>, Refusal> {
    if !route.settings.perl_filters.output.is_empty() {
        context.log_error(route, &"a backend answers this path, and its Perl filters would not run; remove the filters, or exclude the path from ProxyPass");
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    }
    if !route.settings.has_perl_handlers() {
        return Ok(PhasesResult::Onward(Cow::Borrowed(head)));
    }
    if body.was_received() {
        context.log_error(route, &"is the index of a folder whose Perl handlers have received the request's body, which cannot be passed to a backend; use ProxyPass for the folder, or remove the handlers");
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    }
    let seen = match to {
        Some(to) => Rc::new(route.with_filename(format!("proxy:{}", to.url))),
        None => route.clone(),
    };
    match ask_worker::run_phases(context, head, &seen).await? {
        WorkerReply::Onward(onward, fields) => {
            if let Some(fields) = fields {
                context.carry(from_worker::fields(fields).map_err(|bad| failed(context, route, &bad))?);
            }
            take_over(context, head, route, onward).map(PhasesResult::Onward)
        }
        answered => ask_worker::deliver(context, head, route, answered).await.map(PhasesResult::Answered),
    }
}

fn failed(context: &RequestContext, route: &Route, why: &dyn std::fmt::Display) -> Refusal {
    context.log_error(route, why);
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Takes over what the phases have set. Returns the head for the backend.
fn take_over<'a>(
    context: &RequestContext,
    head: &'a Parts,
    route: &Route,
    onward: OnwardRequest,
) -> Result<Cow<'a, Parts>, Refusal> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    context.visitor_mut().be(onward.user.map(text), &text(onward.auth_type));
    for (name, value) in onward.variables {
        context.change_variable(&text(name), value.map(text));
    }
    let mut head = Cow::Borrowed(head);
    if onward.query != target::query(&head).unwrap_or_default() {
        let changed = with_query(&head.uri, &onward.query);
        head.to_mut().uri = changed
            .ok_or_else(|| failed(context, route, &"a Perl handler has set a query that is not valid in a URL"))?;
    }
    if let Some(fields) = onward.headers {
        let fields = checked(fields).map_err(|name| {
            failed(
                context,
                route,
                &format_args!("a Perl handler has set an invalid request header: {}", name.escape_ascii()),
            )
        })?;
        change(&mut head, &fields);
    }
    Ok(head)
}

fn with_query(uri: &Uri, query: &[u8]) -> Option<Uri> {
    let query = std::str::from_utf8(query).ok()?;
    let target = match query {
        "" => uri.path().to_owned(),
        query => format!("{}?{query}", uri.path()),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.try_into().ok()?);
    Uri::from_parts(parts).ok()
}

/// The fields as HTTP knows them, or the name of an invalid one.
fn checked(fields: Vec<(Vec<u8>, Vec<u8>)>) -> Result<HeaderMap, Vec<u8>> {
    let mut all = HeaderMap::new();
    for (name, value) in fields {
        match (HeaderName::from_bytes(&name), HeaderValue::from_bytes(&value)) {
            (Ok(known), Ok(value)) => drop(all.append(known, value)),
            _ => return Err(name),
        }
    }
    Ok(all)
}

/// Replaces the fields that differ from those that the worker was sent.
fn change(head: &mut Cow<'_, Parts>, fields: &HeaderMap) {
    let sent_cookies: Option<Vec<u8>> = repeated::cookies(head)
        .map(|cookies| cookies.iter().map(HeaderValue::as_bytes).collect::<Vec<_>>().join(&b", "[..]));
    let joined = |headers: &HeaderMap, name: &HeaderName| {
        let values: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        (!values.is_empty()).then(|| values.join(&b", "[..]))
    };
    let is_sent = |name: &HeaderName, now: &Option<Vec<u8>>| match &sent_cookies {
        Some(sent) if *name == http::header::COOKIE => now.as_ref() == Some(sent),
        _ => joined(&head.headers, name) == *now,
    };
    let names = head.headers.keys().chain(fields.keys()).filter(|name| !OF_THE_FRONT.contains(name));
    let changed: Vec<HeaderName> = names.filter(|name| !is_sent(name, &joined(fields, name))).cloned().collect();
    for name in changed {
        let headers = &mut head.to_mut().headers;
        headers.remove(&name);
        for value in fields.get_all(&name) {
            headers.append(name.clone(), value.clone());
        }
    }
}
