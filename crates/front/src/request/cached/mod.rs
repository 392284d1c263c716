//! Requests whose responses may be cached (RFC 9111).
//!
//! The cache is searched first. A single request asks a worker while the others wait; a stale response is revalidated.
//! Unsafe requests invalidate what they may have changed.
//!
//! ```text
//!   look ──▶ stored, fresh ───────────────────────────────────────────▶ give
//!    │  ▲                                                                ▲
//!    │  └── another asks: wait for it (CacheLock)                        │ still right (304), or an error instead
//!    └────▶ ask a worker, with the validators of the stale one ──▶ weigh ┤
//!                                                                        └─▶ keep, if its terms allow
//! ```
//!
//! The cache runs after the access check, so that only clients with access receive its responses.

mod asked;
mod changed;
mod give;
mod keep;
pub mod purge;
pub mod purge_url;
mod tell;

use std::rc::Rc;
use std::sync::Arc;

use http::header::{AUTHORIZATION, ETAG, HeaderName, LAST_MODIFIED, RANGE};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::Dispatched;
use super::ask_worker::{self, Said, Unanswered};
use super::body::RequestBody;
use super::context::RequestContext;
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::cache::answer::{Answer, Usable};
use crate::cache::control::RequestControl;
use crate::cache::key::Key;
use crate::cache::{Cache, Found, Kept, Leader, Outcome, Turn};
use crate::generation::InUse;
use crate::routing::Route;
use config::response::cache::Caching;
use tell::Event;

/// Answers a request for a program, from the cache where that is allowed.
pub async fn work(
    context: &RequestContext,
    head: &Parts,
    route: Rc<Route>,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    let Some(cache) = &context.generation.cache else { return ask_worker::work(context, head, route, body).await };
    if !head.method.is_safe() || !context.head.method.is_safe() {
        let answer = ask_worker::work(context, head, route.clone(), body).await;
        return answer.inspect(|answer| changed::forget(context, cache, &route, answer));
    }
    match Visit::of(context, cache, head, &route, body) {
        Some(visit) => visit.answer(body).await,
        None => {
            let answer = ask_worker::work(context, head, route.clone(), body).await;
            if perl_decides(&route) {
                tell::note(context, Event::Miss("Perl handlers of phases before the answer decide who gets it"));
            }
            answer
        }
    }
}

/// Whether Perl handlers of earlier phases may decide about access or redirect. Only a worker can run them, so
/// `CacheEnable` is ignored.
fn perl_decides(route: &Route) -> bool {
    route.settings.caching.is_on(&route.path) && route.settings.has_perl_phases()
}

const FAILED: Event = Event::Hit("cache hit: stale, because the program has failed");

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

/// The result of [`Visit::look`].
enum Next {
    /// Send this cached response.
    Give(Kept, Event),
    /// Send this cached response, and revalidate it in the background.
    GiveAndAsk(Kept, Option<Leader>),
    /// Ask a worker.
    Ask(Errand),
    /// The client wants a cached response only (`only-if-cached`), and there is none.
    NotKept,
}

/// A request to a worker on behalf of a client or the cache.
#[derive(Default)]
struct Errand {
    /// A cached response that must be revalidated first.
    stale: Option<Kept>,
    /// Set if other requests wait for this one.
    leader: Option<Leader>,
    /// Pass on the client's own conditions, because a recent response could not be stored.
    conditional: bool,
    /// The response is for this client only; pass on the client's own conditions.
    plain: bool,
}

