//! Server-side includes: the filter INCLUDES of httpd's mod_include.
//!
//! ```text
//!   apply ── body ──▶ page ──▶ elements ──┬─▶ subrequest ──▶ follow ──▶ page of the included document
//!                      │                  ├─▶ programs: exec
//!                      ▼                  └─▶ variables, conditions
//!                    output ──▶ client
//! ```
//!
//! A page is executed while it is sent, on the thread of its request. It needs no worker, unless it includes a program.

mod attributes;
pub mod body;
mod clock;
mod conditions;
mod document;
mod elements;
mod environment;
mod expr;
pub mod facts;
mod looked_up;
mod output;
mod page;
mod programs;
mod subrequest;
mod values;
mod variables;

use std::rc::Rc;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::body::{Body, RequestBody};
use super::context::RequestContext;
use super::filters::chosen::FilterSubject;
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use body::ParsedBody;
use document::Document;
use facts::{PageFile, is_allowed};
use output::Output;
use page::Page;

/// Receives the body of a POST to a page, as far as `KeptBodySize` allows, for the programs that it includes.
pub async fn keep_body(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    body: &mut RequestBody,
) -> Result<(), Refusal> {
    let most = route.settings.response.includes.kept_body.unwrap_or(0);
    if most == 0 || head.method != Method::POST || context.is_part() {
        return Ok(());
    }
    match Box::pin(body.receive(context, route)).await? {
        Body::Memory(bytes) if bytes.len() as u64 <= most => {
            context.keep_body(bytes);
            Ok(())
        }
        _ => Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE)),
    }
}

/// The head of a request after the rules that changed it. `DOCUMENT_ARGS` and `QUERY_STRING` of a page come from it.
#[derive(Clone)]
struct RewrittenHead(Box<Parts>);

/// Stores the head that rules have made, if the response may be a page.
pub fn remember_head(context: &RequestContext, response: &mut Response<BodySource>, head: Parts) {
    let is_filtered = || context.route().as_ref().is_some_and(|route| route.settings.response.may_include());
    if response.extensions().get::<PageFile>().is_some() || is_filtered() {
        response.extensions_mut().insert(RewrittenHead(Box::new(head)));
    }
}

/// Whether the response is a file that is parsed.
pub fn may_parse(response: &Response<BodySource>) -> bool {
    response.extensions().get::<PageFile>().is_some()
}

/// Executes the response to a request with this head, if a filter parses it.
pub fn apply(context: &RequestContext, head: &Parts, mut response: Response<BodySource>) -> Response<BodySource> {
    let rewritten = response.extensions_mut().remove::<RewrittenHead>();
    let head = rewritten.as_ref().map_or(head, |RewrittenHead(rewritten)| rewritten);
    let Some(file) = to_parse(context, &mut response) else { return response };
    let (Some(itself), Some(route)) = (context.itself(), context.route().clone()) else { return response };
    describe(response.headers_mut(), &route, file);
    let source = std::mem::replace(response.body_mut(), BodySource::Empty).of_any_length();
    let output = Rc::new(Output::default());
    let page = Page::of_client(Document { context: itself, head: head.clone(), route, file }, output.clone());
    *response.body_mut() = BodySource::Parsed(Box::new(ParsedBody::new(output, page.run(source))));
    response
}

/// The facts about the response's file, if a filter parses it.
fn to_parse(context: &RequestContext, response: &mut Response<BodySource>) -> Option<PageFile> {
    if let Some(file) = response.extensions_mut().remove::<PageFile>() {
        return (!matches!(response.body(), BodySource::Empty)).then_some(file);
    }
    let route = context.route().clone();
    let is_filtered = |route: &Route| {
        let of = FilterSubject::of_response(context, route, response);
        route.settings.response.may_include() && facts::is_filtered(&of)
    };
    let route = route.filter(|route| is_filtered(route))?;
    // A file was examined when it was opened, except for conditions about its response; pages of the server about a
    // redirect are no documents.
    let is_late = facts::are_by_response(&route);
    let was_examined = matches!(response.body(), BodySource::File(_)) && !is_late;
    let is_plain = !matches!(response.body(), BodySource::Empty)
        && !was_examined
        && !response.headers().contains_key(CONTENT_ENCODING)
        && !response.status().is_redirection()
        && response.status() != StatusCode::PARTIAL_CONTENT;
    (is_plain && (is_late || !route.is_static()) && is_allowed(context, &route)).then(PageFile::default)
}

/// Adapts the headers of a page: its length and time are not those of its source.
fn describe(headers: &mut HeaderMap, route: &Route, file: PageFile) {
    let rules = &route.settings.response.includes;
    headers.remove(CONTENT_LENGTH);
    if rules.etag != Some(true) {
        headers.remove(ETAG);
    }
    if rules.last_modified != Some(true) && !file.is_dated {
        headers.remove(LAST_MODIFIED);
    } else if !headers.contains_key(LAST_MODIFIED)
        && let Some(modified) = file.modified
        && let Ok(date) = HeaderValue::try_from(httpdate::fmt_http_date(modified))
    {
        headers.insert(LAST_MODIFIED, date);
    }
}
