//! Access control: looks up the facts that a location's rules need, and refuses requests that the rules deny.

pub mod certificate;
mod guards;
pub mod limits;
pub mod passwords;
pub mod reverse_dns;
mod statements;

use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use http::StatusCode;
use http::header::{ALLOW, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};

use super::context::expressions::ExprOf;
use super::context::{RequestContext, variables};
use super::proxied::forward;
use crate::base::blocking::{self, NoThread};
use crate::base::fair::Claimant;
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::routing::Route;
use access::{
    AccessInquiry, AccessVerdict, AuthRequest, AuthSubject, CacheScope, ClientName, Inquiries, Proof, RequestFacts,
    RequirementAnswer, RequirementQuery, User, challenge, judge,
};
use config::access::{AccessRules, Lookups, Methods};
use config::fastcgi_guards::GuardKind;
use config::response::expr::{ExprFailure, ExprText};
use files::open::root;
use guards::{GuardAnswer, GuardedUser};

const AUTHENTICATION_INFO: HeaderName = HeaderName::from_static("authentication-info");
const PROXY_AUTHENTICATION_INFO: HeaderName = HeaderName::from_static("proxy-authentication-info");
const NO_METHOD: HeaderValue = HeaderValue::from_static("");

/// Lets the request into the location that `route` leads to, or refuses it.
pub async fn admit(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    route.refused()?;
    certificate::check(context, head, route).await?;
    let rules = &route.settings.access;
    if !rules.allows(head.method.as_str()) {
        context.log_error(route, &format_args!("client method denied by AllowMethods: {}", head.method));
        let allowed = HeaderValue::from_str(&rules.allowed_methods.join(", "));
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, allowed.unwrap_or(NO_METHOD)));
    }
    if rules.lookups != Lookups::Off {
        // The client's name serves logs and programs only; a failed lookup does not refuse the request.
        let name = look_up(context, rules.lookups == Lookups::Double).await;
        context.visitor_mut().rename(name.unwrap_or_default());
    }
    let is_guarded = route.settings.fcgid.guards.are_on();
    if is_guarded {
        Box::pin(check_guard(context, head, route, GuardKind::AccessChecker)).await?;
    }
    forward::check_users(context, route)?;
    if !rules.is_open() {
        check(context, head, route).await?;
    }
    if is_guarded {
        Box::pin(check_guard(context, head, route, GuardKind::Authorizer)).await?;
    }
    certificate::name_user(context, route);
    Ok(())
}

/// Lets a FastCGI program decide, if the place has one.
async fn check_guard(context: &RequestContext, head: &Parts, route: &Route, kind: GuardKind) -> Result<(), Refusal> {
    match (guards::check(context, head, route, kind).await?, kind) {
        (GuardAnswer::Admitted, _) => Ok(()),
        (GuardAnswer::Refused(Some(challenge)), _) => Err(forward::unauthorized(route, challenge)),
        (GuardAnswer::Refused(None), GuardKind::AccessChecker) => Err(Refusal::new(StatusCode::UNAUTHORIZED)),
        (GuardAnswer::Refused(None), _) => Err(unauthorized(context, head, route, false).await),
    }
}

