//! FastCGI programs that decide about access: `FcgidAccessChecker`, `FcgidAuthenticator`, `FcgidAuthorizer`.
//!
//! ```text
//!   access checker ──▶ Require ──▶ authenticator, or AuthBasicProvider ──▶ authorizer ──▶ the page
//! ```
//!
//! A program that does not answer admits nobody.

use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use wire::reply::Head;

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::fcgi::guard;
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

/// The result of an authenticator.
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

/// The user whose password the place's authenticator has checked.
pub async fn authenticate(context: &RequestContext, head: &Parts, route: &Route) -> Result<GuardedUser, Refusal> {
    let guards = &route.settings.fcgid.guards;
    let kind = GuardKind::Authenticator;
    if guards.program(kind).is_none() {
        return Ok(GuardedUser::Unknown);
    }
    let sent = head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).and_then(credentials);
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

/// Asks the program, once for each path of the request.
async fn ask(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    question: GuardQuestion,
) -> Result<GuardAnswer, Refusal> {
    let program = route.settings.fcgid.guards.program(question.kind).map(ToOwned::to_owned).unwrap_or_default();
    let pass = (program, question.task, route.path.clone());
    if context.visitor().has_pass(&pass) {
        return Ok(GuardAnswer::Admitted);
    }
    let answered = guard::ask(context, head, route, &pass.1).await?;
    if answered.status >= 500 {
        return Err(Refusal::new(StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)));
    }
    let field = |name: &[u8]| answered.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    if answered.status != 200 || field(b"location").is_some() {
        let (program, status) = (pass.0.display(), answered.status);
        context.log_error(route, &format_args!("access denied by the FastCGI program {program}: status {status}"));
        let challenge = field(b"www-authenticate").filter(|_| status == 401);
        return Ok(GuardAnswer::Refused(challenge.and_then(|(_, value)| HeaderValue::from_bytes(value).ok())));
    }
    set_variables(context, &answered);
    context.visitor_mut().pass(pass);
    Ok(GuardAnswer::Admitted)
}

/// Makes variables of the headers `Variable-NAME: value`.
fn set_variables(context: &RequestContext, answered: &Head) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (name, value) in &answered.headers {
        let variable = name.split_at_checked(VARIABLE.len()).filter(|(begin, _)| begin.eq_ignore_ascii_case(VARIABLE));
        if let Some((_, name @ [_, ..])) = variable {
            context.change_variable(&text(name), Some(text(value)));
        }
    }
}
