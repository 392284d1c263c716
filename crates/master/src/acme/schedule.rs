//! Decides when certificates are requested. A state machine without I/O and without a clock.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tls::managed::Validity;

/// The longest wait after a failure.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum part of the renewal window by which a renewal is early, so that servers do not renew at the same time.
const SPREAD: f64 = 0.05;
/// Bytes in which errors are compared: what follows often names a token or an address.
const COMPARED: usize = 60;

/// A domain for which the configuration wants certificates.
#[derive(Debug, Clone)]
pub struct WantedDomain {
    pub name: String,
    /// The stored certificate; `None`: a new one is due now.
    pub validity: Option<Validity>,
    /// The time before its end at which it is renewed.
    pub window: Duration,
}

/// When each domain's certificates are requested.
#[derive(Debug, Default)]
pub struct AcmeSchedule {
    domains: BTreeMap<String, DomainState>,
    /// Domains whose certificates are being requested.
    running: BTreeSet<String>,
}

/// All times are those of the system clock.
#[derive(Debug, Clone, Default)]
pub struct DomainState {
    /// The stored certificate.
    pub validity: Option<Validity>,
    /// When a certificate is due; `None`: now.
    pub renews: Option<SystemTime>,
    /// Number of failures since the last success.
    pub failures: u32,
    /// The last failure.
    pub error: Option<String>,
    /// The end of the wait after a failure.
    waits: Option<SystemTime>,
    /// The end of a wait that the authority has asked for.
    held: Option<SystemTime>,
}

/// A failure, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedAttempt {
    /// Whether it is the first of its kind.
    pub is_new: bool,
    /// The time to the next attempt.
    pub wait: Duration,
}

/// A failed attempt.
#[derive(Debug)]
pub struct Attempt<'a> {
    pub name: &'a str,
    pub error: &'a str,
    /// The wait that the authority asks for.
    pub retry_after: Option<Duration>,
    /// `MDRetryDelay`
    pub delay: Duration,
    /// Between 0 and 1.
    pub random: f64,
}

impl DomainState {
    /// When its certificates may be requested; `None`: now.
    fn due(&self) -> Option<SystemTime> {
        [self.renews, self.waits, self.held].into_iter().flatten().max()
    }

    fn has(&mut self, wanted: &WantedDomain, random: f64) {
        self.validity = wanted.validity;
        let early = wanted.window.mul_f64(1.0 + SPREAD * random);
        self.renews = wanted.validity.map(|validity| validity.until.checked_sub(early).unwrap_or(UNIX_EPOCH));
    }
}

impl AcmeSchedule {
    /// Takes the domains of a configuration. Known ones are tried again at once after a failure, because a reload may
    /// have mended its cause; a wait that the authority has asked for is kept.
    pub fn configure(&mut self, wanted: &[WantedDomain], mut random: impl FnMut() -> f64) {
        self.domains.retain(|name, _| wanted.iter().any(|one| one.name == *name));
        for one in wanted {
            let state = self.domains.entry(one.name.clone()).or_default();
            state.has(one, random());
            state.waits = None;
        }
    }

    /// The domains whose certificates must be requested now; none while others are being requested.
    pub fn due(&self, now: SystemTime) -> Vec<String> {
        if !self.running.is_empty() {
            return Vec::new();
        }
        let is_due = |state: &DomainState| state.due().is_none_or(|at| at <= now);
        self.domains.iter().filter(|(_, state)| is_due(state)).map(|(name, _)| name.clone()).collect()
    }

    /// The time until [`Self::due`] must be asked again.
    pub fn wakes(&self, now: SystemTime) -> Option<Duration> {
        if !self.running.is_empty() {
            return None;
        }
        let left = |state: &DomainState| state.due().and_then(|at| at.duration_since(now).ok()).unwrap_or_default();
        self.domains.values().map(left).min()
    }

    /// Certificates of these domains are being requested.
    pub fn started(&mut self, names: &[String]) {
        self.running.extend(names.iter().cloned());
    }

    /// A domain has new certificates.
    pub fn issued(&mut self, wanted: &WantedDomain, random: f64) {
        self.running.remove(&wanted.name);
        if let Some(state) = self.domains.get_mut(&wanted.name) {
            *state = DomainState::default();
            state.has(wanted, random);
        }
    }

