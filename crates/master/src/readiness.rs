//! Services that the server depends on (`ReadinessCheck`): when each is checked, and what the results mean. A state
//! machine without I/O and without a clock.

use std::time::{Duration, Instant};

use config::ReadinessCheck;
use wire::control::DependencyStatus;

/// Time for the child of the mold to begin, and to report; then the check has failed. The child itself enforces
/// `timeout`.
const SLACK: Duration = Duration::from_secs(5);
/// Why a service is not ready before the first result.
const UNKNOWN: &str = "no check has ended yet";
/// Time after which a check that cannot be run is tried again, unless its interval is shorter.
const SOON: Duration = Duration::from_secs(1);
/// Maximum length of the reason of a failure, in characters.
const MAX_REASON: usize = 200;

/// All checks of the serving configuration.
#[derive(Debug, Default)]
pub struct ReadinessChecks {
    list: Vec<Dependency>,
}

#[derive(Debug)]
struct Dependency {
    check: ReadinessCheck,
    /// Number of failures since the last success.
    failures: u32,
    /// Why the server is not ready.
    failure: Option<String>,
    /// When the next check begins.
    next: Instant,
    /// When a check that runs has failed; `None`: none runs.
    late: Option<Instant>,
}

impl ReadinessChecks {
    /// Sets the checks of a new configuration. A check that has not changed keeps its result. Another one counts as
    /// ready until it fails if the server `serves` already: a reload must not take a node out.
    pub fn configure(&mut self, checks: &[ReadinessCheck], serves: bool, now: Instant) {
        let mut known = std::mem::take(&mut self.list);
        let dependency = |check: &ReadinessCheck| {
            let at = known.iter().position(|one| one.check.name == check.name && one.check.target == check.target);
            let (failures, failure) = match at.map(|at| known.swap_remove(at)) {
                Some(before) => (before.failures, before.failure),
                None => (0, (!serves).then(|| UNKNOWN.to_owned())),
            };
            Dependency { check: check.clone(), failures, failure, next: now, late: None }
        };
        self.list = checks.iter().map(dependency).collect();
    }

    /// Begins the checks that are due. Returns their numbers in the configuration.
    pub fn begin(&mut self, now: Instant) -> Vec<u16> {
        let mut begun = Vec::new();
        for (number, one) in (0..).zip(&mut self.list) {
            if one.late.is_none() && one.next <= now {
                one.next = now + one.check.interval;
                one.late = Some(now + one.check.timeout + SLACK);
                begun.push(number);
            }
        }
        begun
    }

    /// A check cannot be run now, for which its service is not to blame: the last result stays.
    pub fn postpone(&mut self, number: u16, now: Instant) {
        if let Some(one) = self.list.get_mut(usize::from(number)) {
            (one.late, one.next) = (None, now + one.check.interval.min(SOON));
        }
    }

    /// The numbers of the checks that run for too long.
    pub fn late(&self, now: Instant) -> Vec<u16> {
        let list = (0..).zip(&self.list);
        list.filter(|(_, one)| one.late.is_some_and(|late| late <= now)).map(|(number, _)| number).collect()
    }

    /// A check has ended. Returns the service if its state has changed.
    pub fn ended(&mut self, number: u16, result: Result<(), String>) -> Option<DependencyStatus> {
        let one = self.list.get_mut(usize::from(number))?;
        one.late = None;
        let was_ready = one.failure.is_none();
        match result {
            Ok(()) => {
                (one.failures, one.failure) = (0, None);
                (!was_ready).then(|| one.status())
            }
            Err(why) => {
                let why: String = why.lines().next().unwrap_or_default().chars().take(MAX_REASON).collect();
                one.failures = one.failures.saturating_add(1);
                let is_first = one.failure.as_deref().is_none_or(|known| known == UNKNOWN);
                if was_ready && one.failures < one.check.fail {
                    return None;
                }
                one.failure = Some(why);
                is_first.then(|| one.status())
            }
        }
    }

    /// When [`Self::begin`] or [`Self::late`] must be called next.
    pub fn wakes(&self) -> Option<Instant> {
        self.list.iter().map(|one| one.late.unwrap_or(one.next)).min()
    }

