//! `Header`, `RequestHeader`, `Expires…` and `AddDefaultCharset`: headers from the configuration.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{CACHE_CONTROL, CONTENT_TYPE, EXPIRES, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, VARY};
use http::request::Parts;
use http::{Response, StatusCode};

use super::body::BodySource;
use super::tracking;
use crate::base::changed_headers::ChangedHeaders;
use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::context::expressions::{ExprOf, SeenResponse};
use crate::routing::Route;
use config::response::ResponseRules;
use config::response::expr::{Expr, ExprText};
use config::response::headers::{HeaderChange, HeaderRule, LoadFigure, Moment};
use config::response::setenv::EnvCondition;
use config::work;

/// The request's head for programs. An error if the rules of a `.htaccess` file take too long.
pub async fn edited<'a>(context: &RequestContext, head: &'a Parts, route: &Route) -> Result<Cow<'a, Parts>, Refusal> {
    edited_late(context, admitted(context, head), route).await
}

/// The request's head as Perl phases and programs may see it: without the fields by which servers trust each other, and
/// with the changes of RemoteIP and of `RequestHeader … early`.
pub fn admitted<'a>(context: &RequestContext, head: &'a Parts) -> Cow<'a, Parts> {
    let forwarded = context.changed_headers();
    if forwarded.is_none() && !head.headers.keys().any(is_between_servers) {
        return Cow::Borrowed(head);
    }
    let mut changed = head.clone();
    for name in head.headers.keys().filter(|name| is_between_servers(name)) {
        changed.headers.remove(name);
    }
    if let Some(forwarded) = forwarded {
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
    let rules = &route.settings.response.request_headers;
    if rules.is_empty() {
        return Ok(head);
    }
    let mut changed = head.clone().into_owned();
    let of = RuleOf { context, route, status: None, length: None };
    let late = || rules.iter().filter(|rule| !rule.early);
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
    let of = RuleOf { context, route, status: None, length: None };
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

/// The response to which the rules of `Header` are applied.
#[derive(Clone, Copy)]
struct RuleOf<'a> {
    context: &'a RequestContext,
    route: &'a Route,
    /// Status of the response; `None`: the rules are for the request.
    status: Option<StatusCode>,
    /// Length of the response's body, if it is known.
    length: Option<u64>,
}

impl RuleOf<'_> {
    fn as_source<'b>(&'b self, headers: &'b HeaderMap) -> ExprOf<'b> {
        let response = self.status.map(|status| SeenResponse { status, headers, length: self.length });
        ExprOf { response, ..ExprOf::request(self.context, &self.context.head, self.route) }
    }

    /// Finds the answers that these expressions need.
    async fn answer_questions(self, asking: Vec<AskingRule<'_>>, headers: &HeaderMap) {
        if asking.is_empty() {
            return;
        }
        let source = self.as_source(headers);
        let evaluate = || {
            for (condition, value) in &asking {
                if condition.is_none_or(|condition| self.context.is_true(&source, condition)) {
                    value.map(|value| self.context.text_of(&source, value));
                }
            }
        };
        self.context.answered(&self.context.head, self.route, evaluate).await;
    }
}

/// Condition and value of a rule, as far as they are expressions with questions.
type AskingRule<'a> = (Option<&'a Expr>, Option<&'a ExprText>);

fn asking<'a>(rules: impl Iterator<Item = &'a HeaderRule>) -> Vec<AskingRule<'a>> {
    rules.map(HeaderRule::asking).filter(|asking| *asking != (None, None)).collect()
}

