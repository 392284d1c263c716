//! The response with a file: the conditions of the request decide between its content, a part, 304 and 412.

use http::header::{ACCEPT_RANGES, ALLOW, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED, RANGE};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::conditional::{ConditionOutcome, Validators};
use super::lookup::refusal;
use super::partial::part;
use super::precompressed::{self, FileVariant};
use super::range::{self, RequestedRanges};
use super::{METHODS, as_is, image_map, mime};
use crate::base::refusal::Refusal;
use crate::base::response_facts::RememberedFilters;
use crate::request::context::RequestContext;
use crate::request::filters::chosen::{self, FilterSubject};
use crate::request::includes::facts::{self, PageFile};
use crate::request::respond::body::BodySource;
use crate::request::respond::packed_files;
use crate::routing::{Fields, Route};
use base::stamp::Stamp;
use config::Handler;
use config::response::ranges::Ranges;
use files::open::OpenedFile;

/// The response with the file of `route`: all of it, the requested ranges, or 304 and 412 by the request's conditions.
pub async fn send(
    context: &RequestContext,
    route: &Route,
    opened: OpenedFile,
    head: &Parts,
) -> Result<Response<BodySource>, Refusal> {
    if head.method == Method::OPTIONS {
        let mut response = Response::new(BodySource::Empty);
        response.headers_mut().insert(ALLOW, METHODS);
        return Ok(response);
    }
    let described = mime::content_headers(&context.generation.config, route, head);
    let subject = FilterSubject::of_file(context, route, &described, opened.size);
    if subject.may_ask() {
        Box::pin(subject.answer_questions()).await;
    }
    let remembered = subject.remember_if_final();
    let subject = FilterSubject { remembered: remembered.as_ref(), ..subject };
    let is_filtered = chosen::changes_text(&subject);
    let parsed = if opened.kind.is_file() { facts::of_file(&subject, &opened) } else { None };
    // Conditions that exceed the limits have no result.
    context.within_limits(route)?;
    if let Some(file) = parsed
        && matches!(head.method, Method::GET | Method::HEAD | Method::POST)
    {
        return page(route, opened, described, file, head).map(|page| with_filters(page, remembered));
    }
    if head.method != Method::GET && head.method != Method::HEAD {
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, METHODS));
    }
    if !opened.kind.is_file() {
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    if mime::is_as_is(route, &described) {
        return Box::pin(as_is::send(opened.file, opened.size)).await;
    }
    if mime::is_image_map(route, &described) {
        return Box::pin(image_map::send(context, route, opened, head)).await;
    }
    let FileVariant { opened, coding } = match is_filtered {
        true => FileVariant { opened, coding: None },
        false => precompressed::choose(context, route, opened, head, &described).await?,
    };
    let validators = known_validators(route, &opened).of_coding(coding);
    let validators = validators.among(context.variants());
    let OpenedFile { file, size, stamp, .. } = opened;
    let mut response = match validators.judge(&head.headers) {
        ConditionOutcome::Failed => return Err(Refusal::new(StatusCode::PRECONDITION_FAILED)),
        ConditionOutcome::NotModified => empty(StatusCode::NOT_MODIFIED),
        ConditionOutcome::Send => {
            let wanted = match is_filtered {
                true => RequestedRanges::Whole,
                false => wanted(head, &validators, size, route.settings.response.ranges),
            };
            let is_plain = wanted == RequestedRanges::Whole && coding.is_none() && !is_filtered;
            if is_plain && packed_files::is_for(route, size) {
                packed_files::unread(file, size, stamp, described)
            } else {
                part(file, size, described, wanted, &validators).map_err(refusal)?
            }
        }
    };
    match coding {
        None if context.variants().is_some() => response.headers_mut().extend(fields_of(&validators)),
        None => add_validators(response.headers_mut(), route, stamp, &validators),
        Some(_) => response.headers_mut().extend(fields_of(&validators)),
    }
    let unit = if route.settings.response.ranges.most() == 0 { "none" } else { "bytes" };
    response.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static(unit));
    precompressed::describe(response.headers_mut(), route, coding);
    Ok(with_filters(response, remembered))
}

/// Remembers the choice as an extension, so that later filters do not evaluate the conditions again.
fn with_filters(mut response: Response<BodySource>, chosen: Option<RememberedFilters>) -> Response<BodySource> {
    if let Some(chosen) = chosen {
        response.extensions_mut().insert(chosen);
    }
    response
}

/// The response with a file of server-side includes. Its time counts only with `XBitHack full`, and it has no
/// ranges.
fn page(
    route: &Route,
    opened: OpenedFile,
    mut described: HeaderMap,
    file: PageFile,
    head: &Parts,
) -> Result<Response<BodySource>, Refusal> {
    if !described.contains_key(CONTENT_TYPE) && route.settings.handler == Handler::ServerParsed {
        described.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    }
    let validators = Validators::of(&opened, route.settings.response.file_etag);
    let verdict = if file.is_dated { validators.judge(&head.headers) } else { ConditionOutcome::Send };
    let mut response = match verdict {
        ConditionOutcome::Failed => return Err(Refusal::new(StatusCode::PRECONDITION_FAILED)),
        ConditionOutcome::NotModified => empty(StatusCode::NOT_MODIFIED),
        ConditionOutcome::Send => {
            part(opened.file, opened.size, described, RequestedRanges::Whole, &validators).map_err(refusal)?
        }
    };
    response.headers_mut().extend(fields_of(&validators));
    response.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if response.status() == StatusCode::OK {
        response.extensions_mut().insert(file);
    } else {
        response.headers_mut().remove(ETAG);
    }
    Ok(response)
}

fn empty(status: StatusCode) -> Response<BodySource> {
    let mut response = Response::new(BodySource::Empty);
    *response.status_mut() = status;
    response
}

/// The validators of a file. The entity tag is that of the route's memo, if the file is in the same state.
fn known_validators(route: &Route, opened: &OpenedFile) -> Validators {
    let memo = route.memo.validators.borrow();
    let known = memo.as_ref().filter(|(stamp, _)| *stamp == opened.stamp).map(|(_, fields)| fields);
    match known.and_then(|fields| fields.iter().find(|(name, _)| *name == ETAG)?.1.to_str().ok()) {
        Some(etag) => Validators::known(opened, etag),
        None => Validators::of(opened, route.settings.response.file_etag),
    }
}

/// Adds the validators as header fields, formatted once per state of a file in the route's memo.
fn add_validators(headers: &mut HeaderMap, route: &Route, stamp: Stamp, validators: &Validators) {
    let mut memo = route.memo.validators.borrow_mut();
    let fields = match &*memo {
        Some((known, fields)) if *known == stamp => fields,
        _ => &memo.insert((stamp, fields_of(validators))).1,
    };
    headers.extend(fields.iter().cloned());
}

pub(super) fn fields_of(validators: &Validators) -> Fields {
    let modified = httpdate::fmt_http_date(validators.modified);
    let fields = [(LAST_MODIFIED, modified), (ETAG, validators.etag.clone())];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?)));
    fields.filter(|(_, value)| !value.is_empty()).collect()
}

fn wanted(head: &Parts, validators: &Validators, size: u64, allowed: Ranges) -> RequestedRanges {
    match head.headers.get(RANGE) {
        Some(value) if head.method == Method::GET && validators.allow_range(&head.headers) => {
            range::parse(value.as_bytes(), size, allowed)
        }
        _ => RequestedRanges::Whole,
    }
}
