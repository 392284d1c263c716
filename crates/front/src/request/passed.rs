//! Requests for a backend.

use std::rc::Rc;

use http::request::Parts;

use super::access::{admit, take_turn};
use super::body::RequestBody;
use super::context::RequestContext;
use super::phases::{self, PhasesResult};
use super::respond::headers;
use super::{Dispatched, fcgi, proxied};
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::proxy::{BackendScheme, Passed};

/// Answers by a backend, after access rules and Perl phases.
pub async fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    to: &Passed,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    admit(context, head, route).await?;
    take_turn(context, head, route)?;
    // Fields that the client's Connection lists are removed before rules add fields of the same names.
    let mut own = head.clone();
    proxy::fields::end_to_end(&mut own.headers);
    let passed = match phases::run(context, &own, route, body, Some(to)).await? {
        PhasesResult::Onward(head) => head,
        PhasesResult::Answered(answered) => return Ok(answered),
    };
    let head = headers::edited(context, &passed, route).await?;
    if to.url.scheme == BackendScheme::Fcgi {
        return fcgi::pass(context, &head, route, to, body).await;
    }
    proxied::answer(context, &head, route, to, body).await.map(Dispatched::Response)
}
