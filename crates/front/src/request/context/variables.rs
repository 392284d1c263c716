//! A request's variables: from `SetEnvIf` and `SetEnv`, of the trace, and about TLS and HTTP/2.

use std::borrow::Cow;
use std::cell::Ref;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use http::request::Parts;

use super::RequestContext;
use super::expressions::{ExprOf, SeenResponse};
use super::unique_id::{self, UNIQUE_ID};
use crate::base::protocol::protocol;
use crate::base::refusal::Refusal;
use crate::routing::{Route, bytes};
use base::path::Text;
use config::pattern::Pattern;
use config::response::expr::Expr;
use config::response::setenv::{EnvCondition, SetEnvIf};
use config::response::ssl::Ssl;
use config::response::variables::{Attribute, Variables};
use config::{Scope, work};

/// A request's variables.
#[derive(Clone, Default)]
pub struct Environment {
    /// The variables that the configuration sets for the request, and the cache's result.
    pub(super) current: Variables,
    /// Whether `current` lacks the request's `UNIQUE_ID`: it is added when the variables are read, and most requests
    /// for files end before that.
    pub(super) lacks_id: bool,
    /// The inputs from which `current` was computed; `None`: `current` must be computed again.
    basis: Option<Basis>,
    /// The variables from before an internal redirect to an error document or action.
    pub(super) inherited: Variables,
    /// What `current` and `inherited` lack of a redirect by rules: most requests for files end before it is read.
    pub(super) lacks: Option<Box<RedirectFacts>>,
}

/// A request before an internal redirect by rules.
#[derive(Clone)]
pub struct RedirectFacts {
    pub(super) variables: Variables,
    pub(super) lacks_id: bool,
    pub(super) route: Option<Rc<Route>>,
    /// The query after the redirect.
    pub(super) query: Option<String>,
}

impl Environment {
    fn set(&mut self, name: &str, value: Option<String>) {
        self.lacks_id &= name != UNIQUE_ID;
        self.current.set(name, value);
    }
}

impl RequestContext {
    pub fn variables(&self) -> Ref<'_, Variables> {
        self.complete_variables();
        if self.environment.borrow().lacks_id {
            let id = self.unique_id();
            self.environment.borrow_mut().set(UNIQUE_ID, Some(id));
        }
        Ref::map(self.environment.borrow(), |environment| &environment.current)
    }

    pub fn has_variable(&self, name: &str) -> bool {
        if name.starts_with("REDIRECT_") {
            self.complete_variables();
        }
        let environment = self.environment.borrow();
        environment.current.get(name).is_some() || environment.lacks_id && name == UNIQUE_ID
    }

    /// Sets a variable until the variables are computed again.
    pub fn set_variable(&self, name: &str, value: &str) {
        self.environment.borrow_mut().set(name, Some(value.to_owned()));
    }

    /// Sets or removes a variable, also when the variables are computed again.
    pub fn change_variable(&self, name: &str, value: Option<String>) {
        self.complete_variables();
        let mut environment = self.environment.borrow_mut();
        environment.inherited.set(name, value.clone());
        environment.set(name, value);
    }

    /// Whether the request inherits variables, as an error document does.
    pub fn inherits_variables(&self) -> bool {
        let environment = self.environment.borrow();
        !environment.inherited.is_empty() || environment.lacks.is_some()
    }

    /// Makes these the initial variables of an internal redirect.
    pub fn inherit_variables(&self, variables: Variables) {
        let mut environment = self.environment.borrow_mut();
        (environment.inherited, environment.lacks) = (variables, None);
    }

    /// Makes the initial variables the current ones, without rules.
    pub fn take_over_variables(&self) {
        self.complete_variables();
        let mut environment = self.environment.borrow_mut();
        (environment.current, environment.lacks_id) = (environment.inherited.clone(), false);
    }

    /// Changes one of the initial variables; `None` removes it.
    pub fn inherit_variable(&self, name: &str, value: Option<String>) {
        self.complete_variables();
        self.environment.borrow_mut().inherited.set(name, value);
    }
}

