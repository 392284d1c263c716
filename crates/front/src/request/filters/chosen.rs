//! The filters that the configuration names for a response.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Response, StatusCode};

use crate::base::response_facts::RememberedFilters;
use crate::request::context::RequestContext;
use crate::request::context::expressions::{ExprOf, SeenResponse};
use crate::request::respond::body::BodySource;
use crate::request::respond::headers::mime;
use crate::routing::Route;
use config::response::compress::Coding;
use config::response::filters::{ChosenFilter, FilterProvider, FilteredResponse, TextFilter};

/// A response, as far as the choice of its filters depends on it.
#[derive(Clone, Copy)]
pub struct FilterSubject<'a> {
    pub context: &'a RequestContext,
    pub route: &'a Route,
    pub response: SeenResponse<'a>,
    /// The choice for this response, if it was made before.
    pub remembered: Option<&'a RememberedFilters>,
}

impl<'a> FilterSubject<'a> {
    /// The response with a file of this size, before it is made.
    pub fn of_file(
        context: &'a RequestContext,
        route: &'a Route,
        headers: &'a HeaderMap,
        size: u64,
    ) -> FilterSubject<'a> {
        let response = SeenResponse { status: StatusCode::OK, headers, length: Some(size) };
        FilterSubject { context, route, response, remembered: None }
    }

    pub fn of_response(
        context: &'a RequestContext,
        route: &'a Route,
        response: &'a Response<BodySource>,
    ) -> FilterSubject<'a> {
        let (status, headers, length) = (response.status(), response.headers(), response.body().length());
        let remembered = response.extensions().get();
        FilterSubject { context, route, response: SeenResponse { status, headers, length }, remembered }
    }

    /// The choice, for further questions about this response. `None`: there is nothing to choose from.
    pub fn remember(&self) -> Option<RememberedFilters> {
        let chosen = || RememberedFilters(of_chain(self).into());
        let has_chain = !self.route.settings.response.filter_chain.links.is_empty();
        self.remembered.cloned().or_else(|| has_chain.then(chosen))
    }

    /// As [`FilterSubject::remember`], unless headers or status of the response decide, which may still change.
    pub fn remember_if_final(&self) -> Option<RememberedFilters> {
        if self.route.settings.response.filter_chain.reads_response() { None } else { self.remember() }
    }

    fn as_source(&self) -> ExprOf<'a> {
        ExprOf { response: Some(self.response), ..ExprOf::request(self.context, &self.context.head, self.route) }
    }

    /// Whether conditions of the filter chain may need answers, such as that to `-f`.
    pub fn may_ask(&self) -> bool {
        self.route.settings.response.filter_chain.may_need_lookup()
    }

    /// Finds the answers that the conditions of the filter chain need.
    pub async fn answer_questions(&self) {
        if self.may_ask() {
            self.context.answered(&self.context.head, self.route, || of_chain(self)).await;
        }
    }
}

/// Whether a filter changes the text of a response, apart from server-side includes. Its length and parts are then
/// unknown. True where a condition about the response decides, of which not all headers are known yet.
pub fn changes_text(of: &FilterSubject<'_>) -> bool {
    let is_of_text = |provider| matches!(provider, FilterProvider::Text(_));
    of.route.settings.response.filter_chain.may_use_by_response(is_of_text)
        || of_text(of).iter().any(|filter| *filter != TextFilter::Includes)
}

/// The filters of a response, in their order. Empty where INCLUDES is the only one.
pub fn of_text(of: &FilterSubject<'_>) -> Vec<TextFilter> {
    let rules = &of.route.settings.response;
    if !rules.may_change_text() {
        return Vec::new();
    }
    rules.text_filters.of(&file_name(of.route), &of_chain(of))
}

/// The codings that the configuration names for a response, in its order.
pub fn codings(of: &FilterSubject<'_>) -> Vec<Coding> {
    let chosen = of_chain(of);
    let chain = chosen.iter().filter_map(|chosen| match chosen.provider {
        FilterProvider::Coding(coding) => Some(coding),
        FilterProvider::Text(_) => None,
    });
    of.route.settings.response.compress.codings(&file_name(of.route), chain)
}

/// The filters of the chain that fit a response.
pub fn of_chain(of: &FilterSubject<'_>) -> Vec<ChosenFilter> {
    if let Some(RememberedFilters(chosen)) = of.remembered {
        return chosen.to_vec();
    }
    let chain = &of.route.settings.response.filter_chain;
    if chain.links.is_empty() {
        return Vec::new();
    }
    let (context, headers) = (of.context, of.response.headers);
    let forbids =
        |value: &HeaderValue| value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("no-transform"));
    let response = FilteredResponse {
        mime: type_of(headers),
        is_proxied: of.route.backend.is_some(),
        is_fixed: headers.get_all(CACHE_CONTROL).iter().any(forbids),
        holds: &|expr| context.is_true(&of.as_source(), expr),
    };
    context.apply_rules(|| chain.chosen(&response))
}

/// The media type of a response, without parameters.
pub fn type_of(headers: &HeaderMap) -> &str {
    mime(headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default())
}

/// The name of a route's file, of whose extensions filters may be.
pub fn file_name(route: &Route) -> String {
    route.filename.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