impl Errand {
    /// Sends the outcome to the waiting requests.
    fn ends(self, outcome: Outcome) {
        self.leader.into_iter().for_each(|leader| leader.land(outcome));
    }
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
        let settings = &route.settings;
        let is_for_it = settings.caching.is_on(&route.path) && !perl_decides(route);
        // An error document is about the failed request and must not be cached.
        let is_errors = !context.before.borrow().is_empty();
        let control = match settings.caching.ignores_cache_control {
            true => RequestControl::default(),
            false => RequestControl::of(&head.headers),
        };
        if !is_for_it || !body.is_empty() || is_errors || control.no_store || !asked::is_for_caches(head) {
            return None;
        }
        let key = asked::key(context, head, route)?;
        Some(Visit { context, cache, head, route, key, control })
    }

    fn rules(&self) -> &'a Caching {
        &self.route.settings.caching
    }

    async fn answer(&self, body: &mut RequestBody) -> Result<Dispatched, Refusal> {
        match self.look().await {
            Next::Give(answer, event) => Ok(self.give(&answer, event)),
            Next::GiveAndAsk(answer, leader) => {
                self.ask_behind(&answer, leader);
                Ok(self.give(&answer, Event::Hit("cache hit: stale, the program is asked meanwhile")))
            }
            Next::NotKept => {
                tell::note(self.context, Event::Miss("cache miss: the client wants only what is kept"));
                Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT))
            }
            Next::Ask(errand) => self.ask(errand, body).await,
        }
    }

    /// Searches the cache, and waits for a leading request where possible, until there is a next step.
    async fn look(&self) -> Next {
        let mut leader = None;
        loop {
            let mut is_passed = false;
            let stale = match self.cache.find(&self.key, &self.head.headers) {
                Found::Answer(answer) if self.is_user() && !answer.terms.for_users => return self.asks_plainly(),
                Found::Answer(answer) => match answer.usable(&self.control) {
                    Usable::Fresh => return Next::Give(answer, Event::Hit("cache hit")),
                    Usable::Stale => return Next::Give(answer, Event::Hit("cache hit: stale, as the client allows")),
                    Usable::WhileRevalidating => return self.ask_meanwhile(answer, leader),
                    Usable::No => Some(answer),
                },
                Found::Passed => {
                    is_passed = true;
                    None
                }
                Found::Nothing => None,
            };
            if self.control.only_if_cached {
                return Next::NotKept;
            }
            if self.head.method != Method::GET || asked::wants_a_part(self.head) {
                return self.asks_plainly();
            }
            if leader.is_some() || is_passed || !self.may_wait(stale.as_deref()) {
                return Next::Ask(Errand { stale, leader, conditional: is_passed, plain: false });
            }
            match self.cache.enter(&self.key, &self.head.headers, self.rules().lock_max_age) {
                // A response may have been stored before this request became the leader: search once more.
                Turn::Leads(new) => leader = Some(new),
                Turn::Waits(waiter) => match (waiter.wait().await, stale) {
                    (Outcome::Look, _) => {}
                    (Outcome::Failed, Some(stale)) if stale.is_usable_on_error(&self.control) => {
                        return Next::Give(stale, FAILED);
                    }
                    (_, stale) => return Next::Ask(Errand { stale, ..Errand::default() }),
                },
            }
        }
    }

    fn forget(&self) {
        self.cache.forget(&self.key.resource);
    }

    /// Whether the client is authenticated or sent credentials.
    fn is_user(&self) -> bool {
        self.head.headers.contains_key(AUTHORIZATION) || self.context.visitor.borrow().user.is_some()
    }

    fn asks_plainly(&self) -> Next {
        match self.control.only_if_cached {
            true => Next::NotKept,
            false => Next::Ask(Errand { plain: true, ..Errand::default() }),
        }
    }

    /// Whether waiting for another request makes sense. If each request needs its own response, waiting would only
    /// serialize them.
    fn may_wait(&self, stale: Option<&Answer>) -> bool {
        let control = &self.control;
        let takes_any = !control.no_cache && control.max_age.is_none() && control.min_fresh.is_none();
        let lasts = |answer: &Answer| !answer.terms.ask_always && answer.terms.lifetime > answer.terms.initial_age;
        self.rules().lock && takes_any && stale.is_none_or(lasts)
    }

    /// The leader revalidates in the background; other requests just get the stale response.
    fn ask_meanwhile(&self, answer: Kept, leader: Option<Leader>) -> Next {
        match leader
            .map_or_else(|| self.cache.enter(&self.key, &self.head.headers, self.rules().lock_max_age), Turn::Leads)
        {
            Turn::Leads(leader) => Next::GiveAndAsk(answer, Some(leader)),
            Turn::Waits(_) => Next::Give(answer, Event::Hit("cache hit: stale, another request asks the program")),
        }
    }

    /// Asks a worker. For a cacheable response the client's conditions are not passed on, because only a whole
    /// response is stored.
    async fn ask(&self, mut errand: Errand, body: &mut RequestBody) -> Result<Dispatched, Refusal> {
        loop {
            let head = asked::with_conditions_of(self.head, &errand);
            match ask_worker::ask(self.context, &head, self.route, body).await {
                Ok(Said::Answer(response)) if asked::is_about_another(&response, errand.stale.as_deref()) => {
                    self.forget();
                    errand.stale = None;
                }
                Ok(Said::Answer(response)) => return Ok(self.weigh(response, errand)),
                Ok(other) => {
                    errand.ends(Outcome::Alone);
                    return ask_worker::deliver(self.context, self.head, self.route, other).await;
                }
                Err(refusal) => return self.instead_of(refusal, errand),
            }
        }
    }

    /// Decides which response the client receives, and whether it is stored.
    fn weigh(&self, response: Response<BodySource>, errand: Errand) -> Dispatched {
        if errand.plain {
            self.compare(&response);
            return self.tell(response, Event::Miss("cache miss: the request is for one client"));
        }
        match &errand.stale {
            Some(stale) if response.status() == StatusCode::NOT_MODIFIED => {
                let (answer, own) = self.renew(stale, response.headers());
                errand.ends(Outcome::Look);
                let mut given = self.respond(&answer);
                given.headers_mut().extend(own);
                self.tell(given, Event::Revalidated("conditional cache hit: the program says that it is still right"))
            }
            Some(stale) if is_failure(response.status()) && stale.is_usable_on_error(&self.control) => {
                let stale = stale.clone();
                errand.ends(Outcome::Failed);
                self.give(&stale, FAILED)
            }
            _ => self.keep(response, errand),
        }
    }

    /// Removes a stored response if a HEAD shows other validators (RFC 9111, section 4.3.5).
    fn compare(&self, response: &Response<BodySource>) {
        if self.head.method != Method::HEAD || response.status() != StatusCode::OK {
            return;
        }
        let Found::Answer(kept) = self.cache.find(&self.key, &self.head.headers) else { return };
        let differs =
            |name: &HeaderName| response.headers().get(name).is_some_and(|value| kept.headers.get(name) != Some(value));
        if [ETAG, LAST_MODIFIED].iter().any(differs) {
            self.forget();
        }
    }

    /// Sends a stale response in place of an error, if allowed.
    fn instead_of(&self, refusal: Refusal, errand: Errand) -> Result<Dispatched, Refusal> {
        let stale =
            errand.stale.clone().filter(|stale| is_failure(refusal.status) && stale.is_usable_on_error(&self.control));
        errand.ends(Outcome::Failed);
        let stale = stale.ok_or_else(|| {
            tell::note(self.context, Event::Miss("cache miss: no worker has answered"));
            refusal
        })?;
        Ok(self.give(&stale, FAILED))
    }

    /// Revalidates in the background, without a client that waits.
    fn ask_behind(&self, stale: &Kept, leader: Option<Leader>) {
        let errand = Errand { stale: Some(stale.clone()), leader, ..Errand::default() };
        let mut head = asked::with_conditions_of(self.head, &errand).into_owned();
        head.method = Method::GET;
        head.headers.remove(RANGE);
        let (Some(context), cache, key) = (self.context.itself(), self.cache.clone(), self.key.clone()) else { return };
        let (route, control) = (self.route.clone(), self.control);
        let in_use = InUse::new(self.context.generation.clone());
        tokio::task::spawn_local(async move {
            let said = ask_worker::ask_for_nobody(&context, &head, &route).await;
            let visit = Visit { context: &context, cache: &cache, head: &head, route: &route, key, control };
            match said {
                Ok(Said::Answer(response)) => visit.settle(response, errand),
                Ok(_) | Err(Unanswered) => errand.ends(Outcome::Failed),
            }
            drop(in_use);
        });
    }

    /// Like [`Visit::weigh`], without a client that waits.
    fn settle(&self, response: Response<BodySource>, errand: Errand) {
        match &errand.stale {
            Some(stale) if asked::is_about_another(&response, Some(stale)) => self.forget(),
            Some(stale) if response.status() == StatusCode::NOT_MODIFIED => {
                self.renew(stale, response.headers());
                errand.ends(Outcome::Look);
            }
            _ if is_failure(response.status()) => errand.ends(Outcome::Failed),
            _ => drop(self.keep_only(response, errand)),
        }
    }
}

/// Errors that a stale response may replace (RFC 5861, section 4).
fn is_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}
