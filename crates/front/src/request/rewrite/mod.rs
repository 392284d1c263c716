//! `RewriteRule`: rewrites a request on its way to its handler.
//!
//! A host's rules run before redirects and the access check; a folder's rules run after the access check.

mod ahead;
mod asked;
mod explained;
mod places;
mod stored;

use std::borrow::Cow;
use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderValue, LOCATION, SET_COOKIE, VARY};
use http::request::Parts;
use http::{StatusCode, Uri};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

use super::access::admit;
use super::context::{RequestContext, variables};
use super::files;
use super::place::{find, settle, settle_all};
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::log::error_logs::LineClass;
use crate::routing::{Route, bytes};
use ahead::answer;
use asked::trace_level;
use base::path::{PATH, Text};
use config::proxy::{BackendParameters, BackendUrl, Passed};
use config::response::rewrite::{Question, Rewrite, Rewritten, RuleAnswer, RuleInput, RuleResponse, run};
use config::{At, Handler, LogLevel, fcgi};
use places::{file_of, lacks_slash, own_path, path_of, tidy};

pub use ahead::{is_accessible, look_ahead};
pub use asked::AskedOf;
pub use explained::{ExplainedRequest, explain, with_conditions};
pub use places::{PartedName, document_root, parted};

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
    let applies = |rules: &&Rewrite| {
        rules.is_on() && !context.rules_have_ended() && (!is_about_all || rules.options().allow_any_uri)
    };
    let Some(rules) = rules.filter(applies) else {
        return Ok((head, route));
    };
    Box::pin(by_rules_of_host(context, head, route, rules)).await
}

async fn by_rules_of_host<'a>(
    context: &RequestContext,
    head: Cow<'a, Parts>,
    route: Rc<Route>,
    rules: &Rewrite,
) -> Result<(Cow<'a, Parts>, Rc<Route>), Refusal> {
    let is_about_all = head.uri.path() == "*";
    let path = if is_about_all { "*".to_owned() } else { Text::new(&route.path).0 };
    let is_subrequest = context.is_subrequest();
    let start = RuleInput { path, path_info: String::new(), query: query_of(&head), is_subrequest };
    let made = follow(context, &head, &route, rules, start).await?;
    let made = Rewritten { path: tidy(&made.path), ..made };
    if !made.variables.is_empty() {
        note(context, &head, &route, &made)?;
    }
    if let Some(RuleResponse::Backend(url)) = &made.away {
        let to = backend(context, &route, url, false)?;
        let route = Rc::new(context.generation.routes.at_backend(&context.generation.config, &route, to));
        settle_all(context, &head, &route).await?;
        return Ok((head, route));
    }
    if !made.changed {
        return Ok((head, route));
    }
    if !made.path.starts_with('/') {
        return Err(Refusal::new(StatusCode::BAD_REQUEST));
    }
    trace(context, &route, 1, &format_args!("go-ahead with {} [OK]", made.path));
    if made.pass_through {
        let onward = onward(&head, &made.path, made.query.as_deref())?;
        let route = find(context, &onward).await?;
        // The variables may depend on the query.
        variables::invalidate(context);
        settle_all(context, &onward, &route).await?;
        return Ok((Cow::Owned(onward), route));
    }
    // The request's path stays unchanged and only its file is replaced, as in httpd.
    let onward = onward(&head, &Text::new(&route.path).0, made.query.as_deref())?;
    let moved = context.generation.wait_for(|| {
        let file = file_of(context, &route, &made)?;
        let path = own_path(context, &route, &made, &file);
        context.generation.routes.at_file(&context.generation.config, &route, &file, path)
    });
    let moved = moved.await?;
    variables::invalidate(context);
    settle_all(context, &onward, &moved).await?;
    Ok((Cow::Owned(onward), moved))
}

/// The effect of a folder's rules on a request.
pub enum InFolder {
    /// The rules did not change the request.
    Same,
    /// Continue with this head, on the same route.
    Here(Box<Parts>),
    /// Process this request from the start.
    Onward(Box<Parts>),
    /// The backend of this route answers.
    Backend(Rc<Route>),
}