    /// The state of each service.
    pub fn status(&self) -> Vec<DependencyStatus> {
        self.list.iter().map(Dependency::status).collect()
    }
}

impl Dependency {
    fn status(&self) -> DependencyStatus {
        DependencyStatus { name: self.check.name.clone(), failure: self.failure.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(now: Instant, options: &[&str]) -> ReadinessChecks {
        let words = ["db", "tcp://127.0.0.1:1"].iter().chain(options).map(|word| (*word).to_owned());
        let check = ReadinessCheck::parse(&words.collect::<Vec<_>>()).expect("a check");
        let mut checks = ReadinessChecks::default();
        checks.configure(&[check], false, now);
        checks
    }

    fn failed() -> Result<(), String> {
        Err("refused\nsecond line".to_owned())
    }

    #[test]
    fn a_service_is_not_ready_before_its_first_success_and_after_several_failures() {
        let now = Instant::now();
        let mut checks = checks(now, &["fail=2", "interval=5s"]);
        assert_eq!(checks.status()[0].failure.as_deref(), Some(UNKNOWN));
        assert_eq!((checks.begin(now), checks.begin(now)), (vec![0], vec![]));
        let db = |failure: Option<&str>| Some(DependencyStatus { name: "db".into(), failure: failure.map(Into::into) });
        assert_eq!(checks.ended(0, failed()), db(Some("refused")));
        assert_eq!(checks.ended(0, failed()), None, "once per change");
        assert_eq!(checks.ended(0, Ok(())), db(None));
        assert_eq!((checks.ended(0, Ok(())), checks.ended(0, failed())), (None, None));
        assert_eq!(checks.status()[0].failure, None, "one failure is not enough");
        assert!(checks.ended(0, failed()).is_some());
        assert_eq!(checks.status()[0].failure.as_deref(), Some("refused"));
        assert_eq!(checks.ended(9, failed()), None);
    }

    #[test]
    fn a_check_runs_once_in_each_interval_and_one_that_hangs_is_late() {
        let now = Instant::now();
        let mut checks = checks(now, &["interval=5s", "timeout=1s"]);
        assert_eq!(checks.begin(now), [0]);
        assert_eq!((checks.begin(now + SLACK), checks.wakes()), (vec![], Some(now + SLACK + Duration::from_secs(1))));
        assert_eq!((checks.late(now + SLACK), checks.late(now + SLACK * 2)), (vec![], vec![0]));
        checks.ended(0, Err("x".repeat(9999)));
        assert_eq!(checks.status()[0].failure.as_ref().map(String::len), Some(MAX_REASON));
        assert_eq!(checks.begin(now + SLACK), [0]);
    }

    #[test]
    fn a_check_that_has_not_changed_keeps_its_result() {
        let now = Instant::now();
        let mut checks = checks(now, &[]);
        checks.ended(0, Ok(()));
        let same = checks.list[0].check.clone();
        let other = ReadinessCheck { name: "cache".to_owned(), ..same.clone() };
        checks.configure(&[other, same.clone()], false, now);
        let are_ready = |checks: &ReadinessChecks| -> Vec<bool> {
            checks.status().iter().map(|status| status.failure.is_none()).collect()
        };
        assert_eq!(are_ready(&checks), [false, true]);
        let renamed = ReadinessCheck { name: "store".to_owned(), ..same };
        checks.configure(&[renamed], true, now);
        assert_eq!(are_ready(&checks), [true], "a reload takes no node out");
        (0..2).for_each(|_| drop(checks.ended(0, failed())));
        assert_eq!(are_ready(&checks), [true]);
        assert!(checks.ended(0, failed()).is_some_and(|changed| changed.failure.is_some()));
    }

    #[test]
    fn a_check_that_cannot_be_run_keeps_its_result_and_is_tried_soon() {
        let now = Instant::now();
        let mut checks = checks(now, &["interval=1h", "fail=1"]);
        checks.ended(0, Ok(()));
        assert_eq!(checks.begin(now), [0]);
        checks.postpone(0, now);
        assert_eq!((checks.status()[0].failure.as_deref(), checks.wakes()), (None, Some(now + SOON)));
        assert_eq!((checks.begin(now), checks.begin(now + SOON)), (vec![], vec![0]));
        checks.postpone(9, now);
    }
}
