//! The filters that the configuration names for a response.

use http::header::HeaderMap;

use crate::request::includes::facts;
use crate::routing::Route;
use config::response::filters::TextFilter;

/// Whether a filter changes the text of a response with these headers, apart from server-side includes. Its length and
/// parts are then unknown.
pub fn changes_text(route: &Route, headers: &HeaderMap) -> bool {
    of_headers(route, headers).iter().any(|filter| *filter != TextFilter::Includes)
}

/// The filters of a response with these headers, in their order. Empty where INCLUDES is the only one.
pub fn of_headers(route: &Route, headers: &HeaderMap) -> Vec<TextFilter> {
    let rules = &route.settings.response.text_filters;
    if !rules.are_on() {
        return Vec::new();
    }
    rules.of(facts::type_of(headers), &facts::file_name(route))
}
