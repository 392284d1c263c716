//! Sends a request to a worker and builds a response from its reply.

use std::borrow::Cow;
use std::rc::Rc;

use http::header::{
    ACCEPT_ENCODING, HeaderMap, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE,
};
use http::request::Parts;
use http::{Method, Response, StatusCode, Version};
use wire::reply::OnwardRequest;

use super::access::{admit, limits::keep_pace};
use super::body::{Body, RequestBody, inflate};
use super::context::RequestContext;
use super::files::{self, LookupResult, autoindex};
use super::internal_redirect::index;
use super::place::settle_at;
use super::proxied::event;
use super::redirects::{PathRedirect, moved};
use super::respond::body::BodySource;
use super::respond::from_worker;
use super::{Dispatched, frame, pages};
use crate::base::failure::Failure;
use crate::base::refusal::Refusal;
use crate::base::response_facts::RememberedFilters;
use crate::routing::Route;
use crate::workers::Ticket;
use config::Handler;

/// A worker's reply to a request.
pub enum WorkerReply {
    /// A response of which at least the head has arrived.
    Response(Response<BodySource>),
    /// The file to send, and the headers to send with it.
    File(Vec<u8>, Option<wire::reply::Head>),
    /// An internal redirect to a path of this server, and headers for its response.
    Elsewhere(Vec<u8>, Option<wire::reply::Head>),
    /// No response yet: the front passes the request to its backend, with what the phases have set, and adds the
    /// headers to the response.
    Onward(OnwardRequest, Option<wire::reply::Head>),
    /// No response: the front answers with its page for the status. The variables are for an ErrorDocument.
    Refused(StatusCode, Vec<u8>),
}

/// Receives the body, submits the request and waits for the head of the response.
pub async fn request(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    body: &mut RequestBody,
) -> Result<WorkerReply, Refusal> {
    refuse_guards(context, route)?;
    refuse_event_pool(context, route)?;
    keep_pace(context, route).await?;
    let body = body.receive(context, route).await?;
    context.remember_body(|| body.for_recording());
    let (head, body) = match route.settings.response.inflate.is_on() {
        true => Box::pin(inflate::unpacked(context, head, route, body)).await?,
        false => (Cow::Borrowed(head), body),
    };
    let pool = frame::pool(context, route).ok_or_else(|| no_program_pool(context, route))?;
    let ticket = context.generation.workers.of(pool).submit(frame::job(context, &head, route, body))?;
    context.sent_to(pool, ticket.exchange().clone());
    reply_to(context, &head, route, ticket).await
}

