//! Processes one request, from its head to its response.
//!
//! A connection holds the future of its request, also while it is idle, and each layer moves it. Steps that few
//! requests take are therefore boxed (`Box::pin`): they cost an allocation where they are taken, and otherwise nothing.

pub mod access;
mod actions;
mod ask_worker;
pub mod body;
pub mod branches;
mod cached;
pub mod context;
mod dispatch;
mod error_document;
mod expressions;
mod fcgi;
pub mod files;
pub mod filters;
pub mod frame;
mod head_check;
mod includes;
mod internal_redirect;
pub mod managed;
pub mod negotiation;
mod pages;
mod passed;
mod phases;
mod place;
pub mod proxied;
mod redirects;
pub mod repeated;
pub mod respond;
pub mod rewrite;
pub mod services;
mod spelling;
mod status;
mod strictness;

use std::rc::Rc;
use std::time::Instant;

use http::request::Parts;
use http::{Request, Response, StatusCode};

use super::base::refusal::Refusal;
use super::generation::{InUse, View};
use body::RequestBody;
use body::drain::DrainOutcome;
use body::source::Source;
use context::{RequestContext, RequestGuard, Stream, host_header};
use respond::body::{BodySource, ResponseBody};
use respond::{ResponseEnding, compress, headers, held, repeatable};
use services::Connection;

pub use cached::purge_url::{purge as purge_url, purge_here};
pub use dispatch::follow;
use dispatch::{find_file, look_up, reach, reach_at, run};
pub use internal_redirect::{MAX_REDIRECTS, redirected};

/// Begins a request whose head is complete; `generation` answers it.
pub fn begin(
    connection: &Connection,
    generation: Rc<View>,
    head: Parts,
    stream: Option<Rc<dyn Stream>>,
) -> RequestGuard {
    RequestGuard::begin(connection, generation, head, stream, expressions::answer)
}

/// Answers a request; `stream` is set if it came on a multiplexed connection.
pub async fn answer(
    connection: &Connection,
    request: Request<Source>,
    stream: Option<Rc<dyn Stream>>,
) -> Response<ResponseBody> {
    let (mut head, body) = request.into_parts();
    let serving = connection.services.generations.use_serving();
    let in_use = serving.unwrap_or_else(|| InUse::new(connection.generation.clone()));
    // Limits apply to the fields as received, before repeated fields are joined.
    let fit = host_header::settle(&mut head).and_then(|()| head_check::measure(&head, &in_use.config.limits));
    repeated::join(&mut head);
    let context = begin(connection, in_use.clone(), head, stream);
    let mut body = RequestBody::from(body);
    let mut answer = Box::pin(follow_if_valid(&context, fit, &mut body)).await;
    if answer.as_ref().is_ok_and(|response| opens_websocket(&context, response)) {
        answer = Err(Refusal::not_allowed());
    }
    let mut close = answer.as_ref().is_err_and(|refusal| refusal.close);
    if !close {
        match body.drain(&context).await {
            DrainOutcome::Nothing => {}
            DrainOutcome::InTheWay => close = true,
            DrainOutcome::TooLarge => {
                close = true;
                if answer.as_ref().err().is_none_or(|refusal| is_about_what_is_there(refusal.status)) {
                    answer = Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE));
                }
            }
        }
    }
    let answer = match answer {
        Ok(response) if held::is_asked(&response) => {
            // A reload need not wait for what the front holds.
            drop(in_use);
            Box::pin(held::begin(&context, response)).await
        }
        answer => answer,
    };
    let (mut response, mut refused) = match answer {
        Ok(response) => (response, false),
        Err(refusal) => {
            hold_back(&context, &refusal).await;
            let is_repeatable = refusal.is_busy && !context.may_have_begun();
            let (mut response, refused) = Box::pin(error_document::answer(&context, refusal)).await;
            if is_repeatable && response.status() == StatusCode::SERVICE_UNAVAILABLE {
                repeatable::mark(&context.generation.config, &mut response);
            }
            (response, refused)
        }
    };
    if opens_websocket(&context, &response) {
        // An error document or a rule has the status of a success.
        (response, refused) = (Refusal::not_allowed().response(""), true);
    }
    context.add_carried(&mut response);
    managed::require_https(&context, response.headers_mut());
    if compress::may_apply(&context, &response) {
        response = Box::pin(compress::apply(&context, response)).await;
    }
    if headers::may_ask(&context) {
        Box::pin(headers::answer_questions(&context, &response, refused)).await;
    }
    respond::finish(context, response, ResponseEnding { refused, close })
}

/// Whether the client would take a response that is none for an open WebSocket. A switch of protocols has status 101
/// here.
fn opens_websocket(context: &RequestContext, response: &Response<BodySource>) -> bool {
    context.is_websocket_stream() && response.status().is_success()
}

/// Delays a 503 in an overload, so that refused clients do not retry at once.
async fn hold_back(context: &RequestContext, refusal: &Refusal) {
    if refusal.status == StatusCode::SERVICE_UNAVAILABLE {
        let later = context.services.shared.refusals.one_more(Instant::now());
        if !later.is_zero() {
            tokio::time::sleep(later).await;
        }
    }
}

/// The result of processing a request at its location.
enum Dispatched {
    Response(Response<BodySource>),
    /// An internal redirect: answer a GET of this path instead.
    InternalRedirect(Vec<u8>),
    /// Answer this request instead, with the same body.
    Forward(Box<Parts>),
    /// As `Forward`, for the index of a folder: as in httpd, some rules do not apply to it.
    Index(Box<Parts>),
}

impl From<Response<BodySource>> for Dispatched {
    /// The response, or the path of the site that answers in its place.
    fn from(mut response: Response<BodySource>) -> Dispatched {
        match response.extensions_mut().remove() {
            Some(files::LocalRedirect(path)) => Dispatched::InternalRedirect(path),
            None => Dispatched::Response(response),
        }
    }
}

/// Answers the request, if its head is valid.
async fn follow_if_valid(
    context: &RequestContext,
    fit: Result<(), Refusal>,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    fit?;
    head_check::check(context)?;
    follow(context, &context.head, body).await
}

/// Whether a refusal is about the file and not about the client.
fn is_about_what_is_there(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
}
