//! A cached response, and the test whether it may answer a request.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AGE, HeaderValue};
use http::{HeaderMap, StatusCode};
use hyper::ext::ReasonPhrase;

use super::control::RequestControl;
use super::forms::Forms;
use super::terms::Terms;
use crate::base::response_facts::AlwaysHeaders;

/// A cached response with the headers that its program sent. Headers from the configuration are added for each client.
#[derive(Debug)]
pub struct CachedResponse {
    pub status: StatusCode,
    /// The reason phrase, if the program has set its own.
    pub reason: Option<ReasonPhrase>,
    /// Includes Date; headers for a single client are left out.
    pub headers: HeaderMap,
    /// Fields of `headers` that rules of `Header always` reach.
    pub always: AlwaysHeaders,
    pub body: Bytes,
    /// The body in other content codings.
    pub forms: Forms,
    pub terms: Terms,
    /// When the response arrived from the worker.
    pub since: Instant,
}

/// Whether a cached response may answer a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usable {
    Fresh,
    /// The response is stale, and the request's `max-stale` allows that.
    Stale,
    /// The response is stale; it is sent while a worker revalidates it (`stale-while-revalidate`).
    WhileRevalidating,
    /// The response must be revalidated first.
    No,
}

/// Overhead in bytes of a header and of a cached response, index included. Both are estimated high, so that the size
/// limit of the cache holds.
const PER_HEADER: usize = 96;
const PER_ANSWER: usize = 768;

impl CachedResponse {
    /// The response's current age (RFC 9111, section 4.2.3).
    pub fn age(&self) -> Duration {
        self.terms.initial_age.saturating_add(self.since.elapsed())
    }

    /// How long ago the freshness lifetime ended; zero for a fresh response.
    fn staleness(&self) -> Duration {
        self.age().saturating_sub(self.terms.lifetime)
    }

    /// Whether the freshness lifetime has not ended.
    pub fn is_fresh(&self) -> bool {
        self.age() < self.terms.lifetime
    }

    /// Whether this response may answer a request with these directives (RFC 9111, sections 4.2 and 5.2.1).
    pub fn usable(&self, control: &RequestControl) -> Usable {
        let (terms, age) = (&self.terms, self.age());
        if terms.ask_always || control.no_cache || control.max_age.is_some_and(|most| age > most || most.is_zero()) {
            return Usable::No;
        }
        if self.is_fresh() {
            let left = terms.lifetime.saturating_sub(age);
            return if control.min_fresh.is_some_and(|least| left < least) { Usable::No } else { Usable::Fresh };
        }
        if control.min_fresh.is_some() {
            return Usable::No;
        }
        let staleness = self.staleness();
        if !terms.never_stale && control.max_stale.is_some_and(|most| staleness <= most) {
            return Usable::Stale;
        }
        match staleness < terms.while_revalidating {
            true => Usable::WhileRevalidating,
            false => Usable::No,
        }
    }

    /// Whether this response may replace an error (`stale-if-error`; RFC 5861, section 4).
    pub fn is_usable_on_error(&self, control: &RequestControl) -> bool {
        !control.no_cache && !self.terms.ask_always && (self.is_fresh() || self.staleness() < self.terms.if_error)
    }

    /// The headers to send now, with a current Age.
    pub fn headers_now(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(AGE, HeaderValue::from(self.age().as_secs()));
        headers
    }

    /// Estimated memory in bytes, without the compressed forms.
    pub fn size(&self) -> usize {
        size([&self.headers, &self.always.fields], self.body.len())
    }
}

/// Estimated memory in bytes of a response with these headers, those of `Header always` once more, and a body of `body`
/// bytes.
pub fn size(headers: [&HeaderMap; 2], body: usize) -> usize {
    let header = |(name, value): (&http::HeaderName, &HeaderValue)| name.as_str().len() + value.len() + PER_HEADER;
    PER_ANSWER + body + headers.into_iter().flatten().map(header).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(lifetime: u64, age: u64, terms: Terms) -> CachedResponse {
        let seconds = Duration::from_secs;
        CachedResponse {
            status: StatusCode::OK,
            reason: None,
            headers: HeaderMap::new(),
            always: AlwaysHeaders::default(),
            body: Bytes::new(),
            forms: Forms::default(),
            terms: Terms { lifetime: seconds(lifetime), initial_age: seconds(age), ..terms },
            since: Instant::now(),
        }
    }

    fn request_control(field: &'static str) -> RequestControl {
        RequestControl::of(&HeaderMap::from_iter([(http::header::CACHE_CONTROL, HeaderValue::from_static(field))]))
    }

    #[test]
    fn a_request_may_want_less_and_more_than_freshness() {
        use Usable::*;
        let strict = || Terms { never_stale: true, ..Terms::default() };
        let lenient = || Terms { while_revalidating: Duration::from_secs(30), ..Terms::default() };
        for (answer, field, usable) in [
            (answer(60, 10, strict()), "", Fresh),
            (answer(60, 10, strict()), "max-age=5", No),
            (answer(60, 0, strict()), "max-age=0", No),
            (answer(60, 10, strict()), "max-age=20", Fresh),
            (answer(60, 10, strict()), "min-fresh=40", Fresh),
            (answer(60, 10, strict()), "min-fresh=55", No),
            (answer(60, 10, strict()), "no-cache", No),
            (answer(60, 70, strict()), "", No),
            (answer(60, 70, strict()), "max-stale", No),
            (answer(60, 70, Terms::default()), "max-stale", Stale),
            (answer(60, 70, Terms::default()), "max-stale=5", No),
            (answer(60, 70, Terms::default()), "max-stale=30", Stale),
            (answer(60, 70, lenient()), "", WhileRevalidating),
            (answer(60, 70, lenient()), "min-fresh=1", No),
            (answer(60, 100, lenient()), "", No),
            (answer(60, 10, Terms { ask_always: true, ..Terms::default() }), "", No),
        ] {
            assert_eq!(answer.usable(&request_control(field)), usable, "{field} {answer:?}");
        }
    }
}