/// Finds the answers that expressions of `Header` and `CustomLog` need; `refused`: the page is the front's own.
pub async fn answer_questions(context: &RequestContext, response: &Response<BodySource>, refused: bool) {
    let Some(route) = context.route().clone() else { return };
    let length = response.body().length();
    let of = RuleOf { context, route: &route, status: Some(response.status()), length };
    let mut all = asking(route.settings.response.headers.iter().filter(|rule| rule.always || !refused));
    let logs = context.generation.config.hosts.get(context.host()).map_or(&[][..], |host| &host.access_logs);
    let conditions = logs.iter().filter_map(|log| log.condition.as_ref()?.expr().filter(|expr| expr.may_need_lookup()));
    all.extend(conditions.map(|condition| (Some(condition), None)));
    of.answer_questions(all, response.headers()).await;
}

/// Completes the headers of a response with this status and length of body; `refused`: the page is the front's own. An
/// error if the rules take too long.
pub fn complete(
    context: &RequestContext,
    status: StatusCode,
    length: Option<u64>,
    headers: &mut HeaderMap,
    refused: bool,
) -> Result<(), Refusal> {
    let route = context.route();
    let Some(route) = route.as_deref() else { return Ok(()) };
    let rules = &route.settings.response;
    let fields = context.take_fields();
    tracking::track(context, headers, &rules.tracking);
    let is_negotiated = fields.iter().any(|(name, _)| name.as_str() == "tcn");
    for (name, value) in fields {
        headers.append(name, value);
    }
    if let Some(Some(charset)) = &rules.types.default_charset {
        add_charset(headers, charset);
    }
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error && rules.expires.active == Some(true) {
        expire(headers, rules, route);
    }
    if !rules.headers.is_empty() {
        let of = RuleOf { context, route, status: Some(status), length };
        context.apply_rules(|| change(of, headers, rules, refused));
        // Vary, by the conditions of these rules.
        for (name, value) in context.take_fields() {
            if !headers.get_all(&name).iter().any(|known| *known == value) {
                headers.append(name, value);
            }
        }
    }
    if is_negotiated {
        join_vary(headers);
    }
    if refused { Ok(()) } else { context.within_limits(route) }
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

fn change(of: RuleOf<'_>, headers: &mut HeaderMap, rules: &ResponseRules, refused: bool) {
    let mut store = work::WorkStore::default();
    let due = || rules.headers.iter().filter(|rule| rule.always || !refused);
    if due().any(|rule| rule.early) {
        let mut early = HeaderMap::new();
        due().filter(|rule| rule.early).for_each(|rule| apply(rule, of, &mut early, &mut store));
        for (name, value) in &early {
            // An early header does not replace the one from the response.
            if !headers.contains_key(name) {
                headers.append(name, value.clone());
            }
        }
    }
    due().filter(|rule| !rule.early).for_each(|rule| apply(rule, of, headers, &mut store));
}

fn apply(rule: &HeaderRule, of: RuleOf<'_>, headers: &mut HeaderMap, store: &mut work::WorkStore) {
    let context = of.context;
    let holds = |condition: &EnvCondition| {
        let is_true = |expr: &Expr| context.is_true(&of.as_source(headers), expr);
        condition.holds(|name| context.has_variable(name), is_true)
    };
    if !work::spend(work::RULE) || rule.condition.as_ref().is_some_and(|condition| !holds(condition)) {
        return;
    }
    let expression = rule.action.expr().map(|text| context.text_of(&of.as_source(headers), text));
    let variables = context.variables();
    let moment = Moment {
        received: context.received.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64),
        took: context.started.elapsed().as_micros() as u64,
        variables: &variables,
        tls: &|name| context.tls_variable_at(name, &of.route.settings.response.ssl),
        load: &|figure| load(context, figure),
        expr: expression.as_deref().unwrap_or_default(),
    };
    if let HeaderChange::Echo(pattern) = &rule.action {
        let echoed = context.headers_of(&context.head).filter(|(name, _)| pattern.is_match(name.as_str()));
        let echoed = echoed.take_while(|(name, value)| store.has_room(name.as_str().len() + value.len()));
        return echoed.for_each(|(name, value)| {
            headers.append(name.clone(), value.clone());
        });
    }
    let Ok(name) = HeaderName::from_bytes(rule.name.as_bytes()) else { return };
    let mut value = |text: &str| HeaderValue::from_str(text).ok().filter(|_| store.has_room(text.len()));
    match &rule.action {
        HeaderChange::Set(text) => match value(&text.text(moment)) {
            Some(value) => drop(headers.insert(name, value)),
            // The client's own value must not pass for that of the rule.
            None => drop(headers.remove(name)),
        },
        HeaderChange::SetIfEmpty(text) if !headers.contains_key(&name) => {
            drop(value(&text.text(moment)).map(|value| headers.insert(name, value)));
        }
        HeaderChange::SetIfEmpty(_) => {}
        HeaderChange::Add(text) => drop(value(&text.text(moment)).map(|value| headers.append(name, value))),
        HeaderChange::Append(text) => append(headers, name, &text.text(moment), store),
        HeaderChange::Merge(text) => {
            let text = text.text(moment);
            if !listed(headers, &name, &text) {
                append(headers, name, &text, store);
            }
        }
        HeaderChange::Unset => drop(headers.remove(name)),
        HeaderChange::Edit { pattern, by, all } => {
            let by = by.text(moment);
            work::spend(headers.len());
            for found in headers.iter_mut().filter(|(known, _)| **known == name).map(|(_, value)| value) {
                let text = String::from_utf8_lossy(found.as_bytes());
                if !work::spend(text.len()) {
                    return;
                }
                if let Some(edited) = pattern.replaced(&text, &by, *all, LONGEST).and_then(|edited| value(&edited)) {
                    *found = edited;
                }
            }
        }
        HeaderChange::Note(note) => {
            let values: Vec<_> =
                headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            let value = values.join(", ");
            if !values.is_empty() && store.has_room(note.len() + value.len()) {
                context.set_note(note, value);
            }
        }
        HeaderChange::Echo(_) => {}
    }
}