/// Applies the rules of the route's folder.
pub async fn of_folder(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<InFolder, Refusal> {
    let rules = &route.settings.response.rewrite;
    if !rules.is_on() || context.rules_have_ended() {
        return Ok(InFolder::Same);
    }
    Box::pin(by_rules_of_folder(context, head, route, rules)).await
}

async fn by_rules_of_folder(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    rules: &Rewrite,
) -> Result<InFolder, Refusal> {
    admit(context, head, route).await?;
    let query = query_of(head);
    let whole = Text::new(bytes(&route.filename)).0;
    // As in httpd, the folder without its slash is first redirected to the path with it.
    let is_folder_itself = rules.folder.as_deref().is_some_and(|folder| folder.strip_suffix('/') == Some(&whole));
    if is_folder_itself && !rules.options().allow_no_slash {
        return Ok(InFolder::Same);
    }
    let start = RuleInput {
        path: whole.clone(),
        path_info: String::new(),
        query: query.clone(),
        is_subrequest: context.is_subrequest(),
    };
    let (made, file, is_folder) = match known(context, route, rules, &start).await? {
        Some(made) => (take_effect(context, route, rules, made)?, whole.clone(), false),
        None => {
            let PartedName { file, path_info, is_folder } =
                context.generation.wait_for(|| Ok(parted(context, route))).await?;
            let start = RuleInput { path: file.clone(), path_info, ..start };
            (follow(context, head, route, rules, start).await?, file, is_folder)
        }
    };
    if !made.variables.is_empty() {
        note(context, head, route, &made)?;
    }
    if let Some(RuleResponse::Backend(url)) = &made.away {
        let to = backend(context, route, url, true)?;
        // The rules of a file's own sections hold, too, if the path continues behind the file's name.
        if let Some(of_file) = context.generation.wait_for(|| files::behind(&context.generation, route)).await? {
            admit(context, head, &of_file).await?;
        }
        return Ok(InFolder::Backend(Rc::new(route.passed_to(to))));
    }
    if !made.changed || made.path == file && made.query == query {
        return Ok(InFolder::Same);
    }
    // An unchanged file is not processed again, and a folder without a trailing slash gets its redirect, as in httpd.
    let is_same = made.path == file;
    if is_same || is_folder && !rules.options().allow_no_slash && lacks_slash(route) {
        trace(context, route, 1, &format_args!("initial URL equal rewritten URL: {} [IGNORING REWRITE]", made.path));
        let own = Text::new(&route.path).0;
        return onward(head, &own, made.query.as_deref()).map(|head| InFolder::Here(Box::new(head)));
    }
    let path = path_of(document_root(context, route), route, rules, &made.path, &whole);
    if !path.starts_with('/') {
        return Err(Refusal::new(StatusCode::BAD_REQUEST));
    }
    trace(context, route, 1, &format_args!("internal redirect with {path} [INTERNAL REDIRECT]"));
    // REDIRECT_URL has the old path, but REDIRECT_QUERY_STRING the new query, as in httpd.
    context.inherit_redirect(made.query.clone());
    onward(head, &path, made.query.as_deref()).map(|head| InFolder::Onward(Box::new(head)))
}

/// The backend of a rule with the flag `P`.
fn backend(context: &RequestContext, route: &Route, url: &str, of_folder: bool) -> Result<Passed, Refusal> {
    // As for SetHandler, only the configuration itself decides which applications, sockets, balancers and backends with
    // TLS a folder may use.
    let parsed = BackendUrl::parse(url).and_then(|url| match !of_folder || route.settings.fcgi.allows(&url) {
        true => Ok(url),
        false => Err(fcgi::unnamed(&url)),
    });
    let url = parsed.map_err(|why| {
        context.log_error(route, &format_args!("RewriteRule: flag P: {why}"));
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
    })?;
    // As in httpd, a backend that only a rule names is tried each time.
    let parameters = BackendParameters { noquery: true, retry: Some(Duration::ZERO), ..BackendParameters::default() };
    Ok(Passed { url, parameters: Arc::new(parameters), at: At::default() })
}

/// The stored result of a folder's rules, if it is the same wherever the file's name ends in `whole`: the disk need not
/// be searched for that.
async fn known(
    context: &RequestContext,
    route: &Route,
    rules: &Rewrite,
    whole: &RuleInput,
) -> Result<Option<Rewritten>, Refusal> {
    if trace_level(context, route) > 0 {
        return Ok(None);
    }
    // A path that is rewritten to a part of itself may be that of the file.
    let is_another = |made: &Rewritten| !made.changed || !whole.path.starts_with(&made.path);
    let Some(made) = stored::recall_undivided(route, rules, whole).filter(is_another) else { return Ok(None) };
    // A folder without its slash is redirected to the path with it, whatever the rules say.
    let may_be_folder = made.changed && !rules.options().allow_no_slash && lacks_slash(route);
    let is_there = || Ok(may_be_folder && context.generation.opener.is_there(&route.filename));
    match context.generation.wait_for(is_there).await? {
        true => Ok(None),
        false => Ok(Some(made)),
    }
}

/// Runs the rules. A redirect or a status from a rule is returned as an error.
async fn follow(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    rules: &Rewrite,
    start: RuleInput,
) -> Result<Rewritten, Refusal> {
    let made = until_answered(context, head, route, rules, start).await?;
    take_effect(context, route, rules, made)
}

/// Applies the effects of rules on the request besides its path.
fn take_effect(
    context: &RequestContext,
    route: &Route,
    rules: &Rewrite,
    made: Rewritten,
) -> Result<Rewritten, Refusal> {
    route.in_time()?;
    for line in &made.trace {
        trace(context, route, line.level, &line.text);
    }
    forced(context, route, rules, &made);
    if made.end {
        context.end_rules();
    }
    add_fields(context, &made);
    if made.too_much {
        context
            .log_error(route, &"RewriteRule: the rules exceed their work limit for one request, and are not completed");
    } else {
        context.within_limits(route)?;
    }
    match &made.away {
        None | Some(RuleResponse::Backend(_)) => Ok(made),
        Some(RuleResponse::Status(status)) => Err(Refusal::new(status_of(*status))),
        Some(RuleResponse::To(status, location)) => Err(match HeaderValue::from_str(location) {
            Ok(location) => Refusal::with(status_of(*status), LOCATION, location),
            Err(_) => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR),
        }),
    }
}

