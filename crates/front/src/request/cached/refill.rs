//! Asks a worker or a backend for a response that the cache lacks, and decides which response the client receives.
//!
//! ```text
//!   ask, with the validators of the stale one ──▶ weigh ──▶ the stale one: still right (304), or instead of an error
//!                                                   └─────▶ the worker's, which is stored if its terms allow
//! ```

use std::borrow::Cow;
use std::rc::Rc;

use http::header::{ETAG, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::events::{self, Event};
use super::{Visit, asked};
use crate::base::refusal::Refusal;
use crate::cache::shared::SharedLead;
use crate::cache::{FlightOutcome, Leader, StoreLookup, StoredResponse};
use crate::generation::InUse;
use crate::request::Dispatched;
use crate::request::ask_worker::{self, Unanswered, WorkerReply};
use crate::request::body::RequestBody;
use crate::request::context::RequestContext;
use crate::request::proxied::{self, event};
use crate::request::respond::body::BodySource;
use crate::routing::Route;

/// A stale response replaces an error.
pub const FAILED: Event = Event::Hit("cache hit: stale, because the program has failed");

/// A request whose response the cache lacks.
pub struct Refill<'a> {
    pub(super) visit: Visit<'a>,
    pub(super) errand: Errand,
}

/// A request to a worker on behalf of a client or the cache.
#[derive(Default)]
pub struct Errand {
    /// A cached response that must be revalidated first.
    pub stale: Option<StoredResponse>,
    /// Set if other requests wait for this one.
    pub leader: Option<Leader>,
    /// What the store of `CacheStore` knew before the request, where no leader has that.
    pub shared: Option<Box<SharedLead>>,
    /// Pass on the client's own conditions, because a recent response could not be stored.
    pub conditional: bool,
    /// The response is for this client only; pass on the client's own conditions.
    pub plain: bool,
}

impl Errand {
    /// The head for a worker: the stale response's validators replace the client's conditions.
    fn head<'a>(&self, head: &'a Parts) -> Cow<'a, Parts> {
        const CONDITIONS: [HeaderName; 3] = [IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_RANGE];
        let is_conditional = CONDITIONS.iter().any(|name| head.headers.contains_key(name));
        if self.plain || self.conditional || (self.stale.is_none() && !is_conditional) {
            return Cow::Borrowed(head);
        }
        let mut head = head.clone();
        for name in CONDITIONS {
            head.headers.remove(name);
        }
        if let Some(stale) = &self.stale {
            for (condition, validator) in [(IF_NONE_MATCH, ETAG), (IF_MODIFIED_SINCE, LAST_MODIFIED)] {
                stale.headers.get(validator).map(|value| head.headers.insert(condition, value.clone()));
            }
        }
        Cow::Owned(head)
    }

    /// Takes what the store of `CacheStore` knew before the request.
    pub fn take_shared(&mut self) -> Option<SharedLead> {
        self.shared.take().or_else(|| self.leader.as_mut()?.shared.take()).map(|lead| *lead)
    }

    /// Sends the outcome to the waiting requests.
    pub fn ends(self, outcome: FlightOutcome) {
        self.leader.into_iter().for_each(|leader| leader.land(outcome));
    }
}

/// Asks the backend of the route, or else a worker.
async fn ask(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    body: &mut RequestBody,
) -> Result<WorkerReply, Refusal> {
    match &route.backend {
        Some(to) => Box::pin(proxied::answer(context, head, route, to, body)).await.map(WorkerReply::Response),
        None if event::is_for(context, route) => {
            Box::pin(event::answer(context, head, route, body)).await.map(WorkerReply::Response)
        }
        None => ask_worker::request(context, head, route, body).await,
    }
}

impl Refill<'_> {
    /// Asks a worker or the backend. For a cacheable response the client's conditions are not passed on, because only a
    /// whole response is stored.
    pub async fn request(self, body: &mut RequestBody) -> Result<Dispatched, Refusal> {
        let Refill { visit, mut errand } = self;
        loop {
            let head = errand.head(visit.head);
            let response = match ask(visit.context, &head, visit.route, body).await {
                Ok(WorkerReply::Response(response)) if asked::is_about_another(&response, errand.stale.as_deref()) => {
                    visit.forget();
                    errand.stale = None;
                    continue;
                }
                Ok(WorkerReply::Response(response)) => visit.weigh(response, errand),
                Ok(other) => {
                    errand.ends(FlightOutcome::Alone);
                    return ask_worker::deliver(visit.context, visit.head, visit.route, other).await;
                }
                Err(refusal) => visit.instead_of(refusal, errand)?,
            };
            return Ok(Dispatched::Response(response));
        }
    }
}

