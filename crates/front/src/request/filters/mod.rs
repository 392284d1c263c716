//! Output filters that change the text of a response: INFLATE, SUBSTITUTE, and INCLUDES in its place between them.
//!
//! ```text
//!   file, program, backend ──▶ INFLATE ──▶ SUBSTITUTE ──▶ INCLUDES ──▶ SUBSTITUTE ──▶ compression ──▶ client
//! ```
//!
//! Each takes the next piece of text when the client has taken the last.

pub mod chosen;
mod inflate;
mod protocol;
mod substitute;

use std::path::Path;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::access::folder_of;
use super::body::inflate::without_gzip;
use super::context::RequestContext;
use super::includes;
use super::respond::body::{BodySource, FilteredBody, TextTransform};
use super::respond::compress::retag;
use crate::base::fair::Claimant;
use crate::cache::packed::Packing;
use crate::routing::Route;
use config::response::ResponseRules;
use config::response::compress::Coding;
use config::response::filters::TextFilter;

use chosen::FilterSubject;

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// Whether a filter may change this response.
pub fn may_apply(context: &RequestContext, response: &Response<BodySource>) -> bool {
    let may_filter =
        |rules: &ResponseRules| !rules.filter_chain.links.is_empty() || rules.may_change_text() || rules.may_include();
    let route = context.route();
    route.as_ref().is_some_and(|route| may_filter(&route.settings.response)) || includes::may_parse(response)
}

/// Applies all filters of the response to a request with this head, in their order.
pub async fn apply(context: &RequestContext, head: &Parts, mut response: Response<BodySource>) -> Response<BodySource> {
    let filters = of_response(context, &mut response).await;
    if filters.is_empty() {
        return includes::apply(context, head, response);
    }
    let (before, after) = around_includes(&filters);
    let response = change(context, before, response);
    change(context, after, includes::apply(context, head, response))
}

/// Applies the filters in front of INCLUDES to a document that a page includes, and returns those behind it.
pub async fn apply_to_part(
    context: &RequestContext,
    mut response: Response<BodySource>,
) -> (Response<BodySource>, FiltersBehind) {
    let filters = of_response(context, &mut response).await;
    let (before, after) = around_includes(&filters);
    let after = FiltersBehind(after.to_vec());
    (change(context, before, response), after)
}

/// Filters that follow INCLUDES.
pub struct FiltersBehind(Vec<TextFilter>);

impl FiltersBehind {
    pub fn apply(&self, context: &RequestContext, response: Response<BodySource>) -> Response<BodySource> {
        change(context, &self.0, response)
    }
}

/// The filters of a response. Applies `FilterProtocol`.
async fn of_response(context: &RequestContext, response: &mut Response<BodySource>) -> Vec<TextFilter> {
    let route = context.route().clone();
    let has_body = !matches!(response.body(), BodySource::Empty) || context.head.method == Method::HEAD;
    let is_current = response.status() == StatusCode::NOT_MODIFIED;
    let Some(route) = route.filter(|_| has_body || is_current) else { return Vec::new() };
    let of = FilterSubject::of_response(context, &route, response);
    of.answer_questions().await;
    let chosen = of.remember();
    let of = FilterSubject { remembered: chosen.as_ref(), ..of };
    let (chain, filters) = (chosen::of_chain(&of), chosen::of_text(&of));
    // Conditions of compression about headers apply to what the filters of the text leave.
    if let Some(chosen) = chosen
        && (filters.is_empty() || !route.settings.response.filter_chain.reads_response())
    {
        response.extensions_mut().insert(chosen);
    }
    if is_current {
        // The tag is that of the response that the client has (RFC 9110, section 15.4.5).
        if filters.contains(&TextFilter::Inflate) {
            retag_unpacked(&route, response.headers_mut());
        }
        return Vec::new();
    }
    chain.iter().for_each(|chosen| protocol::describe(response.headers_mut(), chosen.protocol));
    filters
}

/// The filters in front of INCLUDES, and those behind it. Where INCLUDES is not listed, a handler or an execute bit may
/// still ask for it, in front of SUBSTITUTE.
fn around_includes(filters: &[TextFilter]) -> (&[TextFilter], &[TextFilter]) {
    let listed = filters.iter().position(|filter| *filter == TextFilter::Includes);
    let inflates = filters.iter().take_while(|filter| **filter == TextFilter::Inflate).count();
    filters.split_at_checked(listed.unwrap_or(inflates)).unwrap_or_default()
}

/// Wraps the response's body in these filters.
fn change(
    context: &RequestContext,
    filters: &[TextFilter],
    mut response: Response<BodySource>,
) -> Response<BodySource> {
    for filter in filters {
        match filter {
            TextFilter::Inflate if inflates(&mut response) => {
                if let Some(route) = context.route().as_deref() {
                    retag_unpacked(route, response.headers_mut());
                }
                wrap(context, &mut response, |_| Box::new(inflate::Inflater::default()));
            }
            TextFilter::Substitute => {
                wrap(context, &mut response, |route| {
                    Box::new(substitute::Substituter::new(&route.settings.response.substitute))
                });
            }
            TextFilter::Inflate | TextFilter::Includes => {}
        }
    }
    response
}

/// Whether the body is gzip that can be undone. Changes the headers that describe it.
fn inflates(response: &mut Response<BodySource>) -> bool {
    let headers = response.headers_mut();
    // A part of a gzip stream cannot be unpacked.
    if headers.contains_key(CONTENT_RANGE) {
        return false;
    }
    let Some(rest) = without_gzip(headers) else { return false };
    headers.remove(CONTENT_ENCODING);
    headers.extend(rest.map(|rest: HeaderValue| (CONTENT_ENCODING, rest)));
    headers.remove(CONTENT_MD5);
    true
}

/// Changes the entity tag of a response that INFLATE decompresses.
fn retag_unpacked(route: &Route, headers: &mut HeaderMap) {
    retag(headers, route.settings.response.compress.tag_change(Coding::Gzip), "gunzip");
}

fn wrap(
    context: &RequestContext,
    response: &mut Response<BodySource>,
    transform: impl FnOnce(&Route) -> Box<dyn TextTransform>,
) {
    response.headers_mut().remove(CONTENT_LENGTH);
    // The stored compressed form is that of the unchanged text.
    response.extensions_mut().remove::<Packing>();
    let (Some(itself), Some(route)) = (context.itself(), context.route().clone()) else { return };
    let source = std::mem::replace(response.body_mut(), BodySource::Empty);
    if matches!(source, BodySource::Empty) {
        return;
    }
    let transform = transform(&route);
    let body = FilteredBody::new(source, transform, claimant(context), (itself, route));
    *response.body_mut() = BodySource::Filtered(Box::new(body));
}

/// The claimant of turns on other threads: the owner of the request's folder, then the client.
fn claimant(context: &RequestContext) -> Claimant {
    let route = context.route();
    let folder = route.as_ref().map(|route| folder_of(context, route)).unwrap_or(Path::new("/"));
    Claimant::new(folder, Some(context.remote().ip_addr()))
}

#[cfg(test)]
mod tests {
    use super::TextFilter::{Includes, Inflate, Substitute};
    use super::*;

    #[test]
    fn includes_run_between_the_filters_or_directly_after_inflate() {
        for (filters, before) in [
            (&[Inflate, Substitute, Includes, Substitute][..], 2),
            (&[Substitute, Includes], 1),
            (&[Includes, Substitute], 0),
            (&[Inflate, Substitute], 1),
            (&[Substitute], 0),
            (&[], 0),
        ] {
            assert_eq!(around_includes(filters).0.len(), before, "{filters:?}");
        }
    }
}
