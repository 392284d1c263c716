//! Requests to a balancer: a member is chosen, and another one if the first takes no request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::COOKIE;
use http::{Response, StatusCode};

use super::running::RunningAtMember;
use super::{Attempt, Sending, deliver, log_error};
use crate::base::refusal::Refusal;
use crate::request::respond::body::BodySource;
use config::proxy::balancer::{Balancer, BalancerMember};
use config::proxy::{BackendParameters, Passed};
use proxy::balancer::{MemberChoice, NoMember};
use proxy::{BackendFailure, BackendRequest};

/// The response of one of the members of the balancer `name`.
pub async fn answer(
    sending: &Sending<'_>,
    to: &Passed,
    name: &str,
    outgoing: &mut BackendRequest,
) -> Result<Response<BodySource>, Refusal> {
    let (context, route) = (sending.context, sending.route);
    let generation = context.generation.clone();
    let Some(balancer) = generation.config.balancer(route.host, name) else {
        context.log_error(route, &format_args!("balancer://{name} is not defined; write <Proxy balancer://{name}>"));
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    };
    let session = session_of(sending, balancer);
    let most = balancer.settings.max_attempts.map_or(balancer.members.len(), |most| most as usize + 1);
    let mut tried = Vec::new();
    loop {
        let chosen = context.services.balancers.choose(balancer, session.as_deref(), &tried);
        let choice = chosen.map_err(|why| none_left(sending, balancer, why))?;
        let Some(member) = balancer.members.get(choice.member) else {
            return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
        };
        let running = RunningAtMember {
            balancers: context.services.balancers.clone(),
            generation: generation.clone(),
            host: route.host,
            name: name.to_owned(),
            member: choice.member,
            upload: sending.upload.clone(),
            received: 0,
        };
        set_variables(sending, balancer, member, session.as_deref(), choice);
        let passed = at_member(member, to);
        let failure = match sending.attempt(&passed, outgoing).await? {
            Attempt::Answered(response) => {
                let status = response.status().as_u16();
                note(sending, balancer, member, balancer.settings.fail_on_status.contains(&status));
                return deliver(sending, &passed, *response, Some(running));
            }
            Attempt::Failed(failure) => failure,
        };
        // The handshake used the client's Host as the name: its failure does not mean that the member is down.
        let is_named_by_client = outgoing.tls.as_ref().is_some_and(|tls| tls.is_of_client);
        if is_named_by_client && matches!(failure, BackendFailure::Handshake(_)) {
            return Err(log_error(sending, &passed, &failure));
        }
        let is_over_time = matches!(failure, BackendFailure::Slow(_)) && balancer.settings.fail_on_timeout;
        if sending.upload.refused.get().is_none() && (failure.is_before_the_request() || is_over_time) {
            note(sending, balancer, member, true);
        }
        let refusal = log_error(sending, &passed, &failure);
        tried.push(choice.member);
        if !failure.is_before_the_request() || tried.len() >= most {
            return Err(refusal);
        }
    }
}

/// The route in the client's session.
fn session_of(sending: &Sending<'_>, balancer: &Balancer) -> Option<String> {
    let cookies = sending.head.headers.get_all(COOKIE).iter();
    let cookies: Vec<&str> = cookies.filter_map(|value| value.to_str().ok()).collect();
    let target = sending.head.uri.path_and_query().map_or("/", |target| target.as_str());
    balancer.settings.route_of(target, &cookies)
}

/// The member as the backend of the request. The state of members is the balancer's, so a connection is always tried.
fn at_member(member: &BalancerMember, to: &Passed) -> Passed {
    let own = to.url.path.strip_prefix('/').filter(|_| member.url.path.ends_with('/')).unwrap_or(&to.url.path);
    let path = format!("{}{own}", member.url.path);
    let parameters = BackendParameters {
        nocanon: to.parameters.nocanon,
        noquery: to.parameters.noquery,
        retry: Some(Duration::ZERO),
        ..(*member.parameters).clone()
    };
    Passed { url: member.url.at(path), parameters: Arc::new(parameters), at: to.at.clone() }
}

/// Notes that a member has failed or answered.
fn note(sending: &Sending<'_>, balancer: &Balancer, member: &BalancerMember, has_failed: bool) {
    let failed = (has_failed && !member.status.ignore_errors).then(Instant::now);
    let mut is_new = false;
    sending.context.services.balancers.change(balancer, member, |state| {
        is_new = state.failed.is_none() && failed.is_some();
        state.failed = failed;
    });
    if is_new {
        let (name, url) = (&balancer.name, &member.url);
        sending.context.log_error(
            sending.route,
            &format_args!("balancer://{name}: {url} is in error, and gets no requests until its time of retry is over"),
        );
    }
}

fn none_left(sending: &Sending<'_>, balancer: &Balancer, why: NoMember) -> Refusal {
    let why = match why {
        NoMember::Usable => "no member is usable: all are in error, disabled, or fail their checks",
        NoMember::OfTheSession => "the member of the session is not usable, and nofailover is set",
    };
    sending.context.log_error(sending.route, &format_args!("balancer://{}: {why}", balancer.name));
    Refusal::closing(StatusCode::SERVICE_UNAVAILABLE)
}

/// Sets httpd's variables of balancers.
fn set_variables(
    sending: &Sending<'_>,
    balancer: &Balancer,
    member: &BalancerMember,
    session: Option<&str>,
    choice: MemberChoice,
) {
    let set = |name: &str, value: &str| sending.context.set_variable(name, value);
    set("BALANCER_NAME", &format!("balancer://{}", balancer.name));
    set("BALANCER_WORKER_NAME", &member.url.to_string());
    set("BALANCER_WORKER_ROUTE", &member.route);
    if let Some(sticky) = &balancer.settings.sticky {
        set("BALANCER_SESSION_STICKY", &sticky.cookie);
        if choice.moved || session.is_none() {
            set("BALANCER_ROUTE_CHANGED", "1");
        }
    }
    if let Some(route) = session {
        set("BALANCER_SESSION_ROUTE", route);
    }
}