fn load(context: &RequestContext, figure: LoadFigure) -> String {
    let load = || context.generation.pools.iter().map(|pool| pool.load());
    let (idle, busy) = load().fold((0, 0), |(idle, busy), load| (idle + load.idle as usize, busy + load.busy as usize));
    let percent = |part: usize| (100 * part / (idle + busy).max(1)).to_string();
    match figure {
        LoadFigure::Averages => status::auto::load_averages().join("/"),
        LoadFigure::Idle => percent(idle),
        LoadFigure::Busy => percent(busy),
    }
}

/// Maximum length in bytes of a value edited by rules. Each rule could double the value of the previous one.
const LONGEST: usize = 32 << 10;

/// Appends to the first field of this name; further fields stay unchanged.
fn append(headers: &mut HeaderMap, name: HeaderName, text: &str, store: &mut work::WorkStore) {
    let values: Vec<HeaderValue> = headers.get_all(&name).iter().cloned().collect();
    let joined = match values.first() {
        Some(known) => [known.as_bytes(), b", ", text.as_bytes()].concat(),
        None => text.as_bytes().to_vec(),
    };
    work::spend(joined.len() + values.len() * work::RULE);
    if joined.len() <= LONGEST
        && store.has_room(text.len())
        && let Ok(value) = HeaderValue::from_bytes(&joined)
    {
        headers.insert(name.clone(), value);
        for value in values.into_iter().skip(1) {
            headers.append(name.clone(), value);
        }
    }
}

fn listed(headers: &HeaderMap, name: &HeaderName, text: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let lists = lists.take_while(|list| work::spend(list.len() + work::RULE));
    lists.flat_map(|list| list.split(',')).any(|item| item.trim() == text)
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
fn expire(headers: &mut HeaderMap, rules: &ResponseRules, route: &Route) {
    if headers.contains_key(EXPIRES) {
        return;
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // A 304 has no type, so the type of its file is used.
    let kind =
        content_type.map(str::to_owned).or_else(|| rules.types.describe(&file_name(route), files::mime::usual).mime);
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
