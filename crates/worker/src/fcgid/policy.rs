//! Decides which process gets a request, and which processes end. Without I/O and without a clock.

use std::time::Instant;

use wire::fcgid::ProgramSpec;

/// The state of a process that a decision depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessState {
    /// Whether the process answers a request.
    pub is_busy: bool,
    /// Whether SIGTERM was sent to the process.
    pub is_ending: bool,
    /// Whether the process runs without requests, too.
    pub is_standing: bool,
    /// Whether its program is the wanted one, in its current version.
    pub is_of_class: bool,
    pub born: Instant,
    /// End of its last request, or its start.
    pub idle_since: Instant,
    /// Number of requests that it has answered.
    pub requests: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ProcessChoice {
    /// The idle process with this index gets the request.
    Use(usize),
    Start,
    /// A new one, once this idle process has ended.
    Replace(usize),
    /// None yet: the limits are reached, and all processes are busy.
    Wait,
}

/// Chooses a process: the one that was used last, so that others become idle and end. With `is_fresh` the process must
/// have answered no request.
pub fn choose(processes: &[ProcessState], spec: &ProgramSpec, is_fresh: bool) -> ProcessChoice {
    let numbered = || processes.iter().enumerate().filter(|(_, it)| !it.is_ending);
    let idle = || numbered().filter(|(_, it)| !it.is_busy);
    let usable = idle().filter(|(_, it)| it.is_of_class && (!is_fresh || it.requests == 0));
    if let Some((at, _)) = usable.max_by_key(|(_, it)| it.idle_since) {
        return ProcessChoice::Use(at);
    }
    let of_class = || processes.iter().filter(|it| it.is_of_class);
    if of_class().count() >= spec.most_of_class as usize {
        // A used process gives way to a fresh one, unless another one is about to end.
        let used = idle().filter(|(_, it)| it.is_of_class).min_by_key(|(_, it)| it.idle_since);
        return match used {
            Some((at, _)) if !of_class().any(|it| it.is_ending) => ProcessChoice::Replace(at),
            _ => ProcessChoice::Wait,
        };
    }
    if processes.iter().filter(|it| !it.is_standing).count() < spec.most as usize {
        return ProcessChoice::Start;
    }
    let oldest = idle().filter(|(_, it)| !it.is_standing).min_by_key(|(_, it)| it.idle_since);
    oldest.map_or(ProcessChoice::Wait, |(at, _)| ProcessChoice::Replace(at))
}

/// Whether a process that has just answered must end.
pub fn is_worn(process: &ProcessState, spec: &ProgramSpec, now: Instant) -> bool {
    let is_old = spec.lifetime_s > 0 && now.duration_since(process.born).as_secs() >= spec.lifetime_s;
    is_old || spec.most_requests > 0 && process.requests >= spec.most_requests
}

/// Whether an idle process must end, where `others` further processes of its program remain.
pub fn is_idle_too_long(process: &ProcessState, spec: &ProgramSpec, others: usize, now: Instant) -> bool {
    let is_idle = !process.is_busy && !process.is_ending && others >= spec.least_of_class as usize;
    is_idle && spec.idle_s > 0 && now.duration_since(process.idle_since).as_secs() >= spec.idle_s
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn spec() -> ProgramSpec {
        ProgramSpec {
            host: 0,
            file: "/p".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: "/".into(),
            limits: [None; 3],
            most: 3,
            most_of_class: 2,
            least_of_class: 1,
            idle_s: 10,
            lifetime_s: 100,
            most_requests: 5,
            standing: 0,
        }
    }

    fn process(now: Instant) -> ProcessState {
        let (is_busy, is_ending, is_standing) = (false, false, false);
        ProcessState { is_busy, is_ending, is_standing, is_of_class: true, born: now, idle_since: now, requests: 0 }
    }

    #[test]
    fn the_process_that_was_used_last_is_used_again() {
        let now = Instant::now();
        let late = ProcessState { idle_since: now + Duration::from_secs(1), ..process(now) };
        assert_eq!(choose(&[process(now), late, process(now)], &spec(), false), ProcessChoice::Use(1));
    }

    #[test]
    fn limits_hold_for_a_program_and_for_all() {
        let now = Instant::now();
        let busy = ProcessState { is_busy: true, ..process(now) };
        let other = ProcessState { is_of_class: false, ..process(now) };
        let other_busy = ProcessState { is_busy: true, ..other };
        assert_eq!(choose(&[], &spec(), false), ProcessChoice::Start);
        assert_eq!(choose(&[busy], &spec(), false), ProcessChoice::Start);
        assert_eq!(choose(&[busy, busy], &spec(), false), ProcessChoice::Wait);
        assert_eq!(choose(&[busy, other_busy, other], &spec(), false), ProcessChoice::Replace(2));
        assert_eq!(choose(&[busy, other_busy, other_busy], &spec(), false), ProcessChoice::Wait);
        let standing = ProcessState { is_standing: true, ..other };
        assert_eq!(choose(&[busy, standing, standing], &spec(), false), ProcessChoice::Start);
        let all = [busy, standing, other_busy, other_busy];
        assert_eq!(choose(&all, &spec(), false), ProcessChoice::Wait, "a standing process does not give way");
        let ending = ProcessState { is_ending: true, ..process(now) };
        assert_eq!(choose(&[ending, busy], &spec(), false), ProcessChoice::Wait, "an ending process still counts");
    }

    #[test]
    fn a_lost_request_gets_a_process_that_has_answered_none() {
        let now = Instant::now();
        let used = ProcessState { requests: 1, ..process(now) };
        let ending = ProcessState { is_ending: true, ..used };
        assert_eq!(choose(&[used], &spec(), false), ProcessChoice::Use(0));
        assert_eq!(choose(&[used], &spec(), true), ProcessChoice::Start);
        assert_eq!(choose(&[used, used], &spec(), true), ProcessChoice::Replace(0));
        assert_eq!(choose(&[used, ending], &spec(), true), ProcessChoice::Wait);
    }

    #[test]
    fn processes_end_by_age_requests_and_idleness() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        assert!(!is_worn(&process(now), &spec(), later(99)));
        assert!(is_worn(&process(now), &spec(), later(100)));
        assert!(is_worn(&ProcessState { requests: 5, ..process(now) }, &spec(), now));
        assert!(!is_idle_too_long(&process(now), &spec(), 0, later(10)), "the last one remains");
        assert!(is_idle_too_long(&process(now), &spec(), 1, later(10)));
        assert!(!is_idle_too_long(&process(now), &spec(), 1, later(9)));
        let busy = ProcessState { is_busy: true, ..process(now) };
        assert!(!is_idle_too_long(&busy, &spec(), 1, later(10)));
    }
}
