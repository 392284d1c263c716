//! Decides when certificates are requested. A state machine without I/O and without a clock.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tls::managed::Validity;

/// The longest wait after a failure.
const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The shortest time between two orders for a domain after one of them was filled.
const MIN_PAUSE: Duration = Duration::from_secs(60);
/// The longest wait that an authority may ask for.
const MAX_HELD: Duration = Duration::from_secs(7 * 24 * 60 * 60);
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
    /// When the authority has issued a certificate last.
    issued: Option<SystemTime>,
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
    /// When its certificates may be requested; `None`: now. Waits that begin in the future end: the clock was wrong.
    fn due(&self, now: SystemTime) -> Option<SystemTime> {
        let within = |at: Option<SystemTime>, longest: Duration| at.filter(|at| *at <= now + longest);
        let waits = within(self.waits, MAX_WAIT.mul_f64(1.2));
        let held = within(self.held, MAX_HELD);
        let rests = within(self.issued.map(|at| at + MIN_PAUSE), MIN_PAUSE);
        [self.renews, waits, held, rests].into_iter().flatten().max()
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
        let is_due = |state: &DomainState| state.due(now).is_none_or(|at| at <= now);
        self.domains.iter().filter(|(_, state)| is_due(state)).map(|(name, _)| name.clone()).collect()
    }

    /// The time until [`Self::due`] must be asked again.
    pub fn wakes(&self, now: SystemTime) -> Option<Duration> {
        if !self.running.is_empty() {
            return None;
        }
        let left = |state: &DomainState| state.due(now).and_then(|at| at.duration_since(now).ok()).unwrap_or_default();
        self.domains.values().map(left).min()
    }

    /// Certificates of these domains are being requested.
    pub fn started(&mut self, names: &[String]) {
        self.running.extend(names.iter().cloned());
    }

    /// Whether certificates of this domain are being requested.
    pub fn is_running(&self, name: &str) -> bool {
        self.running.contains(name)
    }

    /// A domain has new certificates. `false`: these would be due at once, which the caller counts as a failure.
    pub fn issued(&mut self, wanted: &WantedDomain, now: SystemTime, random: f64) -> bool {
        self.running.remove(&wanted.name);
        let Some(state) = self.domains.get_mut(&wanted.name) else { return true };
        state.has(wanted, random);
        state.issued = Some(now);
        if state.renews.is_none_or(|at| at <= now) {
            return false;
        }
        let (validity, renews, issued) = (state.validity, state.renews, state.issued);
        *state = DomainState { validity, renews, issued, ..DomainState::default() };
        true
    }

    /// The authority has issued certificates that are refused: the next order is not placed within a minute.
    pub fn refused(&mut self, name: &str, now: SystemTime) {
        if let Some(state) = self.domains.get_mut(name) {
            state.issued = Some(now);
        }
    }

    /// An attempt has failed. `None`: nobody waits for it.
    pub fn failed(&mut self, attempt: &Attempt<'_>, now: SystemTime) -> Option<FailedAttempt> {
        self.running.remove(attempt.name);
        let state = self.domains.get_mut(attempt.name)?;
        let begin = |text: &str| text.chars().take(COMPARED).collect::<String>();
        let is_new = state.error.as_deref().map(begin) != Some(begin(attempt.error));
        let doubled = attempt.delay.saturating_mul(1 << state.failures.min(20)).min(MAX_WAIT);
        let wait = doubled.mul_f64(0.9 + 0.2 * attempt.random);
        state.failures = state.failures.saturating_add(1);
        state.error = Some(attempt.error.to_owned());
        state.waits = Some(now + wait);
        state.held = attempt.retry_after.map(|wait| now + wait);
        let rests = state.issued.and_then(|at| (at + MIN_PAUSE).duration_since(now).ok()).unwrap_or_default();
        let rests = if rests > MIN_PAUSE { Duration::ZERO } else { rests };
        Some(FailedAttempt { is_new, wait: wait.max(attempt.retry_after.unwrap_or_default()).max(rests) })
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
        assert!(schedule.issued(&wanted("b", Some(now + DAY * 91)), now, 1.0));
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
    fn a_new_certificate_that_is_due_at_once_is_a_failure_with_waits_of_a_minute_and_more() {
        let now = UNIX_EPOCH + DAY * 20_000;
        for validity in [None, Some(now + DAY), Some(now - DAY)] {
            let mut schedule = AcmeSchedule::default();
            schedule.configure(&[wanted("a", None)], || 0.0);
            let (mut at, mut orders) = (now, Vec::new());
            while orders.len() < 10 {
                assert_eq!(schedule.due(at), ["a"]);
                orders.push(at.duration_since(now).expect("later").as_secs());
                schedule.started(&["a".to_owned()]);
                assert!(!schedule.issued(&wanted("a", validity), at, 0.0));
                let failure = schedule.failed(&failed("a", "due at once"), at).expect("it is known");
                assert_eq!(failure.is_new, orders.len() == 1, "one error line");
                assert_eq!(schedule.due(at + Duration::from_secs(59)), Vec::<String>::new());
                at += schedule.wakes(at).expect("another attempt");
            }
            assert_eq!(orders[..6], [0, 60, 120, 180, 240, 320], "a minute, then the doubled wait of 80 s");
        }
    }

    #[test]
    fn a_reload_does_not_end_the_minute_after_an_order_but_a_clock_that_is_set_back_does() {
        let now = UNIX_EPOCH + DAY * 20_000;
        let mut schedule = AcmeSchedule::default();
        schedule.configure(&[wanted("a", None)], || 0.0);
        assert!(schedule.issued(&wanted("a", Some(now + DAY * 90)), now, 0.0));
        schedule.configure(&[wanted("a", None)], || 0.0);
        assert_eq!(schedule.wakes(now), Some(MIN_PAUSE));
        assert!(schedule.failed(&failed("a", "no"), now).is_some());
        assert_eq!(schedule.due(now - DAY * 300), ["a"]);
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
