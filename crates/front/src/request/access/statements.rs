//! `Require dbd-login` and `dbd-logout`: a statement notes in a database that a user is there, or has left.

use http::StatusCode;
use http::header::{HeaderValue, LOCATION, REFERER};
use http::request::Parts;

use super::{claimant, misconfigured};
use crate::base::blocking::NoThread;
use crate::base::databases;
use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::routing::Route;
use access::{User, redirect_question, statement};

/// Executes the statement for the user, once for a request and the parts of its page; one that is only judged has no
/// effect. The error is for the log.
pub async fn execute(
    context: &RequestContext,
    route: &Route,
    user: Option<&User>,
) -> Result<Result<bool, String>, NoThread> {
    let statement = match statement(&route.settings.access, user) {
        Ok(statement) => statement,
        Err(why) => return Ok(Err(why)),
    };
    if context.is_judged() || context.has_executed(&statement) {
        return Ok(Ok(true));
    }
    let executed = databases::ask(statement.clone(), &claimant(context, route)).await?;
    // A statement that has failed must not admit the user to an error page of the place.
    if executed.is_ok() {
        context.note_executed(statement);
    }
    Ok(executed.map(|_| true).map_err(|why| format!("AuthzDBDQuery: {why}")))
}

/// The redirect after the statement, if the place has one: to the page that the user came from, or where the database
/// says.
pub async fn redirect(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    user: Option<&User>,
) -> Result<(), Refusal> {
    let rules = &route.settings.access;
    let referer = head.headers.get(REFERER).filter(|_| rules.login_to_referer == Some(true));
    let to = match (referer, redirect_question(rules, user)) {
        (Some(referer), _) => Some(referer.clone()),
        (None, None) => None,
        (None, Some(question)) => {
            let failed = |why: String| misconfigured(context, route, &format!("AuthzDBDRedirectQuery: {why}"));
            let found = databases::ask(question.map_err(failed)?, &claimant(context, route)).await?.map_err(failed)?;
            let url = found.rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
            url.and_then(|url| HeaderValue::try_from(url).ok())
        }
    };
    match to {
        Some(to) => Err(Refusal::with(StatusCode::FOUND, LOCATION, to)),
        None => Ok(()),
    }
}
