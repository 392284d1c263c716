//! Whether a response may be stored, and on which terms (RFC 9111, sections 3 and 4.2; mod_cache's directives).

use std::time::{Duration, SystemTime};

use http::header::{
    ACCEPT_ENCODING, AGE, AUTHORIZATION, CONTENT_ENCODING, COOKIE, DATE, ETAG, EXPIRES, HeaderName, LAST_MODIFIED,
    SET_COOKIE, VARY,
};
use http::{HeaderMap, StatusCode};

use super::control::{RequestControl, ResponseControl};
use config::response::cache::Caching;

/// The parts of a request and its response that decide about storing.
pub struct Offer<'a> {
    /// The request's headers, as the program receives them.
    pub request: &'a HeaderMap,
    /// Whether the request has a query, ignored parameters aside.
    pub has_query: bool,
    /// Whether the client is authenticated.
    pub has_user: bool,
    pub status: StatusCode,
    /// The response's headers, as the client receives them.
    pub shown: &'a HeaderMap,
    /// The location's caching directives.
    pub rules: &'a Caching,
    /// When the response arrived.
    pub now: SystemTime,
}

/// The terms on which a response is stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Terms {
    /// The freshness lifetime: the response is fresh while its age is below this.
    pub lifetime: Duration,
    /// The response's age on arrival.
    pub initial_age: Duration,
    /// The response must be revalidated before each use (`no-cache`).
    pub ask_always: bool,
    /// The response must not be sent stale.
    pub never_stale: bool,
    /// Maximum staleness while a worker revalidates the response.
    pub while_revalidating: Duration,
    /// Maximum staleness when the program fails.
    pub if_error: Duration,
    /// Authenticated clients may receive the response, too.
    pub for_users: bool,
    /// Request headers that select the variant.
    pub vary: Vec<HeaderName>,
    /// Response headers that are not stored, because they are for a single client or ignored by configuration.
    pub omitted: Vec<HeaderName>,
}

/// Why a response is not stored, for the log.
pub type Unfit = &'static str;

/// Maximum number of `Vary` headers; more would make nearly every request a variant of its own.
const MAX_VARY: usize = 16;

