//! Decides whether the response of a worker or a backend is stored, and stores it.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use http::header::{AGE, DATE, HeaderValue, SET_COOKIE};
use http::{HeaderMap, Method, Response, StatusCode};
use hyper::ext::ReasonPhrase;

use super::events::Event;
use super::refill::{Errand, is_failure};
use super::{Visit, asked};
use crate::base::broadcast::hold::HoldRequest;
use crate::base::response_facts::AlwaysHeaders;
use crate::cache::forms::Forms;
use crate::cache::response::{self, CachedResponse};
use crate::cache::shared::SharedLead;
use crate::cache::terms::{Offer, Terms, Unfit};
use crate::cache::{Cache, FlightOutcome, Leader};
use crate::request::context::RequestContext;
use crate::request::respond::body::{BodySource, tee};
use crate::request::respond::headers::{self, CompletedResponse};

/// Fields that this server adds to the request for a backend. Variants are found by the client's request, which lacks
/// them.
const ADDED: [&str; 3] = ["x-forwarded-for", "via", "forwarded"];

impl Visit<'_> {
    /// Stores a worker's response if its terms allow, while the client receives it.
    pub fn keep(&self, response: Response<BodySource>, errand: Errand) -> Response<BodySource> {
        let (response, event) = self.keep_only(response, errand);
        self.report(self.unless_current(response), event)
    }

    /// Like [`Visit::keep`], without a client that waits: returns the response and the cache event.
    pub fn keep_only(&self, response: Response<BodySource>, mut errand: Errand) -> (Response<BodySource>, Event) {
        let terms = self.terms(response.status(), response.headers(), response.extensions().get());
        let is_held = response.extensions().get::<HoldRequest>().is_some();
        let terms = if is_held { Err("the response is held for messages (Cameleer-Hold)") } else { terms };
        match terms.and_then(|terms| self.fits(&response).map(|()| terms)) {
            Ok(terms) => {
                let shared = errand.take_shared();
                let kept = self.take(response, terms, errand.leader, shared);
                (kept, Event::Miss("cache miss: the response is stored"))
            }
            Err(why) => {
                let has_failed = is_failure(response.status());
                if !has_failed {
                    self.cache.pass(&self.key, &self.head.headers);
                }
                errand.ends(if has_failed { FlightOutcome::Failed } else { FlightOutcome::Alone });
                (response, Event::Miss(why))
            }
        }
    }

    /// The terms on which a response with these headers is stored. Headers from the configuration count, too, for
    /// example `Header set Cache-Control` and `ExpiresActive`.
    pub(super) fn terms(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        always: Option<&AlwaysHeaders>,
    ) -> Result<Terms, Unfit> {
        if self.head.method != Method::GET {
            return Err("the method is not GET");
        }
        let mut shown = headers.clone();
        let completed = CompletedResponse { status, length: None, always, refused: false };
        // The client's response is completed later, with the same fields of rules: `Vary`, and cookies of RewriteRule.
        self.context
            .with_fields_restored(|| headers::complete(self.context, completed, &mut shown))
            .map_err(|_| "the rules of a .htaccess file take too long")?;
        if self.context.has_variable("no-cache") {
            return Err("the variable no-cache is set");
        }
        let offer = Offer {
            request: &self.head.headers,
            has_query: asked::query(&self.context.head.uri, self.rules()).is_some(),
            has_user: self.is_user(),
            status,
            shown: &shown,
            rules: self.rules(),
            now: SystemTime::now(),
        };
        let terms = offer.terms()?;
        if self.route.backend.is_some() && terms.vary.iter().any(|name| ADDED.contains(&name.as_str())) {
            return Err("the response varies by a field that this server adds for each client");
        }
        Ok(terms)
    }

    /// Whether the response is below the size limit, as far as its length is known.
    fn fits(&self, response: &Response<BodySource>) -> Result<(), Unfit> {
        let none = HeaderMap::new();
        let body = match response.body() {
            BodySource::Empty => 0,
            body => body.length().unwrap_or(0),
        };
        let always = response.extensions().get().map_or(&none, |always: &AlwaysHeaders| &always.fields);
        let size = response::size([response.headers(), always], usize::try_from(body).unwrap_or(usize::MAX / 2));
        if size as u64 > self.rules().largest { Err("the response is larger than CacheMaxFileSize") } else { Ok(()) }
    }

    /// Stores the response as soon as its body is complete.
    fn take(
        &self,
        response: Response<BodySource>,
        terms: Terms,
        leader: Option<Leader>,
        shared: Option<SharedLead>,
    ) -> Response<BodySource> {
        let (head, body) = response.into_parts();
        // A backend is asked to the end, whether or not the client stays.
        let of_program = self.context.itself().filter(|_| self.route.backend.is_none());
        let is_of_program = of_program.is_some();
        let newcomer = ResponseToStore {
            context: of_program,
            cache: self.cache.clone(),
            key: self.key.clone(),
            request: self.head.headers.clone(),
            status: head.status,
            reason: head.extensions.get::<ReasonPhrase>().cloned(),
            headers: to_keep(head.headers.clone(), &terms),
            always: always_to_keep(head.extensions.get().cloned().unwrap_or_default(), &terms),
            terms,
            leader,
            shared,
        };
        let body = match body {
            BodySource::Empty => {
                newcomer.arrives(Some(Bytes::new()));
                BodySource::Empty
            }
            BodySource::Whole(bytes) => {
                newcomer.arrives(Some(Bytes::copy_from_slice(&bytes)));
                BodySource::Whole(bytes)
            }
            body => {
                self.context.itself().inspect(|context| body.measure(context));
                if is_of_program {
                    self.context.begin_storing();
                }
                let room = self.rules().largest.saturating_sub(newcomer.head_size() as u64);
                tee(body, usize::try_from(room).unwrap_or(usize::MAX), |whole| newcomer.arrives(whole))
            }
        };
        Response::from_parts(head, body)
    }
}