    /// An attempt has failed. `None`: nobody waits for it.
    pub fn failed(&mut self, attempt: &Attempt<'_>, now: SystemTime) -> Option<FailedAttempt> {
        self.running.remove(attempt.name);
        let state = self.domains.get_mut(attempt.name)?;
        let begin = |text: &str| text.chars().take(COMPARED).collect::<String>();
        let is_new = state.error.as_deref().map(begin) != Some(begin(attempt.error));
        let doubled = attempt.delay.saturating_mul(1 << state.failures.min(20)).min(LONGEST);
        let wait = doubled.mul_f64(0.9 + 0.2 * attempt.random);
        state.failures = state.failures.saturating_add(1);
        state.error = Some(attempt.error.to_owned());
        state.waits = Some(now + wait);
        state.held = attempt.retry_after.map(|wait| now + wait);
        Some(FailedAttempt { is_new, wait: wait.max(attempt.retry_after.unwrap_or_default()) })
    }

    /// The process has ended. Returns the domains that it has not reported on.
    pub fn ended(&mut self) -> Vec<String> {
        std::mem::take(&mut self.running).into_iter().collect()
    }

    /// The domains and their states.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DomainState)> {
        self.domains.iter().map(|(name, state)| (name.as_str(), state))
    }

    /// Number of failures of a domain since its last success.
    pub fn failures(&self, name: &str) -> u32 {
        self.domains.get(name).map_or(0, |state| state.failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const DELAY: Duration = Duration::from_secs(5);

    fn wanted(name: &str, until: Option<SystemTime>) -> WantedDomain {
        let validity = until.map(|until| Validity { from: until - DAY * 90, until });
        WantedDomain { name: name.to_owned(), validity, window: DAY * 30 }
    }

    fn failed<'a>(name: &'a str, error: &'a str) -> Attempt<'a> {
        Attempt { name, error, retry_after: None, delay: DELAY, random: 0.5 }
    }

    #[test]
    fn a_certificate_is_renewed_in_its_window_and_a_missing_one_is_due_at_once() {
        let now = UNIX_EPOCH + DAY * 20_000;
        let mut schedule = AcmeSchedule::default();
        assert_eq!(schedule.wakes(now), None);
        schedule.configure(&[wanted("a", Some(now + DAY * 90)), wanted("b", None)], || 0.0);
        assert_eq!((schedule.due(now), schedule.wakes(now)), (vec!["b".to_owned()], Some(Duration::ZERO)));
        schedule.started(&["b".to_owned()]);
        assert_eq!((schedule.due(now), schedule.wakes(now)), (vec![], None));
        schedule.issued(&wanted("b", Some(now + DAY * 91)), 1.0);
        assert_eq!(schedule.due(now), Vec::<String>::new());
        assert_eq!(schedule.wakes(now), Some(DAY.mul_f64(59.5)), "b is renewed 5 % of its window earlier");
        assert_eq!(schedule.due(now + DAY * 60), ["a", "b"]);
    }

    #[test]
    fn waits_after_failures_double_up_to_a_day_and_an_authority_may_ask_for_more() {
        let now = UNIX_EPOCH + DAY * 20_000;
        let mut schedule = AcmeSchedule::default();
        schedule.configure(&[wanted("a", None)], || 0.0);
        let waits: Vec<u64> =
            (0..16).filter_map(|_| Some(schedule.failed(&failed("a", "no"), now)?.wait.as_secs())).collect();
        assert_eq!(waits[..5], [5, 10, 20, 40, 80]);
        assert_eq!(waits.last(), Some(&DAY.as_secs()));
        let limited = Attempt { retry_after: Some(DAY * 3), ..failed("a", "no") };
        assert_eq!(schedule.failed(&limited, now).map(|failure| failure.wait), Some(DAY * 3));
        schedule.configure(&[wanted("a", None)], || 0.0);
        assert_eq!(schedule.wakes(now), Some(DAY * 3), "a reload keeps that");
    }

    #[test]
    fn a_reload_ends_a_wait_and_forgets_domains() {
        let now = UNIX_EPOCH + DAY * 20_000;
        let mut schedule = AcmeSchedule::default();
        schedule.configure(&[wanted("a", None), wanted("b", None)], || 0.0);
        schedule.started(&["a".to_owned(), "b".to_owned()]);
        assert!(schedule.failed(&failed("a", "no"), now).is_some_and(|failure| failure.is_new));
        assert_eq!(schedule.ended(), ["b"]);
        assert!(schedule.failed(&failed("a", "no"), now).is_some_and(|failure| !failure.is_new));
        assert!(schedule.failed(&failed("a", "something else"), now).is_some_and(|failure| failure.is_new));
        assert_eq!(schedule.due(now), ["b"]);
        schedule.configure(&[wanted("a", None)], || 0.0);
        assert_eq!((schedule.due(now), schedule.failures("a")), (vec!["a".to_owned()], 3));
        assert_eq!(schedule.failed(&failed("b", "no"), now), None);
    }
}
