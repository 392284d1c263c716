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

mod body;
mod clock;
mod conditions;
mod elements;
mod environment;
mod expr;
mod output;
mod page;
mod programs;
mod subrequest;
mod values;
mod variables;

use std::os::unix::fs::MetadataExt;
use std::rc::Rc;
use std::time::SystemTime;

use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED, RANGE,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::body::{Body, RequestBody};
use super::context::RequestContext;
use super::respond::body::BodySource;
use super::respond::headers::mime;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::response::includes::XBitHack;
use config::{Handler, LogLevel};
use files::open::OpenedFile;
use output::Output;
use page::{Document, Page};

pub use body::ParsedBody;
pub use subrequest::UNSENT;

/// Owner's and group's execute bits of a file's mode.
const USER_EXECUTE: u32 = 0o100;
const GROUP_EXECUTE: u32 = 0o010;

/// Facts about the file of a page.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageFile {
    /// Time of its last change.
    pub modified: Option<SystemTime>,
    /// User number of its owner.
    pub owner: Option<u32>,
    /// Whether its time counts for conditional requests: `XBitHack full`.
    pub is_dated: bool,
}

/// The facts about a file that is parsed; `None`: it is sent as it is.
pub fn of_file(
    context: &RequestContext,
    route: &Route,
    opened: &OpenedFile,
    described: &HeaderMap,
) -> Option<PageFile> {
    let rules = &route.settings.response.includes;
    let is_handled = route.settings.handler == Handler::ServerParsed;
    if !is_handled && !rules.are_on() {
        return None;
    }
    let kind = type_of(described);
    let hack = rules.x_bit_hack.filter(|hack| *hack != XBitHack::Off && kind == "text/html");
    let is_parsed = is_handled || rules.filter(kind, &file_name(route));
    if !is_parsed && hack.is_none() {
        return None;
    }
    let found = opened.file.metadata().ok()?;
    let has_bit = hack.is_some() && found.mode() & USER_EXECUTE != 0;
    if !(is_parsed || has_bit) || !is_allowed(context, route) {
        return None;
    }
    Some(PageFile {
        modified: Some(opened.modified),
        owner: Some(found.uid()),
        is_dated: rules.x_bit_hack == Some(XBitHack::Full) && found.mode() & GROUP_EXECUTE != 0,
    })
}

/// Whether `Options` allow includes; logs that they do not.
fn is_allowed(context: &RequestContext, route: &Route) -> bool {
    let is_allowed = route.settings.options.includes;
    if !is_allowed {
        let why = "the filter INCLUDES is not applied: write Options +Includes, or +IncludesNOEXEC, for its folder";
        context.log(route, (LogLevel::Warn, "include"), &why);
    }
    is_allowed
}

/// Whether the output of a program is parsed, as far as its place decides. Its client then needs all of it.
pub fn may_parse_output(route: &Route) -> bool {
    route.settings.response.includes.are_on() && route.settings.options.includes
}

/// Removes conditions and ranges, which a page does not have.
pub fn unconditional(head: &mut Parts) {
    for name in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE] {
        head.headers.remove(name);
    }
}

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
    match body.receive(context, route).await? {
        Body::Memory(bytes) if bytes.len() as u64 <= most => {
            context.keep_body(bytes);
            Ok(())
        }
        _ => Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE)),
    }
}

/// Executes the response to a request with this head, if a filter parses it.
pub fn apply(context: &RequestContext, head: &Parts, mut response: Response<BodySource>) -> Response<BodySource> {
    let Some(file) = to_parse(context, &mut response) else { return response };
    let (Some(itself), Some(route)) = (context.itself(), context.route().clone()) else { return response };
    describe(response.headers_mut(), &route, file);
    let source = std::mem::replace(response.body_mut(), BodySource::Empty);
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
        let rules = &route.settings.response.includes;
        rules.are_on() && rules.filter(type_of(response.headers()), &file_name(route))
    };
    let route = route.filter(|route| is_filtered(route))?;
    // A file was examined when it was opened; pages of the server about a redirect are no documents.
    let is_plain = !matches!(response.body(), BodySource::Empty | BodySource::File(_))
        && !response.headers().contains_key(CONTENT_ENCODING)
        && !response.status().is_redirection()
        && response.status() != StatusCode::PARTIAL_CONTENT;
    (is_plain && !route.is_static() && is_allowed(context, &route)).then(PageFile::default)
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

fn type_of(headers: &HeaderMap) -> &str {
    mime(headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default())
}

fn file_name(route: &Route) -> String {
    route.filename.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
