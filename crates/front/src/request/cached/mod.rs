//! The cache's part in requests (RFC 9111). [`look_up`] decides it once, before a worker or a backend is asked:
//!
//! ```text
//!   look_up ──▶ Hit    a cached response answers the request, of this server or of another one: see `shared`
//!    │  ▲       Miss   the worker or backend is asked, with the validators of a stale response: see `refill`
//!    │  │       Pass   the cache has no part in the response; an unsafe request may invalidate others
//!    └──┘ another request asks: wait for it (CacheLock)
//! ```
//!
//! The lookup runs after the access check, so that only clients with access receive cached responses.

mod asked;
mod changed;
mod events;
mod give;
mod keep;
pub mod purge;
pub mod purge_url;
mod refill;
mod renew;
mod shared;

use std::rc::Rc;
use std::sync::Arc;

use http::header::{AUTHORIZATION, UPGRADE};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::Dispatched;
use super::body::RequestBody;
use super::context::RequestContext;
use super::proxied::event::is_in_event_pool;
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::cache::control::RequestControl;
use crate::cache::key::Key;
use crate::cache::response::{CachedResponse, Usable};
use crate::cache::{Cache, FlightOutcome, FlightTurn, Leader, StoreLookup, StoredResponse};
use crate::routing::Route;
use config::response::cache::Caching;
use events::Event;
use refill::{Errand, FAILED, Refill};
use shared::FetchedAlone;

/// The cache's decision about a request.
pub enum Lookup<'a> {
    /// A cached response answers the request.
    Hit(Response<BodySource>),
    /// A worker must answer; `store` sends it the request, and stores the response if that is allowed.
    Miss { store: Refill<'a> },
    /// The cache has no part in the response; see [`passed`].
    Pass,
}

/// Whether some place has a cache.
pub fn is_on(context: &RequestContext) -> bool {
    context.generation.cache.is_some()
}

/// Looks up the response of a request for a program or a backend of `http://`. An error if the client wants a cached
/// one only, and there is none.
pub async fn look_up<'a>(
    context: &'a RequestContext,
    head: &'a Parts,
    route: &'a Rc<Route>,
    body: &RequestBody,
) -> Result<Lookup<'a>, Refusal> {
    let cache = context.generation.cache.as_ref();
    match cache.and_then(|cache| Visit::of(context, cache, head, route, body)) {
        Some(visit) => visit.look().await,
        None => Ok(Lookup::Pass),
    }
}

/// Follows up a request that the cache had no part in: `answer` may show that cached responses are out of date.
pub fn passed(context: &RequestContext, head: &Parts, route: &Route, answer: &Result<Dispatched, Refusal>) {
    let Some(cache) = &context.generation.cache else { return };
    if !is_safe(context, head) {
        answer.iter().for_each(|answer| changed::forget(context, cache, route, answer));
    } else if perl_decides(route) {
        events::note(context, Event::Miss("Perl handlers of earlier phases control access, so nothing is stored"));
    }
}

/// Whether neither the client's method nor that of an internal redirect changes anything.
fn is_safe(context: &RequestContext, head: &Parts) -> bool {
    head.method.is_safe() && context.head.method.is_safe()
}

/// Whether Perl handlers of earlier phases may decide about access or redirect. Only a worker can run them, so
/// `CacheEnable` is ignored.
fn perl_decides(route: &Route) -> bool {
    route.settings.caching.is_on(&route.path) && route.settings.has_perl_phases()
}

/// A request whose response may be cached.
struct Visit<'a> {
    context: &'a RequestContext,
    cache: &'a Arc<Cache>,
    /// The head as the program receives it.
    head: &'a Parts,
    route: &'a Rc<Route>,
    key: Key,
    /// The request's cache directives.
    control: RequestControl,
}

