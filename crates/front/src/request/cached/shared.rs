//! The responses of other servers (`CacheStore`): looked up when this server has none, by one request for all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::Visit;
use super::refill::Errand;
use crate::cache::response::{CachedResponse, Usable};
use crate::cache::shared::SharedFound;
use crate::cache::{FlightOutcome, Leader};

/// Pause between looks for a response that another server makes.
const PAUSE: Duration = Duration::from_millis(20);

impl Visit<'_> {
    /// Looks for the response in the store for a request that leads here. While another server makes the response, it
    /// waits as requests of this server would, for at most `CacheLockMaxAge`; then it goes on by itself.
    pub(super) async fn led_for_all(&self, mut leader: Leader) -> Leader {
        if self.cache.shared().is_none() {
            return leader;
        }
        let (patience, begun) = (self.rules().lock_max_age, Instant::now());
        loop {
            let (is_decided, lead) = match self.fetch(Some(patience)).await {
                SharedFound::Response(response, lead) => {
                    let is_usable = response.usable(&self.control) != Usable::No;
                    self.keep_fetched(*response);
                    (is_usable, lead)
                }
                SharedFound::Nothing(lead) => (false, lead),
                SharedFound::Unknown => return leader,
            };
            leader.shared = lead;
            if is_decided || leader.shared.is_some() || begun.elapsed() >= patience {
                return leader;
            }
            sleep(PAUSE).await;
        }
    }

    /// Like [`Visit::led_for_all`], for a revalidation in the background, which waits for nobody. `None`: another
    /// server revalidates the response, or has done so.
    pub(super) async fn led_in_background(&self, mut errand: Errand) -> Option<Errand> {
        let Some(leader) = errand.leader.as_mut().filter(|leader| leader.shared.is_none()) else { return Some(errand) };
        let lead = match self.fetch(Some(self.rules().lock_max_age)).await {
            SharedFound::Response(response, lead) => {
                let is_fresh = response.is_fresh();
                self.keep_fetched(*response);
                lead.filter(|_| !is_fresh)
            }
            SharedFound::Nothing(lead) => lead,
            SharedFound::Unknown => return Some(errand),
        };
        leader.shared = lead;
        if leader.shared.is_none() {
            errand.ends(FlightOutcome::Look);
            return None;
        }
        Some(errand)
    }

    /// Whether requests do not wait for each other here (`CacheLock Off`), but may get a response of another server.
    pub(super) fn has_no_lock(&self) -> bool {
        !self.rules().lock && self.takes_any() && self.cache.shared().is_some()
    }

    /// Looks for a usable response in the store, without the intention to make it for others.
    pub(super) async fn fetch_without_lead(&self) -> bool {
        match self.fetch(None).await {
            SharedFound::Response(response, _) if response.usable(&self.control) != Usable::No => {
                self.keep_fetched(*response);
                true
            }
            _ => false,
        }
    }

    async fn fetch(&self, lead: Option<Duration>) -> SharedFound {
        self.cache.fetch(&self.key, &self.head.headers, lead).await
    }

    fn keep_fetched(&self, response: CachedResponse) {
        self.cache.keep(&self.key, &self.head.headers, Arc::new(response));
    }
}
