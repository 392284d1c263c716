//! FastCGI programs that decide about access: `FcgidAccessChecker`, `FcgidAuthenticator`, `FcgidAuthorizer`.
//!
//! ```text
//!   access checker ──▶ Require ──▶ authenticator, or AuthBasicProvider ──▶ authorizer ──▶ the page
//! ```
//!
//! A program that does not answer admits nobody.

use http::StatusCode;
use http::header::HeaderValue;
use http::request::Parts;
use wire::reply::Head;

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::context::visitor::{GuardPass, GuardedRequest};
use crate::request::fcgi::guard;
use crate::request::proxied::forward;
use crate::routing::Route;
use access::{User, credentials};
use config::fastcgi_guards::GuardKind;

/// Begin of the names of headers that become variables (FastCGI, section 6.3).
const VARIABLE: &[u8] = b"variable-";

/// The decision of a program.
pub enum GuardAnswer {
    Admitted,
    /// With the program's own `WWW-Authenticate`, if it has sent a 401.
    Refused(Option<HeaderValue>),
}

/// The user whom a `FcgidAuthenticator` program admits.
pub enum GuardedUser {
    Is(User),
    /// The program refuses the password, or the client has sent none.
    Nobody,
    /// Other rules check the password.
    Unknown,
}

/// The decision of the place's access checker or authorizer. A place without one, or with one that does not decide
/// alone, admits.
pub async fn check(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    kind: GuardKind,
) -> Result<GuardAnswer, Refusal> {
    let guards = &route.settings.fcgid.guards;
    if guards.program(kind).is_none() {
        return Ok(GuardAnswer::Admitted);
    }
    match ask(context, head, route, GuardQuestion { kind, task: kind.role().as_bytes().to_vec() }).await? {
        GuardAnswer::Refused(_) if !guards.decides(kind) => Ok(GuardAnswer::Admitted),
        answer => Ok(answer),
    }
}

/// The user whose password the place's authenticator has checked. Only `AuthType Basic` sends a password.
pub async fn authenticate(context: &RequestContext, head: &Parts, route: &Route) -> Result<GuardedUser, Refusal> {
    let guards = &route.settings.fcgid.guards;
    let kind = GuardKind::Authenticator;
    if guards.program(kind).is_none() || !route.settings.access.is_basic() {
        return Ok(GuardedUser::Unknown);
    }
    let sent = head.headers.get(forward::credentials(route)).map(HeaderValue::as_bytes).and_then(credentials);
    // A zero byte ends the user's name in the message to the program.
    let Some(sent) = sent.filter(|sent| !sent.user.contains('\0')) else { return Ok(GuardedUser::Nobody) };
    let task = [kind.role().as_bytes(), sent.user.as_bytes(), &sent.password[..]].join(&0);
    match ask(context, head, route, GuardQuestion { kind, task }).await? {
        GuardAnswer::Admitted => Ok(GuardedUser::Is(User::of(sent.user))),
        GuardAnswer::Refused(_) if !guards.decides(kind) => Ok(GuardedUser::Unknown),
        GuardAnswer::Refused(_) => Ok(GuardedUser::Nobody),
    }
}

struct GuardQuestion {
    kind: GuardKind,
    /// The role, then user and password of the client with zero bytes between them.
    task: Vec<u8>,
}

/// Asks the program, once for each path, query, method and user of the request.
async fn ask(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    question: GuardQuestion,
) -> Result<GuardAnswer, Refusal> {
    let program = route.settings.fcgid.guards.program(question.kind).map(ToOwned::to_owned).unwrap_or_default();
    let asked = GuardedRequest {
        program,
        task: question.task,
        method: head.method.clone(),
        path: route.path.clone(),
        query: head.uri.query().map(ToOwned::to_owned),
        user: context.visitor().user().map(|user| user.name.clone()),
    };
    let known = context.visitor().pass_for(&asked);
    if let Some(variables) = known {
        // A look-ahead that asked the program has taken its variables back.
        set_variables(context, &variables);
        return Ok(GuardAnswer::Admitted);
    }
    let answered = guard::ask(context, head, route, &asked.task).await?;
    if answered.status >= 500 {
        return Err(Refusal::new(StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)));
    }
    let field = |name: &[u8]| answered.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    if answered.status != 200 || field(b"location").is_some() {
        let (program, status) = (asked.program.display(), answered.status);
        context.log_error(route, &format_args!("access denied by the FastCGI program {program}: status {status}"));
        let challenge = field(b"www-authenticate").filter(|_| status == 401);
        return Ok(GuardAnswer::Refused(challenge.and_then(|(_, value)| HeaderValue::from_bytes(value).ok())));
    }
    let variables = variables(&answered);
    set_variables(context, &variables);
    context.visitor_mut().add_pass(GuardPass { admits: asked, variables });
    Ok(GuardAnswer::Admitted)
}

/// The variables of the headers `Variable-NAME: value`.
fn variables(answered: &Head) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let variables = answered.headers.iter().filter_map(|(name, value)| {
        let (begin, name) = name.split_at_checked(VARIABLE.len())?;
        let is_variable = begin.eq_ignore_ascii_case(VARIABLE) && !name.is_empty();
        is_variable.then(|| (text(name), text(value)))
    });
    variables.collect()
}

fn set_variables(context: &RequestContext, variables: &[(String, String)]) {
    for (name, value) in variables {
        context.change_variable(name, Some(value.clone()));
    }
}