/// Refuses what a worker with an event loop would skip: handlers of phases, above all those that decide about access.
fn refuse_event_pool(context: &RequestContext, route: &Route) -> Result<(), Refusal> {
    if !event::is_in_event_pool(context, route) {
        return Ok(());
    }
    let why = "workers with an event loop (PsgiMode event) run only PSGI applications, and no handler of another phase, \
               filter or cleanup; give the place another pool, or remove the handlers";
    context.log_error(route, &why);
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Refuses a place where both FastCGI programs and Perl phases decide: workers run the phases, and no such programs.
fn refuse_guards(context: &RequestContext, route: &Route) -> Result<(), Refusal> {
    if !(route.settings.has_perl_phases() && route.settings.fcgid.guards.are_on()) {
        return Ok(());
    }
    let why = "FastCGI programs and Perl handlers cannot both decide about access; remove FcgidAuthenticator, \
               FcgidAuthorizer and FcgidAccessChecker here, or the handlers of the phases";
    context.log_error(route, &why);
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Refuses a place where FastCGI programs decide, and to which Perl code has moved the request.
fn refuse_guards_elsewhere(context: &RequestContext, route: &Route, place: &Route) -> Result<(), Refusal> {
    let is_judged = route.path == place.path && Rc::ptr_eq(&route.settings, &place.settings);
    if is_judged || !place.settings.fcgid.guards.are_on() {
        return Ok(());
    }
    let why = "FastCGI programs decide about access here, and are not asked for a redirect of Perl code";
    context.log_error(place, &why);
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Lets a worker run the phases of a request that a backend answers. The body is left for the backend.
pub async fn run_phases(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<WorkerReply, Refusal> {
    refuse_guards(context, route)?;
    keep_pace(context, route).await?;
    let pool = route.settings.pool;
    let ticket = context.generation.workers.of(pool).submit(frame::job_of_phases(context, head, route))?;
    context.sent_to(pool, ticket.exchange().clone());
    reply_to(context, head, route, ticket).await
}

async fn reply_to(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    ticket: Ticket,
) -> Result<WorkerReply, Refusal> {
    let exchange = ticket.exchange().clone();
    let reply = receive(ticket, |head| inform(context, head)).await?.map_err(|bad| log_error(context, route, &bad))?;
    let moved = exchange.borrow_mut().moved.take();
    if let Some(path) = moved {
        Box::pin(settle_at(context, head, &path)).await;
    }
    match reply {
        WorkerReply::Refused(status, variables) => {
            context.keep_failure(variables);
            Err(Refusal::new(status))
        }
        reply => Ok(reply),
    }
}

/// The refusal of a command, because no process can run it.
fn no_program_pool(context: &RequestContext, route: &Route) -> Refusal {
    let why =
        "no process runs commands: Options Includes and the filter INCLUDES must stand in the server's configuration";
    context.log_error(route, &why);
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The worker gave no usable reply, and no client waits for an error page.
pub struct Unanswered;

/// Like [`ask`], for a request without a body and without a waiting client.
pub async fn request_in_background(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
) -> Result<WorkerReply, Unanswered> {
    let job = frame::job(context, head, route, Body::Memory(Default::default()));
    let ticket = context
        .generation
        .workers
        .of(context.generation.config.pool_for(&route.settings))
        .submit(job)
        .map_err(|_| Unanswered)?;
    let reply = receive(ticket, |_| ()).await.map_err(|_| Unanswered)?;
    reply.map_err(|bad| {
        log_error(context, route, &bad);
        Unanswered
    })
}

async fn receive(
    ticket: Ticket,
    inform: impl Fn(&wire::reply::Head),
) -> Result<Result<WorkerReply, from_worker::BadHead>, Failure> {
    let answered = std::future::poll_fn(|cx| {
        let mut exchange = ticket.exchange().borrow_mut();
        for head in exchange.infos.drain(..) {
            inform(&head);
        }
        exchange.poll_head(cx)
    });
    answered.await?;
    let head = ticket.exchange().borrow_mut().head.take();
    let file = ticket.exchange().borrow_mut().file.take();
    let elsewhere = ticket.exchange().borrow_mut().elsewhere.take();
    let refused = ticket.exchange().borrow_mut().refused.take();
    let onward = ticket.exchange().borrow_mut().onward.take();
    if let Some(onward) = onward {
        return Ok(Ok(WorkerReply::Onward(onward, head)));
    }
    if let Some((status, variables)) = refused {
        let status =
            StatusCode::from_u16(status).ok().filter(|status| status.is_client_error() || status.is_server_error());
        return Ok(Ok(WorkerReply::Refused(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), variables)));
    }
    Ok(match (file, elsewhere, head) {
        (Some(file), _, head) => Ok(WorkerReply::File(file, head)),
        (None, None, Some(head)) => from_worker::response(ticket, head).map(WorkerReply::Response),
        (None, elsewhere, head) => Ok(WorkerReply::Elsewhere(elsewhere.unwrap_or_default(), head)),
    })
}

/// Turns a worker's reply into the result of the request.
pub async fn deliver(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    reply: WorkerReply,
) -> Result<Dispatched, Refusal> {
    match reply {
        WorkerReply::Response(response) => Ok(Dispatched::Response(response)),
        WorkerReply::File(file, extra) => {
            // The program may have moved the request to another route.
            let place = context.route().clone().unwrap_or_else(|| route.clone());
            refuse_guards_elsewhere(context, route, &place)?;
            Box::pin(send_file(context, head, &place, &file, extra)).await
        }
        WorkerReply::Elsewhere(target, extra) => {
            let fields = extra.map_or(Ok(HeaderMap::new()), from_worker::fields);
            context.carry(fields.map_err(|bad| log_error(context, route, &bad))?);
            Ok(Dispatched::InternalRedirect(target))
        }
        WorkerReply::Refused(status, _) => Err(Refusal::new(status)),
        WorkerReply::Onward(..) => {
            context.log_error(route, &"a worker has passed a request on that no backend answers");
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
        }
    }
}

/// Sends the file that a worker names, with the headers that its handlers set.
async fn send_file(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    file: &[u8],
    extra: Option<wire::reply::Head>,
) -> Result<Dispatched, Refusal> {
    let page =
        std::str::from_utf8(file).ok().and_then(|name| pages::answer(context, head, route, &Handler::named(name)));
    if let Some(page) = page {
        return page.map(Dispatched::Response);
    }
    let stands_in = extra.as_ref().is_some_and(|extra| extra.status != StatusCode::OK);
    let mut head = if stands_in { unconditional(head) } else { head.clone() };
    if extra
        .as_ref()
        .is_some_and(|extra| extra.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"content-encoding")))
    {
        // The handler has set the coding of this file; a precompressed neighbour would contradict it.
        head.headers.remove(ACCEPT_ENCODING);
    }
    let found = context.generation.wait_for(|| files::find_declined(&context.generation, route, file, &head)).await?;
    let mut response = match found {
        LookupResult::Moved(status, path) => return Err(moved(context, &head, route, PathRedirect { status, path })),
        LookupResult::Index(path) => return index(&head, &path).map(|head| Dispatched::Index(Box::new(head))),
        LookupResult::Folder(folder) => {
            return autoindex::answer(context, route, folder, &head).await.map(Dispatched::Response);
        }
        LookupResult::File(file, opened) => {
            // The handler may name another file than the requested one, which needs its own access check.
            if !Rc::ptr_eq(&file.settings, &route.settings) {
                admit(context, &head, &file).await?;
            }
            files::send(context, &file, opened, &head).await?
        }
        LookupResult::Beyond(_) | LookupResult::Handled(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
    };
    // Filters depend on the request's place, and on the headers of its handlers.
    response.extensions_mut().remove::<RememberedFilters>();
    match extra {
        Some(extra) => from_worker::with_file(response, extra).map_err(|bad| log_error(context, route, &bad)),
        None => Ok(response),
    }
    .map(Dispatched::Response)
}

/// Removes conditions and ranges, which refer to the original page and not to its replacement.
fn unconditional(head: &Parts) -> Parts {
    let mut head = head.clone();
    head.method = if head.method == Method::HEAD { Method::HEAD } else { Method::GET };
    for name in [IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE] {
        head.headers.remove(name);
    }
    head
}

/// Sends an interim response. HTTP/1.0 has none.
fn inform(context: &RequestContext, head: &wire::reply::Head) {
    // The response around a part has begun.
    if context.is_part() {
        return;
    }
    if let Some(stream) = &context.stream {
        stream.inform(head);
    } else if context.head.version >= Version::HTTP_11 {
        context.client.interim.borrow_mut().extend(from_worker::interim(head).unwrap_or_default());
    }
}

fn log_error(context: &RequestContext, route: &Route, bad: &from_worker::BadHead) -> Refusal {
    context.log_error(route, bad);
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}