impl<'a> Visit<'a> {
    /// `None`: the request or its location is not cacheable.
    fn of(
        context: &'a RequestContext,
        cache: &'a Arc<Cache>,
        head: &'a Parts,
        route: &'a Rc<Route>,
        body: &RequestBody,
    ) -> Option<Visit<'a>> {
        let rules = &route.settings.caching;
        if !rules.is_on(&route.path) || perl_decides(route) {
            return None;
        }
        let control = match rules.ignores_cache_control {
            true => RequestControl::default(),
            false => RequestControl::of(&head.headers),
        };
        // A response to an Upgrade may be the begin of another protocol.
        let may_switch =
            context.head.headers.contains_key(UPGRADE) && (route.backend.is_some() || is_in_event_pool(context, route));
        let is_for_caches = is_safe(context, head) && asked::is_for_caches(head) && body.is_empty() && !may_switch;
        // An error document is about the failed request and must not be cached.
        if !is_for_caches || control.no_store || context.inherits_variables() {
            return None;
        }
        let key = asked::key(context, head, route)?;
        Some(Visit { context, cache, head, route, key, control })
    }

    fn rules(&self) -> &'a Caching {
        &self.route.settings.caching
    }

    /// Searches the cache, and waits for a leading request where possible, until that is decided.
    async fn look(self) -> Result<Lookup<'a>, Refusal> {
        let (mut leader, mut is_looked_up, mut shared) = (None, false, None);
        loop {
            let mut is_passed = false;
            let stale = match self.cache.find(&self.key, &self.head.headers) {
                StoreLookup::Response(answer) if self.is_user() && !answer.terms.for_users => {
                    return self.request_unshared();
                }
                StoreLookup::Response(answer) => match answer.usable(&self.control) {
                    Usable::Fresh => return Ok(self.hit(&answer, Event::Hit("cache hit"))),
                    Usable::Stale => {
                        return Ok(self.hit(&answer, Event::Hit("cache hit: stale, as the client allows")));
                    }
                    Usable::WhileRevalidating => return Ok(self.hit_meanwhile(&answer, leader)),
                    Usable::No => Some(answer),
                },
                StoreLookup::Passed => {
                    is_passed = true;
                    None
                }
                StoreLookup::Nothing => None,
            };
            if self.control.only_if_cached || self.head.method != Method::GET || asked::wants_a_part(self.head) {
                return self.request_unshared();
            }
            if !is_looked_up && !is_passed && self.has_no_lock() {
                is_looked_up = true;
                match self.fetch_without_lead().await {
                    FetchedAlone::Usable => continue,
                    FetchedAlone::Not(seen) => shared = seen.map(Box::new),
                }
            }
            if leader.is_some() || is_passed || !self.may_wait(stale.as_deref()) {
                let errand = Errand { stale, leader, shared, conditional: is_passed, plain: false };
                return Ok(Lookup::Miss { store: Refill { visit: self, errand } });
            }
            match self.cache.enter(&self.key, &self.head.headers, self.rules().lock_max_age) {
                // A response may have been stored before this request became the leader: search once more.
                FlightTurn::Leads(new) => leader = Some(self.led_for_all(new).await),
                FlightTurn::Waits(waiter) => match (waiter.wait().await, stale) {
                    (FlightOutcome::Look, _) => {}
                    (FlightOutcome::Failed, Some(stale)) if stale.is_usable_on_error(&self.control) => {
                        return Ok(self.hit(&stale, FAILED));
                    }
                    (_, stale) => {
                        let errand = Errand { stale, ..Errand::default() };
                        return Ok(Lookup::Miss { store: Refill { visit: self, errand } });
                    }
                },
            }
        }
    }

    fn forget(&self) {
        self.cache.purge(&self.key.resource);
    }

    /// Whether the client is authenticated, has a certificate, or sent credentials, which rules may have moved to other
    /// fields.
    fn is_user(&self) -> bool {
        let heads = [self.head, &self.context.head];
        self.context.client.session().is_some_and(|session| session.client.is_some())
            || heads.iter().any(|head| head.headers.contains_key(AUTHORIZATION))
            || self.context.visitor().user().is_some()
    }

    fn hit(&self, answer: &StoredResponse, event: Event) -> Lookup<'a> {
        Lookup::Hit(self.give(answer, event))
    }

    /// Sends a stale response. The leader revalidates it in the background.
    fn hit_meanwhile(&self, answer: &StoredResponse, leader: Option<Leader>) -> Lookup<'a> {
        let enter = || self.cache.enter(&self.key, &self.head.headers, self.rules().lock_max_age);
        match leader.map_or_else(enter, FlightTurn::Leads) {
            FlightTurn::Leads(leader) => {
                self.revalidate_in_background(answer, leader);
                self.hit(answer, Event::Hit("cache hit: stale, revalidated in the background"))
            }
            FlightTurn::Waits(_) => self.hit(answer, Event::Hit("cache hit: stale, revalidated by another request")),
        }
    }

    /// Asks a worker for a response that is for this client only, unless the client wants a cached one.
    fn request_unshared(self) -> Result<Lookup<'a>, Refusal> {
        if self.control.only_if_cached {
            events::note(
                self.context,
                Event::Miss("cache miss: the client accepts only a stored response (only-if-cached)"),
            );
            return Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT));
        }
        let errand = Errand { plain: true, ..Errand::default() };
        Ok(Lookup::Miss { store: Refill { visit: self, errand } })
    }

    /// Whether each fresh response is good enough for the client.
    fn takes_any(&self) -> bool {
        let control = &self.control;
        !control.no_cache && control.max_age.is_none() && control.min_fresh.is_none()
    }

    /// Whether waiting for another request makes sense. If each request needs its own response, waiting would only
    /// serialize them.
    fn may_wait(&self, stale: Option<&CachedResponse>) -> bool {
        let takes_any = self.takes_any();
        let lasts =
            |answer: &CachedResponse| !answer.terms.ask_always && answer.terms.lifetime > answer.terms.initial_age;
        self.rules().lock && takes_any && stale.is_none_or(lasts)
    }
}
