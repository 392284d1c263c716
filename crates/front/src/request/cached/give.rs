//! Builds the response from a cached one: whole, in part, or as a 304.

use http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_RANGE, CONTENT_TYPE, HeaderValue,
    RANGE,
};
use http::{HeaderMap, Method, Response, StatusCode};

use super::events::Event;
use super::{Visit, asked};
use crate::base::response_facts::AlwaysHeaders;
use crate::cache::StoredResponse;
use crate::cache::conditions::{allow_range, is_current};
use crate::cache::packed::Packing;
use crate::cache::response::CachedResponse;
use crate::request::context::expressions::SeenResponse;
use crate::request::files::range::{self, RequestedRanges};
use crate::request::filters::chosen::{FilterSubject, changes_text};
use crate::request::respond::body::BodySource;

impl Visit<'_> {
    /// The response for this client, with cache headers, and with its compressed forms where the whole body is sent.
    pub fn give(&self, kept: &StoredResponse, event: Event) -> Response<BodySource> {
        let mut response = self.respond(kept);
        if response.status() == kept.status {
            response.extensions_mut().insert(Packing::new(self.cache, kept));
        }
        self.report(response, event)
    }

    /// The response for this client, without cache headers and variables.
    pub fn respond(&self, answer: &CachedResponse) -> Response<BodySource> {
        let mut response = Response::new(BodySource::whole(answer.body.clone()));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers_now();
        if let Some(reason) = answer.reason.clone() {
            response.extensions_mut().insert(reason);
        }
        if !answer.always.is_empty() {
            response.extensions_mut().insert(answer.always.clone());
        }
        let response = self.unless_current(response);
        if response.status() == StatusCode::OK { self.part(response, answer) } else { response }
    }

    /// Turns the response into a 304 if the client has the current version.
    pub fn unless_current(&self, mut response: Response<BodySource>) -> Response<BodySource> {
        if response.status() != StatusCode::OK || !is_current(&self.head.headers, response.headers()) {
            return response;
        }
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = BodySource::Empty;
        let always = response.extensions_mut().remove::<AlwaysHeaders>();
        response.extensions_mut().clear();
        if let Some(always) = always {
            response.extensions_mut().insert(always);
        }
        for name in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_DISPOSITION, CONTENT_RANGE] {
            response.headers_mut().remove(name);
        }
        response
    }

    /// The requested range of the body. A request for several ranges gets the whole body.
    fn part(&self, mut response: Response<BodySource>, answer: &CachedResponse) -> Response<BodySource> {
        let size = answer.body.len() as u64;
        let Some(range) = self.head.headers.get(RANGE).filter(|_| self.may_part(response.headers(), size)) else {
            return response;
        };
        match range::parse(range.as_bytes(), size, self.route.settings.response.ranges) {
            RequestedRanges::Parts(parts) => {
                let [(from, to)] = parts[..] else { return response };
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                *response.body_mut() = BodySource::whole(answer.body.slice(from as usize..to as usize));
                set_range(response.headers_mut(), &format!("bytes {from}-{}/{size}", to - 1));
            }
            RequestedRanges::Nothing => {
                *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
                *response.body_mut() = BodySource::Empty;
                set_range(response.headers_mut(), &format!("bytes */{size}"));
            }
            RequestedRanges::Whole => {}
        }
        response
    }

    fn may_part(&self, headers: &HeaderMap, size: u64) -> bool {
        let response = SeenResponse { status: StatusCode::OK, headers, length: Some(size) };
        let takes = headers.get(ACCEPT_RANGES).is_none_or(|unit| unit != "none");
        self.head.method == Method::GET
            && takes
            // The filters change the whole text; a part of it would show what they replace.
            && !changes_text(&FilterSubject { context: self.context, route: self.route, response, remembered: None })
            && asked::wants_a_part(self.head)
            && allow_range(&self.head.headers, headers)
    }
}

fn set_range(headers: &mut HeaderMap, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(CONTENT_RANGE, value);
    }
}