/// The inputs of the variables of a head; unchanged inputs give unchanged variables.
#[derive(Clone)]
struct Basis {
    route: Rc<Route>,
    name: Option<Rc<str>>,
}

impl Basis {
    fn of(context: &RequestContext, route: &Rc<Route>) -> Basis {
        Basis { route: route.clone(), name: context.visitor().name().cloned() }
    }

    /// Whether the variables for `route` have these inputs.
    fn is_of(&self, context: &RequestContext, route: &Rc<Route>) -> bool {
        let is_same = |own: &Route, other: &Route| {
            Rc::ptr_eq(&own.settings, &other.settings)
                && own.path == other.path
                && own.filename.as_os_str() == other.filename.as_os_str()
        };
        (Rc::ptr_eq(&self.route, route) || is_same(&self.route, route))
            && self.name.as_ref() == context.visitor().name()
    }
}

/// Computes the variables of a request for `route`, unless the inputs are unchanged. An error if that exceeds the
/// limits.
pub fn settle(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    if is_settled(context, route) {
        return context.within_limits(route);
    }
    context.environment.borrow_mut().basis = Some(Basis::of(context, route));
    context.begin_evaluation();
    match route.settings.response.has_variables() || has_named_groups(context, route) {
        true => context.apply_rules(|| work_out(context, head, route)),
        false => work_out(context, head, route),
    }
    if context.has_question() {
        // Without the answer the variables are incomplete.
        invalidate(context);
    }
    context.within_limits(route)
}

/// Whether the variables are those of `route`.
fn is_settled(context: &RequestContext, route: &Rc<Route>) -> bool {
    context.environment.borrow().basis.as_ref().is_some_and(|before| before.is_of(context, route))
}

/// As [`settle`], but waits for the lookups that the expressions of the rules need.
pub async fn settle_all(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    if is_settled(context, route) {
        return context.within_limits(route);
    }
    loop {
        context.begin_evaluation();
        settle(context, head, route)?;
        if !context.finds_answer(head, route).await {
            return Ok(());
        }
        invalidate(context);
    }
}

/// Makes the next [`settle`] compute the variables again, because the head has changed.
pub fn invalidate(context: &RequestContext) {
    context.environment.borrow_mut().basis = None;
}

fn work_out(context: &RequestContext, head: &Parts, route: &Route) {
    let rules = &route.settings.response;
    if rules.has_variables() {
        context.complete_variables();
    }
    let mut variables = context.environment.borrow().inherited.clone();
    name_groups(context, route, &mut variables);
    if rules.has_variables() {
        apply(context, head, route, &rules.set_env_if, &mut variables);
    }
    // As in httpd, SetEnv and UnsetEnv may change the identity that programs see, and SetEnvIf does not know it.
    variables.set(UNIQUE_ID, None);
    let lacks_id = !rules.env.iter().any(|(name, _)| name == UNIQUE_ID);
    if rules.has_variables() {
        variables.set_all(&rules.env);
    }
    if let Some(id) = context.request_id() {
        variables.set("REQUEST_ID", Some(id.to_owned()));
    }
    if let Some(trace) = &context.trace {
        variables.set("TRACE_ID", Some(trace.trace_id()));
    }
    secure(context, route, &mut variables);
    add_user(context, route, &mut variables);
    let mut environment = context.environment.borrow_mut();
    (environment.current, environment.lacks_id) = (variables, lacks_id);
}

/// Sets the variables about the user who was authenticated: `AUTHENTICATE_` and the name of a column, as in httpd.
pub fn name_user(context: &RequestContext, route: &Route) {
    let mut environment = context.environment.borrow_mut();
    add_user(context, route, &mut environment.current);
}

fn add_user(context: &RequestContext, route: &Route, variables: &mut Variables) {
    let rules = &route.settings.access;
    let visitor = context.visitor();
    for (column, value) in visitor.user().iter().flat_map(|user| &user.records.columns) {
        let name: String = column.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        variables.set(&format!("AUTHENTICATE_{}", name.to_ascii_uppercase()), Some(value.clone()));
    }
    for (name, value) in
        visitor.user().iter().filter_map(|user| user.records.entry.as_ref()).flat_map(|entry| entry.variables(rules))
    {
        variables.set(&name, Some(value.to_owned()));
    }
}