/// Maximum number of questions of a place's rules for one request.
const MAX_QUESTIONS: usize = 50;

/// Runs the rules, and answers their questions, until they have no more.
async fn until_answered(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    rules: &Rewrite,
    start: RuleInput,
) -> Result<Rewritten, Refusal> {
    let trace_level = trace_level(context, route);
    if let Some(made) = stored::recall(route, rules, &start).filter(|_| trace_level == 0) {
        return Ok(made);
    }
    let mut answers: Vec<(Question, RuleAnswer)> = Vec::new();
    for _ in 0..MAX_QUESTIONS {
        let source = AskedOf { context, head, route, answers: &answers, trace_level };
        context.begin_evaluation();
        let made =
            context.generation.wait_for(|| Ok(context.apply_rules(|| run(rules, start.clone(), &source)))).await?;
        if context.finds_answer(head, route).await {
            continue;
        }
        let Some(question) = made.question else {
            stored::store(route, rules, start, &made);
            return Ok(made);
        };
        let found = answer(context, head, route, &question).await;
        answers.push((question, found));
    }
    context.log_error(
        route,
        &format_args!("RewriteRule: the rules look up more than {MAX_QUESTIONS} paths, files or values of programs for one request; use fewer -F, -U, LA-U:, LA-F: and prg: maps"),
    );
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Stores handler and media type for the response.
fn forced(context: &RequestContext, route: &Route, rules: &Rewrite, made: &Rewritten) {
    let handler = made.forced.handler.as_deref().map(Handler::named);
    if let Some(handler) = handler.filter(|handler| handler.is_page() && rules.folder.is_some()) {
        let name = handler.name().unwrap_or_default();
        context.log_error(
            route,
            &format_args!(
                "RewriteRule: [H={name}] is ignored in <Directory> and .htaccess, because its page shows the whole server; move it to the virtual host"
            ),
        );
        return;
    }
    context.force(made.forced.clone());
}

/// Writes a line for `LogLevel rewrite:trace1` to `trace8`.
fn trace(context: &RequestContext, route: &Route, level: u8, text: &dyn Display) {
    if level <= trace_level(context, route) {
        context.log(route, LineClass { level: LogLevel::trace(level), module: "rewrite" }, text);
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
    variables::invalidate(context);
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