/// A response to be stored when its body is complete.
struct ResponseToStore {
    /// The context of the request that the response of a program answers; `None` for a backend.
    context: Option<Rc<RequestContext>>,
    cache: Arc<Cache>,
    key: super::Key,
    request: HeaderMap,
    status: StatusCode,
    reason: Option<ReasonPhrase>,
    headers: HeaderMap,
    always: AlwaysHeaders,
    terms: Terms,
    leader: Option<Leader>,
    shared: Option<SharedLead>,
}

impl ResponseToStore {
    /// Estimated memory in bytes without the body.
    fn head_size(&self) -> usize {
        response::size([&self.headers, &self.always.fields], 0)
    }

    /// Ends the wait for the body. `None`: it broke off, or is too large to store.
    fn arrives(self, body: Option<Bytes>) {
        let ResponseToStore { context, cache, key, request, status, reason, headers, always, terms, leader, shared } =
            self;
        if context.is_some_and(|context| context.end_storing()) {
            // A program that notices its client's departure may end its response early. The response looks complete
            // in that case, so it is not stored.
            return drop(leader);
        }
        let outcome = match body {
            Some(body) => {
                let answer = CachedResponse {
                    status,
                    reason,
                    headers,
                    always,
                    body,
                    forms: Forms::default(),
                    terms,
                    since: Instant::now(),
                };
                let answer = Arc::new(answer);
                cache.keep(&key, &request, answer.clone());
                cache.share(&key, &request, &answer, shared);
                FlightOutcome::Look
            }
            None => {
                cache.pass(&key, &request);
                FlightOutcome::Alone
            }
        };
        leader.into_iter().for_each(|leader| leader.land(outcome));
    }
}

/// Removes the headers that are not stored and Age, and adds a missing Date.
pub(super) fn to_keep(headers: HeaderMap, terms: &Terms) -> HeaderMap {
    let mut headers = without_omitted(headers, terms);
    if !headers.contains_key(DATE)
        && let Ok(now) = HeaderValue::from_str(&httpdate::fmt_http_date(SystemTime::now()))
    {
        headers.insert(DATE, now);
    }
    headers
}

/// Like [`to_keep`], for the table of `Header always`.
pub(super) fn always_to_keep(always: AlwaysHeaders, terms: &Terms) -> AlwaysHeaders {
    AlwaysHeaders { fields: without_omitted(always.fields, terms), ..always }
}

/// A cookie is for one client even where a rule removes it from the response: the condition of the rule may not hold
/// for the next client.
fn without_omitted(mut headers: HeaderMap, terms: &Terms) -> HeaderMap {
    for name in terms.omitted.iter().chain([&AGE, &SET_COOKIE]) {
        headers.remove(name);
    }
    headers
}
