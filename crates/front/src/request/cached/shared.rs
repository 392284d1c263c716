//! The responses of other servers (`CacheStore`): looked up when this server has none, by one request for all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::Visit;
use super::refill::Errand;
use crate::cache::response::{CachedResponse, Usable};
use crate::cache::shared::{SharedFound, SharedLead};
use crate::cache::{FlightOutcome, Leader};

/// Pause between looks for a response that another server makes.
const PAUSE: Duration = Duration::from_millis(20);

/// What a request found in the store that makes a response for nobody else.
pub(super) enum FetchedAlone {
    /// A response, which is in memory now.
    Usable,
    Not(Option<SharedLead>),
}

impl Visit<'_> {
    /// Looks for the response in the store for a request that leads here. While another server makes the response, it
    /// waits as requests of this server would, for at most `CacheLockMaxAge`; then it goes on by itself.
    pub(super) async fn led_for_all(&self, mut leader: Leader) -> Leader {
        if self.cache.shared().is_none() {
            return leader;
        }
        let (patience, begun, mut known) = (self.rules().lock_max_age, Instant::now(), Vec::new());
        loop {
            let purges = self.cache.purges();
            let (is_decided, lead) = match self.fetch(Some(patience), known.clone()).await {
                SharedFound::Response(response, lead) => {
                    let is_usable = response.usable(&self.control) != Usable::No;
                    self.keep_fetched(*response, purges);
                    known = lead.stored();
                    (is_usable, lead)
                }
                SharedFound::Nothing(lead) => (false, lead),
                SharedFound::Unknown => return leader,
            };
            let is_over = is_decided || lead.leads() || begun.elapsed() >= patience;
            leader.shared = Some(Box::new(lead));
            if is_over {
                leader.begin(Instant::now());
                return leader;
            }
            sleep(PAUSE).await;
        }
    }

    /// Like [`Visit::led_for_all`], for a revalidation in the background, which waits for nobody. `None`: another
    /// server revalidates the response, or has done so.
    pub(super) async fn led_in_background(&self, mut errand: Errand) -> Option<Errand> {
        let leads = |leader: &Leader| leader.shared.as_deref().is_some_and(SharedLead::leads);
        let Some(leader) = errand.leader.as_mut().filter(|leader| !leads(leader)) else { return Some(errand) };
        let purges = self.cache.purges();
        let (is_fresh, lead) = match self.fetch(Some(self.rules().lock_max_age), Vec::new()).await {
            SharedFound::Response(response, lead) => {
                let is_fresh = response.is_fresh();
                self.keep_fetched(*response, purges);
                (is_fresh, lead)
            }
            SharedFound::Nothing(lead) => (false, lead),
            SharedFound::Unknown => return Some(errand),
        };
        if is_fresh || !lead.leads() {
            errand.ends(FlightOutcome::Look);
            return None;
        }
        leader.shared = Some(Box::new(lead));
        Some(errand)
    }

    /// Whether requests do not wait for each other here (`CacheLock Off`), but may get a response of another server.
    pub(super) fn has_no_lock(&self) -> bool {
        !self.rules().lock && self.takes_any() && self.cache.shared().is_some()
    }

    /// Looks for a usable response in the store, without the intention to make it for others. Returns what the store
    /// knew of purges, if there is none.
    pub(super) async fn fetch_without_lead(&self) -> FetchedAlone {
        let purges = self.cache.purges();
        match self.fetch(None, Vec::new()).await {
            SharedFound::Response(response, _) if response.usable(&self.control) != Usable::No => {
                self.keep_fetched(*response, purges);
                FetchedAlone::Usable
            }
            SharedFound::Response(_, lead) | SharedFound::Nothing(lead) => FetchedAlone::Not(Some(lead)),
            SharedFound::Unknown => FetchedAlone::Not(None),
        }
    }

    async fn fetch(&self, lead: Option<Duration>, known: Vec<u8>) -> SharedFound {
        self.cache.fetch(&self.key, &self.head.headers, lead, known).await
    }

    fn keep_fetched(&self, response: CachedResponse, purges: u64) {
        self.cache.keep_fetched(&self.key, &self.head.headers, Arc::new(response), purges);
    }
}
