//! `Header`, `RequestHeader`, `Expires…` and `AddDefaultCharset`: headers from the configuration.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, EXPIRES, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, SET_COOKIE, VARY,
};
use http::request::Parts;
use http::{Response, StatusCode};

use super::body::BodySource;
use super::header_rules::{RuleOf, append, apply, asking, change};
use super::header_tables::HeaderTables;
use super::tracking;
use crate::base::changed_headers::ChangedHeaders;
use crate::base::field_names::{ConfiguredNames, is_title_case};
use crate::base::refusal::Refusal;
use crate::base::response_facts::AlwaysHeaders;
use crate::request::context::RequestContext;
use crate::routing::Route;
use config::response::headers::HeaderRule;
use config::{Config, work};

/// The request's head for programs. An error if the rules of a `.htaccess` file take too long.
pub async fn edited<'a>(context: &RequestContext, head: &'a Parts, route: &Route) -> Result<Cow<'a, Parts>, Refusal> {
    match is_admitted(context, head) && route.settings.response.request_rules().next().is_none() {
        true => Ok(Cow::Borrowed(head)),
        false => Box::pin(edited_late(context, admitted(context, head), route)).await,
    }
}

/// Whether Perl phases and programs may see the head as it is.
fn is_admitted(context: &RequestContext, head: &Parts) -> bool {
    context.changed_headers().is_none() && !head.headers.keys().any(is_between_servers)
}

/// The request's head as Perl phases and programs may see it: without the fields by which servers trust each other, and
/// with the changes of RemoteIP and of `RequestHeader … early`.
pub fn admitted<'a>(context: &RequestContext, head: &'a Parts) -> Cow<'a, Parts> {
    if is_admitted(context, head) {
        return Cow::Borrowed(head);
    }
    let mut changed = head.clone();
    for name in head.headers.keys().filter(|name| is_between_servers(name)) {
        changed.headers.remove(name);
    }
    if let Some(forwarded) = context.changed_headers() {
        forwarded.apply(&mut changed.headers);
    }
    Cow::Owned(changed)
}

/// Applies the rules of `RequestHeader` that are not `early`, which see what Perl phases have set.
pub async fn edited_late<'a>(
    context: &RequestContext,
    head: Cow<'a, Parts>,
    route: &Route,
) -> Result<Cow<'a, Parts>, Refusal> {
    let rules = &route.settings.response;
    if rules.request_rules().next().is_none() {
        return Ok(head);
    }
    let mut changed = head.clone().into_owned();
    let of = RuleOf::request(context, route);
    let late = || rules.request_rules().filter(|rule| !rule.early);
    of.answer_questions(asking(late()), &head.headers).await;
    context.apply_rules(|| {
        let mut store = work::WorkStore::default();
        late().for_each(|rule| apply(rule, of, &mut changed.headers, &mut store));
    });
    context.within_limits(route)?;
    if route.settings.response.headers.iter().any(HeaderRule::has_expressions) {
        context.ask_with(&changed.headers);
    }
    Ok(Cow::Owned(changed))
}

/// Applies `RequestHeader … early`, once per request: everything after it reads the changed headers, `SetEnvIf` and
/// access rules too. An error if the rules take too long.
pub fn settle_early(context: &RequestContext, head: &Parts, route: &Route) -> Result<(), Refusal> {
    let rules = || route.settings.response.request_headers.iter().filter(|rule| rule.early);
    if rules().next().is_none() || context.has_early_headers() {
        return Ok(());
    }
    let mut changed = head.headers.clone();
    if let Some(forwarded) = context.changed_headers() {
        forwarded.apply(&mut changed);
    }
    let of = RuleOf::request(context, route);
    context.apply_rules(|| {
        let mut store = work::WorkStore::default();
        rules().for_each(|rule| apply(rule, of, &mut changed, &mut store));
    });
    context.within_limits(route)?;
    context.set_early_headers(ChangedHeaders::between(&head.headers, &changed));
    Ok(())
}

/// Whether a header belongs to the protocol by which programs name a file for the server to send, and proxies allow
/// that. These headers are removed from a client's request.
fn is_between_servers(name: &HeaderName) -> bool {
    let Some(name) = name.as_str().strip_prefix("x-") else { return false };
    matches!(name, "sendfile" | "sendfile-type" | "lighttpd-send-file" | "lighttpd-send-tempfile")
        || name.starts_with("accel-")
        || name.starts_with("reproxy-")
}

/// Whether expressions about the response may need answers.
pub fn may_ask(context: &RequestContext) -> bool {
    let has_condition = || {
        let host = context.generation.config.hosts.get(context.host());
        host.is_some_and(|host| host.access_logs.iter().any(|log| log.condition.is_some()))
    };
    let route = context.route();
    route.as_ref().is_some_and(|route| !route.settings.response.headers.is_empty() || has_condition())
}

/// Finds the answers that expressions of `Header` and `CustomLog` need; `refused`: the page is the front's own.
pub async fn answer_questions(context: &RequestContext, response: &Response<BodySource>, refused: bool) {
    let Some(route) = context.route().clone() else { return };
    let length = response.body().length();
    let of = RuleOf::response(context, &route, response.status(), length);
    let mut all = asking(route.settings.response.headers.iter().filter(|rule| rule.always || !refused));
    let logs = context.generation.config.hosts.get(context.host()).map_or(&[][..], |host| &host.access_logs);
    let conditions = logs.iter().filter_map(|log| log.condition.as_ref()?.expr().filter(|expr| expr.may_need_lookup()));
    all.extend(conditions.map(|condition| (Some(condition), None)));
    of.answer_questions(all, response.headers()).await;
}

