//! `Redirect` and `RedirectMatch`: which paths are redirected, and the response.

use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

use crate::base::refusal::Refusal;
use base::path::Text;
use config::response::redirect::{Redirect, RedirectFrom, RedirectResponse};
use config::{Host, Settings};

/// Bytes that are escaped in a target, because `Location` cannot contain them.
const NOT_IN_HEADER: &AsciiSet = &CONTROLS.add(b' ');

/// The redirection of a decoded path. Those of the host take precedence over those of containers, except over a whole
/// `<Location>`.
pub fn find(host: &Host, settings: &Settings, path: &str) -> Option<RedirectResponse> {
    let is_whole = |redirect: &&Redirect| matches!(redirect.from, RedirectFrom::Location);
    let of_location = first(settings.response.redirects.iter().filter(is_whole), path);
    let early = of_location.or_else(|| first(host.redirects.iter(), path));
    early.map(|answer| RedirectResponse { of_host: true, ..answer }).or_else(|| of_place(settings, path))
}

/// The redirection of a decoded path by containers.
pub fn of_place(settings: &Settings, path: &str) -> Option<RedirectResponse> {
    first(settings.response.redirects.iter(), path)
}

fn first<'a>(mut redirects: impl Iterator<Item = &'a Redirect>, path: &str) -> Option<RedirectResponse> {
    redirects.find_map(|redirect| redirect.answer(path))
}

/// The response to a redirected request. The request's query is appended, unless the new URL has one.
pub fn refusal(answer: &RedirectResponse, query: Option<&str>) -> Refusal {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::FOUND);
    let Some(location) = &answer.location else { return Refusal::new(status) };
    let location = match query.filter(|_| !location.contains('?')) {
        Some(query) => format!("{location}?{query}"),
        None => location.clone(),
    };
    // A target may have been written with letters that a header cannot contain.
    let location = percent_encode(&Text::bytes_in(&location), NOT_IN_HEADER).to_string();
    match HeaderValue::from_str(&location) {
        Ok(location) => Refusal::with(status, LOCATION, location),
        Err(_) => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR),
    }
}
