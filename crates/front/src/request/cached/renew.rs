//! Updates a stored response by a 304 of its program.

use std::sync::Arc;
use std::time::Instant;

use http::Response;
use http::header::{
    AGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, DATE, HeaderMap, HeaderName, SET_COOKIE,
    TRANSFER_ENCODING,
};
use http::response::Parts;

use super::Visit;
use super::keep::{always_to_keep, to_keep};
use crate::base::response_facts::AlwaysHeaders;
use crate::cache::forms::Forms;
use crate::cache::response::CachedResponse;
use crate::cache::shared::SharedLead;

/// Fields of a 304 that do not replace those of the stored response.
const NOT_RENEWED: [HeaderName; 7] =
    [AGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, SET_COOKIE, TRANSFER_ENCODING];

/// The Set-Cookie headers of a 304, which are for its client only.
pub struct OwnCookies {
    pub headers: HeaderMap,
    /// Cookies that rules of `Header always` reach.
    pub always: HeaderMap,
}

impl OwnCookies {
    pub fn add_to<B>(self, response: &mut Response<B>) {
        response.headers_mut().extend(self.headers);
        if !self.always.is_empty() {
            response.extensions_mut().get_or_insert_default::<AlwaysHeaders>().fields.extend(self.always);
        }
    }
}

impl Visit<'_> {
    /// Updates a stale response with the headers of a 304 (RFC 9111, section 3.2). A response that the 304 forbids to
    /// store is forgotten, by the headers that clients receive: rules of the configuration count.
    pub fn renew(
        &self,
        stale: &CachedResponse,
        fresh: &Parts,
        shared: Option<SharedLead>,
    ) -> (Arc<CachedResponse>, OwnCookies) {
        let none = AlwaysHeaders::default();
        let fresh_always = fresh.extensions.get().unwrap_or(&none);
        let names: Vec<&HeaderName> = fresh.headers.keys().filter(|name| !NOT_RENEWED.contains(name)).collect();
        let (mut headers, mut always) = (stale.headers.clone(), stale.always.clone());
        headers.remove(DATE);
        replace(&mut headers, &names, &fresh.headers);
        replace(&mut always.fields, &names, &fresh_always.fields);
        let terms = self.terms(stale.status, &headers, Some(&always));
        let is_kept = terms.is_ok();
        let terms = terms.unwrap_or_default();
        let answer = Arc::new(CachedResponse {
            status: stale.status,
            reason: stale.reason.clone(),
            headers: to_keep(headers, &terms),
            always: always_to_keep(always, &terms),
            body: stale.body.clone(),
            forms: Forms::default(),
            terms,
            since: Instant::now(),
        });
        match is_kept {
            true => {
                self.cache.keep(&self.key, &self.head.headers, answer.clone());
                self.cache.share(&self.key, &self.head.headers, &answer, shared);
            }
            false => self.forget(),
        }
        let cookies = |of: &HeaderMap| of.get_all(SET_COOKIE).iter().map(|value| (SET_COOKIE, value.clone())).collect();
        (answer, OwnCookies { headers: cookies(&fresh.headers), always: cookies(&fresh_always.fields) })
    }
}

/// Replaces the fields of these names by those of `fresh`.
fn replace(headers: &mut HeaderMap, names: &[&HeaderName], fresh: &HeaderMap) {
    for name in names {
        headers.remove(*name);
        headers.extend(fresh.get_all(*name).iter().map(|value| ((*name).clone(), value.clone())));
    }
}
