//! Sends a request to a worker and makes a response of what the worker says.

use std::rc::Rc;

use http::header::{ACCEPT_ENCODING, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE};
use http::request::Parts;
use http::{Method, StatusCode, Version};

use super::access::admit;
use super::body::source::Source;
use super::body::{self, Body, Patience};
use super::context::RequestContext;
use super::files::{self, LookupResult, autoindex};
use super::frame::submit;
use super::respond::from_worker;
use super::{Dispatched, index, pages};
use crate::config::Handler;
use crate::front::base::refusal::Refusal;
use crate::front::routing::{Route, once_read};

/// Receives the body, submits the request and waits for the head of the answer.
pub async fn work(
    context: &RequestContext,
    head: &Parts,
    route: Rc<Route>,
    body: &mut Option<Source>,
) -> Result<Dispatched, Refusal> {
    let limit = match route.settings.limit_request_body {
        0 => u64::MAX,
        limit => limit,
    };
    let body = match body.take() {
        Some(incoming) => {
            body::receive(incoming, limit, patience(context, &route), &context.generation.config.spooling).await?
        }
        None => Body::Memory(Default::default()),
    };
    let (head, body) = body::inflate::unpacked(context, head, &route, body).await?;
    let head = &*head;
    let ticket = submit(context, head, &route, body)?;
    let answered = std::future::poll_fn(|cx| {
        let mut exchange = ticket.exchange().borrow_mut();
        for head in exchange.infos.drain(..) {
            inform(context, &head);
        }
        exchange.poll_head(cx)
    });
    answered.await?;
    let said = ticket.exchange().borrow_mut().head.take();
    let file = ticket.exchange().borrow_mut().file.take();
    if let Some(file) = file {
        return send_file(context, head, &route, &file, said).await;
    }
    if let Some(said) = said {
        return from_worker::response(ticket, said)
            .map(Dispatched::Response)
            .map_err(|bad| complain(context, &route, &bad));
    }
    let target = ticket.exchange().borrow_mut().elsewhere.take().unwrap_or_default();
    Ok(Dispatched::InternalRedirect(target))
}

fn patience(context: &RequestContext, route: &Route) -> Patience {
    let config = &context.generation.config;
    let host = config.hosts.get(usize::from(route.host));
    let whole = host.and_then(|host| host.read_timeouts.body).unwrap_or_default();
    Patience { piece: config.timeouts.client, whole }
}

/// Sends the file that a worker names, with the headers that its handlers have set.
async fn send_file(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    file: &[u8],
    said: Option<wire::reply::Head>,
) -> Result<Dispatched, Refusal> {
    let page =
        std::str::from_utf8(file).ok().and_then(|name| pages::answer(context, head, route, &Handler::named(name)));
    if let Some(page) = page {
        return page.map(Dispatched::Response);
    }
    let stands_in = said.as_ref().is_some_and(|said| said.status != StatusCode::OK);
    let mut head = if stands_in { unconditional(head) } else { head.clone() };
    if said
        .as_ref()
        .is_some_and(|said| said.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"content-encoding")))
    {
        // The handler says what the file is; one that lies beside it would be something else.
        head.headers.remove(ACCEPT_ENCODING);
    }
    let found =
        once_read(&context.generation.routes, || files::find_declined(&context.generation, route, file, &head)).await?;
    let response = match found {
        LookupResult::Response(response) => return Ok(Dispatched::Response(response)),
        LookupResult::Index(path) => return index(&head, &path),
        LookupResult::Folder(folder) => {
            return autoindex::answer(context, route, folder, &head).await.map(Dispatched::Response);
        }
        LookupResult::File(file, opened) => {
            // A handler may have named another file than the one that was asked for.
            if !Rc::ptr_eq(&file.settings, &route.settings) {
                admit(context, &head, &file).await?;
            }
            files::send(context, &file, opened, &head).await?
        }
        LookupResult::Beyond(_) | LookupResult::Handled(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
    };
    match said {
        Some(said) => from_worker::with_file(response, said).map_err(|bad| complain(context, route, &bad)),
        None => Ok(response),
    }
    .map(Dispatched::Response)
}

/// Without conditions and ranges, which are about the page that this one stands in for.
fn unconditional(head: &Parts) -> Parts {
    let mut head = head.clone();
    head.method = if head.method == Method::HEAD { Method::HEAD } else { Method::GET };
    for name in [IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE] {
        head.headers.remove(name);
    }
    head
}

/// HTTP/1.0 knows no interim responses.
fn inform(context: &RequestContext, head: &wire::reply::Head) {
    if let Some(stream) = &context.stream {
        stream.inform(head);
    } else if context.head.version >= Version::HTTP_11 {
        context.client.interim.borrow_mut().extend(from_worker::interim(head).unwrap_or_default());
    }
}

fn complain(context: &RequestContext, route: &Route, bad: &from_worker::BadHead) -> Refusal {
    context.complain(route, bad);
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}