/// The patterns of the sections of `route` with their subjects.
fn patterns<'a>(context: &'a RequestContext, route: &'a Route) -> impl Iterator<Item = (&'a Pattern, &'a [u8])> {
    let config = &context.generation.config;
    let of_section = move |number: &u16| match config.scope_of(&route.files, *number)? {
        Scope::LocationMatch(pattern) => Some((pattern, &*route.path)),
        Scope::DirectoryMatch(pattern) => Some((pattern, bytes(&route.filename))),
        Scope::Files(pattern) => Some((pattern, route.filename.file_name().map_or(&[][..], OsStr::as_bytes))),
        _ => None,
    };
    route.sections.iter().filter_map(of_section).filter(|(pattern, _)| pattern.group_names().next().is_some())
}

/// Whether a pattern of the sections of `route` has named groups.
fn has_named_groups(context: &RequestContext, route: &Route) -> bool {
    *route.memo.has_named_groups.get_or_init(|| patterns(context, route).next().is_some())
}

/// Sets `MATCH_NAME` for the named groups of `<LocationMatch>`, `<DirectoryMatch>` and `<FilesMatch>`.
fn name_groups(context: &RequestContext, route: &Route, variables: &mut Variables) {
    if !has_named_groups(context, route) {
        return;
    }
    for (pattern, subject) in patterns(context, route) {
        let subject = Text::new(subject).0;
        if let Some(found) = pattern.find(&subject) {
            for (group, name) in pattern.group_names() {
                let value = found.get(group);
                if work::spend(value.len() + work::RULE) {
                    variables.set(&format!("MATCH_{}", name.to_ascii_uppercase()), Some(value.into_owned()));
                }
            }
        }
    }
}

/// Sets the variables of mod_ssl, of mod_http2 and of a PROXY header.
fn secure(context: &RequestContext, route: &Route, variables: &mut Variables) {
    if context.stream.is_some() {
        variables.set("HTTP2", Some("on".to_owned()));
    }
    if context.is_secure() {
        variables.set("HTTPS", Some("on".to_owned()));
    }
    for (name, value) in &context.client.proxy_variables {
        variables.set(name, Some(value.clone()));
    }
    let Some(session) = context.client.session() else { return };
    if let Some(name) = &session.name {
        variables.set("SSL_TLS_SNI", Some(name.clone()));
    }
    let place = &route.settings.response.ssl;
    if place.std_env_vars == Some(true) {
        session.variables(place).for_each(|(name, value)| variables.set(name, Some(value)));
    }
    if place.export_cert_data == Some(true) {
        session.exported(place).for_each(|(name, value)| variables.set(&name, Some(value)));
    }
}

impl RequestContext {
    /// The value of mod_ssl's variable `name` at the request's route; `HTTPS` is `on` or `off`.
    pub fn tls_variable(&self, name: &str) -> Option<String> {
        match self.route().as_ref() {
            Some(route) => self.tls_variable_at(name, &route.settings.response.ssl),
            None => self.tls_variable_at(name, &Ssl::default()),
        }
    }

    /// The same at another place.
    pub fn tls_variable_at(&self, name: &str, place: &Ssl) -> Option<String> {
        if name == "HTTPS" {
            return Some(if self.is_secure() { "on" } else { "off" }.to_owned());
        }
        self.client.session()?.variable(name, place)
    }
}