/// Evaluates the access rules, and looks up the client's name or user when they need it.
async fn check(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    variables::settle_all(context, head, route).await?;
    let without_users = route.settings.needs_perl_for_users().then(|| route.settings.access.without_users());
    let rules = without_users.as_ref().unwrap_or(&route.settings.access);
    let (mut name, mut user, mut inquiries) = (None, None, Inquiries::default());
    let failed = Cell::new(false);
    let note_failure = |failure| failed.set(matches!(failure, ExprFailure::Failed(_)) || failed.get());
    let file_group = group_of_file(rules, route).await?;
    loop {
        let of = ExprOf { user: user.as_ref().map(|user: &User| &*user.name), ..ExprOf::request(context, head, route) };
        let value_of = |text: &ExprText| {
            let value = context.apply_rules(|| context.evaluated_text(&of, text));
            value.map_err(note_failure).ok()
        };
        let facts = RequestFacts {
            methods: Methods::of(head.method.as_str()),
            client: context.remote().ip_addr(),
            local: context.client.local.ip_addr(),
            name: known(&name),
            user: user.as_ref(),
            env: &|name| context.has_variable(name),
            expr: &|expr| {
                let result = context.apply_rules(|| context.evaluated(&of, expr));
                result.map_err(note_failure).is_ok_and(|result| result.value)
            },
            groups: &|wanted| match &wanted.groups {
                None => file_group.clone().map(|name| vec![name]),
                Some(text) => Some(value_of(text)?.split_whitespace().map(str::to_owned).collect()),
            },
            text: &|text| value_of(text).unwrap_or_default(),
            learned: &|inquiry| inquiries.learned(inquiry),
            // Rules of Perl providers are evaluated by a worker, not here.
            provider: &|_| RequirementAnswer::Denied,
        };
        let verdict = context.answered(head, route, || judge(rules, &facts)).await;
        context.within_limits(route)?;
        // An expression without a value must not open a place by `not`.
        if failed.get() {
            return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
        }
        match verdict {
            AccessVerdict::Allowed => {
                if inquiries.has(&AccessInquiry::Statement) && !context.is_judged() {
                    Box::pin(statements::redirect(context, head, route, user.as_ref())).await?;
                }
                break;
            }
            AccessVerdict::Forbidden => return Err(denied(context, route)),
            AccessVerdict::WrongUser => return Err(Box::pin(not_among(context, head, route, user.as_ref())).await),
            AccessVerdict::NeedsName => name = Some(look_up(context, true).await?),
            AccessVerdict::NeedsAnswer => {
                let inquiry = inquiries.take_open().map_err(|why| misconfigured(context, route, why))?;
                let met = Box::pin(inquire(context, route, user.as_ref(), &inquiry)).await?;
                inquiries.add(inquiry, met);
            }
            AccessVerdict::NeedsUser => user = Some(Box::pin(identify(context, head, route)).await?),
        }
    }
    admitted(context, route, name.flatten(), user)
}

/// Records the name and user of a client that the rules admit.
fn admitted(
    context: &RequestContext,
    route: &Route,
    name: Option<Rc<str>>,
    mut user: Option<User>,
) -> Result<(), Refusal> {
    if let Some(info) = user.as_mut().and_then(|user| user.info.take()) {
        let value = HeaderValue::from_str(&info).map_err(|_| Refusal::new(StatusCode::BAD_REQUEST))?;
        let is_forwarded = forward::is_forwarded(route);
        context.add_field(if is_forwarded { PROXY_AUTHENTICATION_INFO } else { AUTHENTICATION_INFO }, value);
    }
    context.visitor_mut().identify(name, user);
    variables::name_user(context, route);
    Ok(())
}

/// Logs `why` the rules cannot be evaluated. The request is answered 500.
fn misconfigured(context: &RequestContext, route: &Route, why: &str) -> Refusal {
    context.log_error(route, &why);
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The group of the requested file, if a rule is about it.
async fn group_of_file(rules: &AccessRules, route: &Route) -> Result<Option<String>, NoThread> {
    if !rules.requires.iter().any(|line| line.what.is_about_files()) {
        return Ok(None);
    }
    let path = route.filename.to_path_buf();
    blocking::run("look up the group of a file", move || sys::privileges::group_of_file(&path)).await
}

/// The answer to an inquiry of the rules.
async fn inquire(
    context: &RequestContext,
    route: &Route,
    user: Option<&User>,
    inquiry: &AccessInquiry,
) -> Result<bool, Refusal> {
    let answer = match inquiry {
        AccessInquiry::Forward(names) => context.services.names.leads_to(names, context.remote().ip_addr()).await?,
        AccessInquiry::Directory(kind, words) => {
            let server = &context.generation.config.ldap;
            let requirement = RequirementQuery { server, kind: *kind, words };
            let claimant = claimant(context, route);
            context.services.passwords.meets(&route.settings.access, user, &requirement, &claimant).await?
        }
        AccessInquiry::Statement => statements::execute(context, route, user).await?,
    };
    answer.map_err(|why| misconfigured(context, route, &why))
}

fn known(name: &Option<Option<Rc<str>>>) -> ClientName<'_> {
    match name {
        None => ClientName::NotAsked,
        Some(None) => ClientName::Nameless,
        Some(Some(name)) => ClientName::Is(name),
    }
}

async fn look_up(context: &RequestContext, verified: bool) -> Result<Option<Rc<str>>, NoThread> {
    context.services.names.of(context.remote().ip_addr(), verified).await
}

