//! Whether an answer may be kept, and on which terms (RFC 9111, sections 3 and 4.2; mod_cache's directives).

use std::time::{Duration, SystemTime};

use http::header::{
    ACCEPT_ENCODING, AGE, AUTHORIZATION, CONTENT_ENCODING, COOKIE, DATE, ETAG, EXPIRES, HeaderName, LAST_MODIFIED,
    SET_COOKIE, VARY,
};
use http::{HeaderMap, StatusCode};

use super::control::{AnswerControl, RequestControl};
use config::response::cache::Caching;

/// What is looked at.
pub struct Offer<'a> {
    /// The request's headers, as the program saw them.
    pub request: &'a HeaderMap,
    /// Whether it has a query that counts.
    pub has_query: bool,
    /// Whether its client has proved who it is.
    pub has_user: bool,
    /// The answer's status.
    pub status: StatusCode,
    /// Its headers, as a client gets them.
    pub shown: &'a HeaderMap,
    /// What the place says.
    pub rules: &'a Caching,
    /// When the answer came.
    pub now: SystemTime,
}

/// The terms on which an answer is kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Terms {
    /// For so long it is fresh,
    pub lifetime: Duration,
    /// of which so much was over when it came.
    pub initial_age: Duration,
    /// It is not given to anybody before the program was asked again.
    pub ask_always: bool,
    /// It is not given to anybody when it is stale.
    pub never_stale: bool,
    /// How long behind its time it may be given while it is asked for again.
    pub while_revalidating: Duration,
    /// How long behind its time it may be given when the program fails.
    pub if_error: Duration,
    /// Clients that have proved who they are may get it, too.
    pub for_users: bool,
    /// Headers of requests that it depends on.
    pub vary: Vec<HeaderName>,
    /// Its headers that are for one client only.
    pub omitted: Vec<HeaderName>,
}

/// Why an answer is not kept, for the log.
pub type Unfit = &'static str;

/// More headers than these make a variant of every request.
const MOST_VARY: usize = 16;

impl Offer<'_> {
    /// The terms, if there are any.
    pub fn terms(&self) -> Result<Terms, Unfit> {
        let control = AnswerControl::of(self.shown);
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

    fn may_be_kept(&self, control: &AnswerControl) -> Result<(), Unfit> {
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
            return Err("the status is about one request");
        }
        if RequestControl::of(self.request).no_store && !self.rules.ignores_cache_control {
            return Err("the request says no-store");
        }
        if control.no_store {
            return Err("the answer says no-store");
        }
        if control.private {
            return Err("the answer says private");
        }
        if (self.has_user || self.request.contains_key(AUTHORIZATION)) && !is_for_users(control) {
            return Err("the client has proved who it is, and the answer does not say that it is for others");
        }
        Ok(())
    }

    /// The headers that `Vary` names, and Accept-Encoding where the answer is coded: a client that cannot read it must not get it.
    fn vary(&self) -> Result<Vec<HeaderName>, Unfit> {
        let mut names = Vec::new();
        for value in self.shown.get_all(VARY) {
            for name in
                value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty())
            {
                match HeaderName::from_bytes(name) {
                    Ok(name) if name != "*" => names.push(name),
                    _ => return Err("the answer says Vary: *"),
                }
            }
        }
        if self.shown.contains_key(CONTENT_ENCODING) {
            names.push(ACCEPT_ENCODING);
        }
        names.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        names.dedup();
        if names.len() > MOST_VARY { Err("the answer depends on too many headers") } else { Ok(names) }
    }

    /// Cookies are for one client: an answer that sets some is kept only where it is told to be kept without them.
    fn omitted(&self, control: &AnswerControl) -> Result<Vec<HeaderName>, Unfit> {
        let ignored = self.rules.ignored_headers.iter().filter_map(|name| name.parse().ok());
        let omitted: Vec<HeaderName> = ignored.chain(control.private_fields.iter().cloned()).collect();
        match self.shown.contains_key(SET_COOKIE) && !omitted.contains(&SET_COOKIE) {
            true => Err("the answer sets a cookie"),
            false => Ok(omitted),
        }
    }

    /// RFC 9111, section 4.2.3: what the answer says of its age, or its Date does.
    fn initial_age(&self) -> Duration {
        let said = one(self.shown, AGE).and_then(|text| text.split(',').next());
        let said = said.map(|text| text.trim().parse::<u64>().unwrap_or(u64::from(u32::MAX)));
        let apparent = date(self.shown, DATE).and_then(|date| self.now.duration_since(date).ok()).unwrap_or_default();
        apparent.max(Duration::from_secs(said.unwrap_or(0)))
    }

    /// What the answer says of its freshness (section 4.2.1). An Expires that is no date is in the past.
    fn explicit(&self, control: &AnswerControl) -> Option<Duration> {
        let until = || {
            self.shown.contains_key(EXPIRES).then(|| {
                let from = date(self.shown, DATE).unwrap_or(self.now);
                date(self.shown, EXPIRES).and_then(|until| until.duration_since(from).ok()).unwrap_or_default()
            })
        };
        control.s_maxage.or(control.max_age).or_else(until)
    }

    /// What is supposed of it (section 4.2.2), by mod_cache's rules; not for an answer that was perhaps made for one client, or
    /// for words that he has chosen.
    fn implicit(&self, control: &AnswerControl) -> Result<Duration, Unfit> {
        const USUAL: [u16; 11] = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501];
        if !USUAL.contains(&self.status.as_u16()) && !control.public {
            return Err("the answer does not say how long it is fresh, and its status is none that is kept without");
        }
        if self.has_query {
            return Err("the answer to a request with a query does not say how long it is fresh");
        }
        if self.request.contains_key(COOKIE) {
            return Err("the answer to a request with a cookie does not say how long it is fresh");
        }
        let rules = self.rules;
        let supposed = match date(self.shown, LAST_MODIFIED) {
            Some(modified) => {
                let age = date(self.shown, DATE).unwrap_or(self.now).duration_since(modified).unwrap_or_default();
                age.mul_f64(rules.last_modified_factor)
            }
            None if self.shown.contains_key(ETAG) || rules.ignores_no_last_modified => rules.default_expire,
            None => return Err("the answer has no Last-Modified, no ETag, and does not say how long it is fresh"),
        };
        Ok(supposed.max(rules.min_expire))
    }

    fn if_error(&self, control: &AnswerControl, strict: bool) -> Duration {
        match control.stale_if_error {
            _ if strict => Duration::ZERO,
            Some(time) => time,
            None if self.rules.stale_on_error && control.s_maxage.is_none() => Duration::MAX,
            None => Duration::ZERO,
        }
    }

    /// What can never be given to anybody only takes room.
    fn is_worth_it(&self, terms: &Terms) -> Result<(), Unfit> {
        let is_fresh = terms.lifetime > terms.initial_age && !terms.ask_always;
        let may_be_asked_for = self.shown.contains_key(ETAG) || self.shown.contains_key(LAST_MODIFIED);
        let is_kept_stale = terms.ask_always || self.rules.stores_expired;
        match is_fresh || !terms.while_revalidating.is_zero() || (may_be_asked_for && is_kept_stale) {
            true => Ok(()),
            false => Err("the answer is stale already"),
        }
    }
}

/// RFC 9111, section 3.5.
fn is_for_users(control: &AnswerControl) -> bool {
    control.public || control.must_revalidate || control.s_maxage.is_some()
}

/// The only value of a header.
fn one(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// A date of HTTP.
pub fn date(headers: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(one(headers, name)?).ok()
}