impl Visit<'_> {
    /// Decides which response the client receives, and whether it is stored.
    fn weigh(&self, response: Response<BodySource>, mut errand: Errand) -> Response<BodySource> {
        if errand.plain {
            self.compare(&response);
            return self.report(response, Event::Miss("cache miss: the response is for this client only"));
        }
        match &errand.stale {
            Some(stale) if response.status() == StatusCode::NOT_MODIFIED => {
                let stale = stale.clone();
                let (answer, own) = self.renew(&stale, &response.into_parts().0, errand.take_shared());
                errand.ends(FlightOutcome::Look);
                let mut given = self.respond(&answer);
                own.add_to(&mut given);
                self.report(
                    given,
                    Event::Revalidated("conditional cache hit: the program confirmed the stored response"),
                )
            }
            Some(stale) if is_failure(response.status()) && stale.is_usable_on_error(&self.control) => {
                let stale = stale.clone();
                errand.ends(FlightOutcome::Failed);
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
        let StoreLookup::Response(kept) = self.cache.find(&self.key, &self.head.headers) else { return };
        let differs =
            |name: &HeaderName| response.headers().get(name).is_some_and(|value| kept.headers.get(name) != Some(value));
        if [ETAG, LAST_MODIFIED].iter().any(differs) {
            self.forget();
        }
    }

    /// Sends a stale response in place of an error, if allowed.
    fn instead_of(&self, refusal: Refusal, errand: Errand) -> Result<Response<BodySource>, Refusal> {
        let stale =
            errand.stale.clone().filter(|stale| is_failure(refusal.status) && stale.is_usable_on_error(&self.control));
        errand.ends(FlightOutcome::Failed);
        let stale = stale.ok_or_else(|| {
            events::note(self.context, Event::Miss("cache miss: no worker sent a response"));
            refusal
        })?;
        Ok(self.give(&stale, FAILED))
    }

    /// Revalidates in the background, without a client that waits.
    pub fn revalidate_in_background(&self, stale: &StoredResponse, leader: Leader) {
        let errand = Errand { stale: Some(stale.clone()), leader: Some(leader), ..Errand::default() };
        let mut head = errand.head(self.head).into_owned();
        head.method = Method::GET;
        head.headers.remove(RANGE);
        let (Some(context), cache, key) = (self.context.itself(), self.cache.clone(), self.key.clone()) else { return };
        let (route, control) = (self.route.clone(), self.control);
        let in_use = InUse::new(self.context.generation.clone());
        tokio::task::spawn_local(async move {
            let visit = Visit { context: &context, cache: &cache, head: &head, route: &route, key, control };
            let Some(errand) = visit.led_in_background(errand).await else { return };
            let outcome = match route.backend.is_some() || event::is_for(&context, &route) {
                true => ask(&context, &head, &route, &mut RequestBody::none()).await.map_err(|_| Unanswered),
                false => ask_worker::request_in_background(&context, &head, &route).await,
            };
            match outcome {
                Ok(WorkerReply::Response(response)) => visit.settle(response, errand),
                Ok(_) | Err(Unanswered) => errand.ends(FlightOutcome::Failed),
            }
            drop(in_use);
        });
    }

    /// Like [`Visit::weigh`], without a client that waits.
    fn settle(&self, response: Response<BodySource>, mut errand: Errand) {
        match &errand.stale {
            Some(stale) if asked::is_about_another(&response, Some(stale)) => self.forget(),
            Some(stale) if response.status() == StatusCode::NOT_MODIFIED => {
                let stale = stale.clone();
                self.renew(&stale, &response.into_parts().0, errand.take_shared());
                errand.ends(FlightOutcome::Look);
            }
            _ if is_failure(response.status()) => errand.ends(FlightOutcome::Failed),
            _ => drop(self.keep_only(response, errand)),
        }
    }
}

/// Errors that a stale response may replace (RFC 5861, section 4).
pub fn is_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}