/// A response whose headers are completed.
#[derive(Clone, Copy)]
pub struct CompletedResponse<'a> {
    pub status: StatusCode,
    /// Length of its body, if it is known.
    pub length: Option<u64>,
    /// Fields in the table of `Header always`.
    pub always: Option<&'a AlwaysHeaders>,
    /// Whether the page is the front's own.
    pub refused: bool,
}

/// Completes the headers of a response. An error if the rules take too long.
pub fn complete(context: &RequestContext, of: CompletedResponse<'_>, headers: &mut HeaderMap) -> Result<(), Refusal> {
    let route = context.route();
    let Some(route) = route.as_deref() else { return Ok(()) };
    let rules = &route.settings.response;
    let mut tables = HeaderTables::of(std::mem::take(headers), of.always);
    let fields = context.take_fields();
    let is_negotiated = fields.iter().any(|(name, _)| name.as_str() == "tcn");
    tracking::track(context, &mut tables, &rules.tracking);
    for (name, value) in fields {
        tables.of_rule(name == SET_COOKIE, name.as_str()).append(name, value);
    }
    if let Some(Some(charset)) = &rules.types.default_charset {
        add_charset(&mut tables.success, charset);
    }
    let is_error = of.status.is_client_error() || of.status.is_server_error();
    if !is_error && rules.expires.active == Some(true) && !tables.always.contains_key(EXPIRES) {
        expire(&mut tables.success, &context.generation.config, route);
    }
    let rule_of = RuleOf::response(context, route, of.status, of.length);
    let is_due: fn(&HeaderRule) -> bool =
        if of.refused { |rule: &HeaderRule| rule.always } else { |_: &HeaderRule| true };
    if !rules.headers.is_empty() {
        context.apply_rules(|| change(rule_of, &mut tables, &rules.headers, is_due));
    }
    *headers = tables.into_headers();
    // Vary, by the conditions of these rules.
    for (name, value) in context.take_fields() {
        if !headers.get_all(&name).iter().any(|known| *known == value) {
            headers.append(name, value);
        }
    }
    if is_negotiated {
        join_vary(headers);
    }
    if of.refused { Ok(()) } else { context.within_limits(route) }
}

/// The names of fields that rules of `Header` may have made, and that hyper would spell otherwise.
pub fn configured_names(context: &RequestContext, headers: &HeaderMap) -> Option<ConfiguredNames> {
    let route = context.route();
    let rules = &route.as_deref()?.settings.response.headers;
    let makes = |rule: &&HeaderRule| rule.action.makes_field() && !is_title_case(rule.written.as_bytes());
    let mut names = rules.iter().filter(makes).filter(|rule| headers.contains_key(rule.name.as_str())).peekable();
    names.peek()?;
    Some(ConfiguredNames(names.flat_map(|rule| [rule.written.as_bytes(), b"\n"].concat()).collect()))
}

/// Joins all `Vary` fields of a negotiated response to one, each name once, as httpd does.
fn join_vary(headers: &mut HeaderMap) {
    let fields: Vec<HeaderValue> = headers.get_all(VARY).iter().cloned().collect();
    let mut names: Vec<&str> = Vec::new();
    for name in fields.iter().filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(',')).map(str::trim) {
        if !name.is_empty() && !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name);
        }
    }
    if let Ok(names) = HeaderValue::from_str(&names.join(",")) {
        headers.insert(VARY, names);
    }
}

fn add_charset(headers: &mut HeaderMap, charset: &str) {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let Some(kind) = kind.filter(|kind| matches!(mime(kind), "text/html" | "text/plain")) else { return };
    if kind.to_ascii_lowercase().contains("charset=") {
        return;
    }
    if let Ok(value) = HeaderValue::from_str(&format!("{kind}; charset={charset}")) {
        headers.insert(CONTENT_TYPE, value);
    }
}

/// A media type without its parameters.
pub fn mime(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

/// Adds Expires and max-age. A response with Expires is left unchanged.
fn expire(headers: &mut HeaderMap, config: &Config, route: &Route) {
    let rules = &route.settings.response;
    if headers.contains_key(EXPIRES) {
        return;
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // A 304 has no type, so the type of its file is used.
    let usual = |extension: &str| files::mime::usual(config, extension);
    let kind = content_type.map(str::to_owned).or_else(|| rules.types.describe(&file_name(route), usual).mime);
    let Some(span) = rules.expires.of(mime(kind.as_deref().unwrap_or_default())) else { return };
    let now = SystemTime::now();
    let from = match span.from_change {
        false => now,
        true => match headers.get(LAST_MODIFIED).and_then(|value| httpdate::parse_http_date(value.to_str().ok()?).ok())
        {
            Some(changed) => changed,
            None => return,
        },
    };
    let length = Duration::from_secs(span.seconds.unsigned_abs());
    let until = if span.seconds < 0 { from.checked_sub(length) } else { from.checked_add(length) };
    // For clients, an expiry in the past is the same as one now.
    let until = until.map(|until| until.max(now));
    let Some(until) = until.filter(|until| *until > UNIX_EPOCH && *until < UNIX_EPOCH + LATEST) else { return };
    let age = until.duration_since(now).map_or(0, |left| left.as_secs_f64().round() as u64);
    append(headers, CACHE_CONTROL, &format!("max-age={age}"), &mut work::WorkStore::default());
    if let Ok(date) = HeaderValue::from_str(&httpdate::fmt_http_date(until)) {
        headers.insert(EXPIRES, date);
    }
}

/// HTTP dates end with the year 9999, in seconds since 1970.
const LATEST: Duration = Duration::from_secs(253_402_300_799);

fn file_name(route: &Route) -> String {
    route.filename.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