fn look<'a>(
    context: &'a RequestContext,
    head: &'a Parts,
    route: &'a Route,
    attribute: &Attribute,
) -> Option<Cow<'a, str>> {
    match attribute {
        Attribute::RemoteAddr => Some(context.remote().ip.as_str().into()),
        // The name is known only with HostnameLookups; otherwise the address is used.
        Attribute::RemoteHost => match context.visitor().name() {
            Some(name) => Some(name.to_string().into()),
            None => Some(context.remote().ip.as_str().into()),
        },
        Attribute::ServerAddr => Some(context.client.local.ip.as_str().into()),
        Attribute::RequestMethod => Some(head.method.as_str().into()),
        Attribute::RequestProtocol => Some(protocol(head.version).into()),
        Attribute::RequestUri => Some(String::from_utf8_lossy(&route.path)),
        Attribute::Headers(pattern) => {
            let meant = context.headers_of(head).filter(|(name, _)| pattern.is_match(name.as_str()));
            meant.last().map(|(_, value)| String::from_utf8_lossy(value.as_bytes()))
        }
        Attribute::Named(name, _) => {
            context.header_of(head, name).map(|value| String::from_utf8_lossy(value.as_bytes()))
        }
    }
}

/// Applies rules of `route` to variables, which may be others than those of the request.
pub fn apply(context: &RequestContext, head: &Parts, route: &Route, rules: &[SetEnvIf], to: &mut Variables) {
    let found = |expr: &Expr, variables: &Variables| {
        let of = ExprOf { variables: Some(variables), ..ExprOf::request(context, head, route) };
        context.evaluated(&of, expr).ok().filter(|result| result.value).map(|result| result.groups)
    };
    to.apply(rules, |attribute| look(context, head, route, attribute), found);
}

/// The groups of an expression's last pattern, if the expression is true.
pub fn found(context: &RequestContext, head: &Parts, route: &Route, expr: &Expr) -> Option<Vec<String>> {
    let result = context.apply_rules(|| context.evaluated(&ExprOf::request(context, head, route), expr));
    result.ok().filter(|result| result.value).map(|result| result.groups)
}

/// Whether a condition holds, with the variables already computed.
pub fn holds(context: &RequestContext, condition: &EnvCondition, response: Option<SeenResponse<'_>>) -> bool {
    let route = context.route().clone();
    let is_true = |expr: &Expr| {
        let Some(route) = route.as_deref() else { return false };
        context.is_true(&ExprOf { response, ..ExprOf::request(context, &context.head, route) }, expr)
    };
    // As in httpd, the variables of the request before an internal redirect count.
    let was_set = |name: &str| context.has_variable(&format!("REDIRECT_{name}"));
    condition.holds(|name| context.has_variable(name) || was_set(name), is_true)
}

/// Whether an expression of the rules of `route` holds. False if it exceeds the limits, which
/// [`RequestContext::within_limits`] reports.
pub fn is_true(context: &RequestContext, head: &Parts, route: &Route, expr: &Expr) -> bool {
    context.is_true(&ExprOf::request(context, head, route), expr)
}

/// Sets the variables that a CGI program had when it failed; see [`RequestContext::failed`].
pub fn add_encoded(variables: &mut Variables, encoded: &[u8]) {
    for pair in encoded.split(|byte| *byte == 0) {
        if let Some((name, value)) = String::from_utf8_lossy(pair).split_once('=') {
            variables.set(name, Some(value.to_owned()));
        }
    }
}

/// The request's variables for a worker: `NAME=value`, each followed by a zero byte.
pub fn encode(context: &RequestContext) -> Vec<u8> {
    context.complete_variables();
    let environment = context.environment.borrow();
    let length: usize = environment.current.iter().map(|(name, value)| name.len() + value.len() + "=\0".len()).sum();
    let mut bytes = Vec::with_capacity(length + UNIQUE_ID.len() + "=\0".len() + unique_id::LENGTH);
    for (name, value) in environment.current.iter() {
        for part in [name, "=", value] {
            // A configured value may contain zero bytes, which would end the variable early.
            part.as_bytes().split(|byte| *byte == 0).for_each(|piece| bytes.extend_from_slice(piece));
        }
        bytes.push(0);
    }
    if environment.lacks_id {
        bytes.extend_from_slice(UNIQUE_ID.as_bytes());
        bytes.push(b'=');
        context.put_unique_id(&mut bytes);
        bytes.push(0);
    }
    bytes
}