/// Authenticates the client by its `Authorization` header.
async fn identify(context: &RequestContext, head: &Parts, route: &Route) -> Result<User, Refusal> {
    match Box::pin(guards::authenticate(context, head, route)).await? {
        GuardedUser::Is(user) => return Ok(user),
        GuardedUser::Nobody => return Err(unauthorized(context, head, route, false).await),
        GuardedUser::Unknown => {}
    }
    let (passwords, rules) = (&context.services.passwords, &route.settings.access);
    let config = &context.generation.config;
    let sent = head.headers.get(forward::credentials(route)).map(HeaderValue::as_bytes);
    let of_certificate = certificate::authorization(context, route);
    let realm = realm(context, head, route).await;
    let request = AuthRequest {
        authorization: of_certificate.as_ref().map(String::as_bytes).or(sent),
        limits: config.hash_limits,
        ldap: &config.ldap,
        source: 0,
        method: head.method.as_str(),
        target: target_as_sent(context),
        realm: &realm,
        key: &config.facts.nonce_key,
        scope: Some(CacheScope {
            host: route.host,
            path: &route.path,
            folder: route.files.last().map(|file| file.folder.as_path()),
        }),
    };
    let claimant = claimant(context, route);
    match passwords.find_out(rules, AuthSubject::Request(request), &claimant).await? {
        Proof::Is(user) => Ok(user),
        Proof::Nobody => Err(unauthorized(context, head, route, false).await),
        Proof::Stale => Err(unauthorized(context, head, route, true).await),
        Proof::Unknown(why) | Proof::Refused(why) => {
            context.log_error(route, &why);
            Err(unauthorized(context, head, route, false).await)
        }
        Proof::Invalid(why) => {
            context.log_error(route, &why);
            Err(Refusal::new(StatusCode::BAD_REQUEST))
        }
        Proof::Misconfigured(why) => Err(misconfigured(context, route, &why)),
    }
}

/// The target of the client's request, also in an internal redirect.
fn target_as_sent(context: &RequestContext) -> &[u8] {
    let uri = &context.head.uri;
    let of_connect = uri.authority().filter(|_| uri.path_and_query().is_none()).map_or("*", Authority::as_str);
    let written = uri.path_and_query().map_or(of_connect, PathAndQuery::as_str);
    target::as_sent(&context.head).unwrap_or(written.as_bytes())
}

/// The folder whose owner sets the rules: that of the innermost `.htaccess` file, or else the document root.
pub fn folder_of<'a>(context: &'a RequestContext, route: &'a Route) -> &'a Path {
    let rules = route.files.last().map(|file| file.folder.as_path());
    rules.unwrap_or_else(|| root(&context.generation.config, route.host, &route.filename))
}

fn denied(context: &RequestContext, route: &Route) -> Refusal {
    context.log_error(route, &"client denied by server configuration");
    Refusal::new(StatusCode::FORBIDDEN)
}

async fn not_among(context: &RequestContext, head: &Parts, route: &Route, user: Option<&User>) -> Refusal {
    let rules = &route.settings.access;
    let name = user.map(|user| user.name.escape_debug().to_string()).unwrap_or_default();
    let unread = user.and_then(|user| user.records.groups_unread.as_ref()).map(|why| format!(" ({why})"));
    let has_groups = rules.group_file.is_some() || !rules.group_lookups().is_empty();
    let hint = unread.as_deref().unwrap_or(if has_groups { "" } else { " (there is no AuthGroupFile)" });
    context.log_error(route, &format_args!("user {name} is not among the required users and groups{hint}"));
    if rules.forbids == Some(true) {
        return Refusal::new(StatusCode::FORBIDDEN);
    }
    unauthorized(context, head, route, false).await
}

/// Value of `AuthName` for this request; empty without the directive.
async fn realm<'a>(context: &RequestContext, head: &Parts, route: &'a Route) -> Cow<'a, str> {
    let rules = &route.settings.access;
    match &rules.realm {
        Some(realm) => context.text(&ExprOf::request(context, head, route), realm).await.into(),
        None => rules.auth_name.as_deref().unwrap_or_default().into(),
    }
}

async fn unauthorized(context: &RequestContext, head: &Parts, route: &Route, stale: bool) -> Refusal {
    let rules = &route.settings.access;
    let realm = realm(context, head, route).await;
    let question = HeaderValue::from_str(&challenge(rules, &realm, &context.generation.config.facts.nonce_key, stale));
    let question = question.unwrap_or(HeaderValue::from_static("Basic"));
    forward::unauthorized(route, question)
}

fn claimant(context: &RequestContext, route: &Route) -> Claimant {
    Claimant::new(folder_of(context, route), Some(context.remote().ip_addr()))
}
