//! Requests that are not about a place of this server: those for a backend, and `OPTIONS *`.

use std::rc::Rc;

use http::Response;
use http::request::Parts;

use super::access::{admit, limits::take_turn};
use super::body::RequestBody;
use super::cached::{self, Lookup};
use super::context::RequestContext;
use super::includes::facts;
use super::internal_redirect::unconditional;
use super::phases::{self, PhasesResult};
use super::place::{find, settle_all};
use super::proxied::{forward, hops};
use super::respond::body::BodySource;
use super::respond::headers;
use super::{Dispatched, fcgi, proxied};
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::proxy::{BackendScheme, Passed};

/// Answers from the cache or by a backend, after access rules and Perl phases.
pub async fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    to: &Passed,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    admit(context, head, route).await?;
    take_turn(context, head, route).await?;
    if to.parameters.forwarding.is_some() && hops::ends_here(head) {
        return Ok(Dispatched::Response(Response::new(BodySource::Empty)));
    }
    forward::complete_domain(head, route, to)?;
    // Fields that the client's Connection lists are removed before rules add fields of the same names.
    let mut own = head.clone();
    proxy::fields::end_to_end(&mut own.headers);
    let own = headers::admitted(context, &own);
    let passed = match phases::run(context, &own, route, body, Some(to)).await? {
        PhasesResult::Onward(head) => head,
        PhasesResult::Answered(answered) => return Ok(answered),
    };
    let mut head = headers::edited_late(context, passed, route).await?;
    if facts::may_parse_output(route) {
        unconditional(head.to_mut());
    }
    let to = &*forward::past_proxy(context, route, to).await;
    if to.url.scheme == BackendScheme::Tunnel {
        return proxied::connect::answer(context, &head, route, to).await.map(Dispatched::Response);
    }
    if to.url.scheme == BackendScheme::Fcgi {
        let to = &*forward::guarded(context, route, to)?;
        return fcgi::pass(context, &head, route, to, body).await;
    }
    if to.parameters.forwarding.is_some() {
        // The cache has responses of this host.
        return proxied::answer(context, &head, route, to, body).await.map(Dispatched::Response);
    }
    match cached::look_up(context, &head, route, body).await? {
        Lookup::Hit(response) => Ok(Dispatched::Response(response)),
        Lookup::Miss { store } => Box::pin(store.request(body)).await,
        Lookup::Pass => {
            let answer = proxied::answer(context, &head, route, to, body).await.map(Dispatched::Response);
            cached::passed(context, &head, route, &answer);
            answer
        }
    }
}

/// The answer to `OPTIONS *`, which is about the server and none of its resources (RFC 9110, section 9.3.7). As in
/// httpd, it is empty, and neither a backend nor access rules have a part in it.
pub async fn of_server(context: &RequestContext, head: &Parts) -> Result<Dispatched, Refusal> {
    let route = find(context, head).await?;
    settle_all(context, head, &route).await?;
    Ok(Dispatched::Response(Response::new(BodySource::Empty)))
}