impl Offer<'_> {
    /// The terms of storage, or why the response is not stored.
    pub fn terms(&self) -> Result<Terms, Unfit> {
        let control = ResponseControl::of(self.shown);
        self.may_be_kept(&control)?;
        let vary = self.vary()?;
        let omitted = self.omitted(&control)?;
        let initial_age = self.initial_age();
        let explicit = self.explicit(&control);
        let lifetime = match explicit {
            Some(lifetime) => lifetime,
            None if control.no_cache => Duration::ZERO,
            None => self.implicit(&control)?,
        };
        let lifetime = lifetime.min(self.rules.max_expire);
        let strict = control.must_revalidate || control.proxy_revalidate || control.no_cache;
        let terms = Terms {
            ask_always: control.no_cache,
            never_stale: strict || control.s_maxage.is_some(),
            while_revalidating: control.stale_while_revalidate.filter(|_| !strict).unwrap_or_default(),
            if_error: self.if_error(&control, strict),
            for_users: is_for_users(&control),
            lifetime,
            initial_age,
            vary,
            omitted,
        };
        self.is_worth_it(&terms)?;
        Ok(terms)
    }

    fn may_be_kept(&self, control: &ResponseControl) -> Result<(), Unfit> {
        use StatusCode as Is;
        const NEVER: [StatusCode; 8] = [
            Is::PARTIAL_CONTENT,
            Is::NOT_MODIFIED,
            Is::UNAUTHORIZED,
            Is::PROXY_AUTHENTICATION_REQUIRED,
            Is::PRECONDITION_FAILED,
            Is::RANGE_NOT_SATISFIABLE,
            Is::EXPECTATION_FAILED,
            Is::MISDIRECTED_REQUEST,
        ];
        if self.status.is_informational() || NEVER.contains(&self.status) {
            return Err("the status applies to one request only");
        }
        if RequestControl::of(self.request).no_store && !self.rules.ignores_cache_control {
            return Err("the request has no-store");
        }
        if control.no_store {
            return Err("the response has no-store");
        }
        if control.private {
            return Err("the response is private");
        }
        if (self.has_user || self.request.contains_key(AUTHORIZATION)) && !is_for_users(control) {
            return Err("the client is authenticated, and the response is not marked public");
        }
        Ok(())
    }

    /// The headers in `Vary`, plus Accept-Encoding for a coded response: a client that cannot decode it must not
    /// receive it.
    fn vary(&self) -> Result<Vec<HeaderName>, Unfit> {
        let mut names = Vec::new();
        for value in self.shown.get_all(VARY) {
            for name in
                value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty())
            {
                match HeaderName::from_bytes(name) {
                    Ok(name) if name != "*" => names.push(name),
                    _ => return Err("the response has Vary: *"),
                }
            }
        }
        if self.shown.contains_key(CONTENT_ENCODING) {
            names.push(ACCEPT_ENCODING);
        }
        names.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        names.dedup();
        if names.len() > MAX_VARY { Err("the response varies by too many headers") } else { Ok(names) }
    }

    /// The headers to leave out. A response with Set-Cookie is stored only if its directives or the configuration
    /// leave the cookie out.
    fn omitted(&self, control: &ResponseControl) -> Result<Vec<HeaderName>, Unfit> {
        let ignored = self.rules.ignored_headers.iter().filter_map(|name| name.parse().ok());
        let omitted: Vec<HeaderName> = ignored.chain(control.private_fields.iter().cloned()).collect();
        match self.shown.contains_key(SET_COOKIE) && !omitted.contains(&SET_COOKIE) {
            true => Err("the response sets a cookie"),
            false => Ok(omitted),
        }
    }

    /// The age on arrival: the larger of Age and the time since Date (RFC 9111, section 4.2.3).
    fn initial_age(&self) -> Duration {
        let age = one(self.shown, AGE).and_then(|text| text.split(',').next());
        let age = age.map(|text| text.trim().parse::<u64>().unwrap_or(u64::from(u32::MAX)));
        let apparent = date(self.shown, DATE).and_then(|date| self.now.duration_since(date).ok()).unwrap_or_default();
        apparent.max(Duration::from_secs(age.unwrap_or(0)))
    }

    /// The explicit lifetime (RFC 9111, section 4.2.1). An invalid Expires counts as expired.
    fn explicit(&self, control: &ResponseControl) -> Option<Duration> {
        let until = || {
            self.shown.contains_key(EXPIRES).then(|| {
                let from = date(self.shown, DATE).unwrap_or(self.now);
                date(self.shown, EXPIRES).and_then(|until| until.duration_since(from).ok()).unwrap_or_default()
            })
        };
        control.s_maxage.or(control.max_age).or_else(until)
    }

    /// The heuristic lifetime (RFC 9111, section 4.2.2), by mod_cache's rules. Responses to a query or a cookie get
    /// none: they may be meant for one client, or depend on the client's input.
    fn implicit(&self, control: &ResponseControl) -> Result<Duration, Unfit> {
        const USUAL: [u16; 11] = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501];
        if !USUAL.contains(&self.status.as_u16()) && !control.public {
            return Err("the response has no freshness lifetime, which its status requires");
        }
        if self.has_query {
            return Err("the response to a request with a query has no freshness lifetime");
        }
        if self.request.contains_key(COOKIE) {
            return Err("the response to a request with a cookie has no freshness lifetime");
        }
        let rules = self.rules;
        let supposed = match date(self.shown, LAST_MODIFIED) {
            Some(modified) => {
                let age = date(self.shown, DATE).unwrap_or(self.now).duration_since(modified).unwrap_or_default();
                age.mul_f64(rules.last_modified_factor)
            }
            None if self.shown.contains_key(ETAG) || rules.ignores_no_last_modified => rules.default_expire,
            None => return Err("the response has no Last-Modified, no ETag and no freshness lifetime"),
        };
        Ok(supposed.max(rules.min_expire))
    }

    fn if_error(&self, control: &ResponseControl, strict: bool) -> Duration {
        match control.stale_if_error {
            _ if strict => Duration::ZERO,
            Some(time) => time,
            None if self.rules.stale_on_error && control.s_maxage.is_none() => Duration::MAX,
            None => Duration::ZERO,
        }
    }

    /// Rejects a response that could never be sent and would only take memory.
    fn is_worth_it(&self, terms: &Terms) -> Result<(), Unfit> {
        let is_fresh = terms.lifetime > terms.initial_age && !terms.ask_always;
        let may_be_asked_for = self.shown.contains_key(ETAG) || self.shown.contains_key(LAST_MODIFIED);
        let is_kept_stale = terms.ask_always || self.rules.stores_expired;
        match is_fresh || !terms.while_revalidating.is_zero() || (may_be_asked_for && is_kept_stale) {
            true => Ok(()),
            false => Err("the response is already stale"),
        }
    }
}

/// Whether a response to an authenticated client may be shared (RFC 9111, section 3.5).
fn is_for_users(control: &ResponseControl) -> bool {
    control.public || control.must_revalidate || control.s_maxage.is_some()
}

/// The first value of a header, if it is text.
fn one(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Parses a header as an HTTP date.
pub fn date(headers: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(one(headers, name)?).ok()
}
