//! Warm-up: the mold answers some requests before it forks, so that all workers share the data and code that those
//! requests load.
//!
//! ```text
//!   mold                           rehearsal, a fork of it
//!     │ watches ──────────────────▶ answers all ──▶ ends
//!     │ answers those that went well
//!     ▼ forks workers
//! ```
//!
//! A request may crash its process, hang, or leave it unusable; then only the rehearsal is lost.
//! docs/decisions/0012-warm-up.md explains why each request runs twice.

mod access_log;
mod errors;
mod events;
mod rehearsal;
mod watch;

use std::fmt;
use std::rc::Rc;
use std::time::Instant;

use crate::request::{WarmUpOutcome, WarmUpPlace, WarmUpRequest};
use crate::site::Site;
use base::log;
use config::{At, Config, WarmUpSite, WarmUpSource};
use events::Events;
use watch::ProcessExit;

/// Requests that the configuration names for warm-up.
pub struct WarmUpPlan {
    groups: Vec<Group>,
}

/// Requests of one directive.
struct Group {
    at: At,
    site: WarmUpSite,
    targets: Vec<String>,
    /// Maximum number of requests to answer; only requests that Perl answers count.
    most: usize,
    /// Whether the targets come from an access log. Then a target that Perl does not answer is no error.
    is_log: bool,
}

/// One request that the warm-up may run.
struct Candidate<'a> {
    group: usize,
    /// Maximum number of requests of the group.
    most: usize,
    at: &'a At,
    asked: WarmUpRequest<'a>,
}

/// Result of a rehearsed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RehearsalResult {
    Answered(WarmUpOutcome),
    Ended(ProcessExit),
    /// The process had to be killed.
    Late,
    /// The request did not run: its group has enough.
    Skipped,
}

impl RehearsalResult {
    fn is_well(self) -> bool {
        matches!(self, RehearsalResult::Answered(WarmUpOutcome::Status(..400)))
    }

    fn has_failed(self) -> bool {
        let is_passed_over = matches!(
            self,
            RehearsalResult::Skipped | RehearsalResult::Answered(WarmUpOutcome::NotPerl | WarmUpOutcome::Elsewhere)
        );
        !self.is_well() && !is_passed_over
    }
}

impl fmt::Display for RehearsalResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RehearsalResult::Answered(WarmUpOutcome::Status(status)) => write!(f, "status {status}"),
            RehearsalResult::Answered(WarmUpOutcome::Leaves) => f.write_str("a worker would exit after the request"),
            RehearsalResult::Answered(WarmUpOutcome::NotPerl) => f.write_str("the URL is not answered by Perl"),
            RehearsalResult::Answered(WarmUpOutcome::Elsewhere) => f.write_str("the URL is answered by another pool"),
            RehearsalResult::Ended(exit) => write!(f, "the request ended its process ({exit})"),
            RehearsalResult::Late => f.write_str("the request took too long, and its process was killed"),
            RehearsalResult::Skipped => f.write_str("not needed"),
        }
    }
}

impl WarmUpPlan {
    /// Reads the access logs that the configuration names. Call this before the process drops its privileges.
    pub fn of(config: &Config) -> WarmUpPlan {
        let group = |request: &config::WarmUp| {
            let at = request.at.clone();
            match &request.source {
                WarmUpSource::Url(url) => {
                    let site = match &url.site {
                        Some((scheme, name)) => config.warm_up_site_named(*scheme, name)?,
                        None => config.warm_up_site_of(request.host),
                    };
                    Some(Group { at, site, targets: vec![url.target.clone()], most: 1, is_log: false })
                }
                WarmUpSource::Log { file, most } => {
                    let targets = access_log::most_frequent(file).unwrap_or_else(|error| {
                        log::warn("perl", format_args!("{at}: PerlWarmupLog: {}: {error}", file.display()));
                        Vec::new()
                    });
                    Some(Group { at, site: config.warm_up_site_of(request.host), targets, most: *most, is_log: true })
                }
            }
        };
        WarmUpPlan { groups: config.warm_up.iter().filter_map(group).collect() }
    }

    /// Warms `site` up until `by` at the latest, and logs the result.
    pub fn run(&self, site: &Rc<Site>, generation: u32, by: Instant) {
        let candidates = self.candidates();
        if candidates.is_empty() {
            return;
        }
        let started = Instant::now();
        // The time is divided in thirds: for the rehearsal, for the mold's own run, and for the rest of the start.
        let third = by.saturating_duration_since(started) / 3;
        let verdicts = match rehearsal::rehearse(site, &candidates, started + third) {
            Ok(verdicts) => verdicts,
            Err(error) => return log::warn("perl", format_args!("the mold is not warmed up: {error}")),
        };
        let well = candidates.iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_well());
        let answered = perform(site, &well.map(|(candidate, _)| candidate).collect::<Vec<_>>(), started + third * 2);
        let failed = self.report(&candidates, &verdicts) + answered.failed;
        log::notice(
            "perl",
            format_args!(
                "mold pid={} gen={generation} warmed requests={} failed={failed} ms={}",
                std::process::id(),
                answered.asked + failed - answered.failed,
                started.elapsed().as_millis()
            ),
        );
    }

    /// Leaves the requests to workers with an event loop: each answers them before it takes those of clients.
    pub fn leave_to_workers(&self, site: &Rc<Site>) {
        for group in &self.groups {
            let mut left = group.most;
            for target in &group.targets {
                left -= usize::from(left > 0 && leave_to_workers(site, group, target));
                if left == 0 {
                    break;
                }
            }
        }
    }

    fn candidates(&self) -> Vec<Candidate<'_>> {
        let mut candidates = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            for target in &group.targets {
                let request = WarmUpRequest { site: &group.site, target, number: candidates.len() as u64 + 1 };
                candidates.push(Candidate { group: number, most: group.most, at: &group.at, asked: request });
            }
        }
        candidates
    }

    /// Logs the requests that were left out. Returns how many failed.
    fn report(&self, candidates: &[Candidate<'_>], verdicts: &[RehearsalResult]) -> usize {
        let mut failed = 0;
        for (candidate, verdict) in candidates.iter().zip(verdicts) {
            let is_log = self.groups.get(candidate.group).is_some_and(|group| group.is_log);
            if verdict.has_failed() || *verdict == RehearsalResult::Answered(WarmUpOutcome::NotPerl) && !is_log {
                failed += 1;
                log_failure(candidate, verdict);
            }
        }
        let unasked = candidates.iter().skip(verdicts.len());
        let unasked: Vec<_> = unasked.filter(|c| self.groups.get(c.group).is_some_and(|group| !group.is_log)).collect();
        if let Some(first) = unasked.first() {
            let (at, target, others) = (first.at, first.asked.target, unasked.len() - 1);
            log::warn(
                "perl",
                format_args!("{at}: warm-up: no time was left for {target} and {others} more; raise StartTimeout"),
            );
        }
        failed
    }
}

/// A request for `Cameleer::Event::warm_up`.
fn words(group: &Group, mount: &str, target: &str) -> String {
    let Group { at, site: to, .. } = group;
    let scheme = if to.https { "https" } else { "http" };
    let mount = if mount.is_empty() { "-" } else { mount };
    format!("{scheme} {} {} {} {mount} {target} {at}", to.name, to.ip(), to.port())
}

fn log_failure(candidate: &Candidate<'_>, why: &dyn fmt::Display) {
    let Candidate { at, asked, .. } = candidate;
    log_failed(at, asked.target, why);
}

fn log_failed(at: &At, target: &str, why: &dyn fmt::Display) {
    log::warn("perl", format_args!("{at}: warm-up: GET {target}: {why}"));
}

/// Leaves a request to workers with an event loop. Returns false if they do not answer it.
fn leave_to_workers(site: &Rc<Site>, group: &Group, target: &str) -> bool {
    let failed = |why: &dyn fmt::Display| log_failed(&group.at, target, why);
    match WarmUpPlace::of(site, group.site.host, target) {
        Ok(Some(place)) => {
            let left = site.perl.call(c"Cameleer::Event::warm_up", Some(&words(group, place.mount(), target)));
            left.inspect_err(|error| failed(error)).is_ok()
        }
        // Without Perl, a target of an access log is no mistake.
        Ok(None) if !group.is_log => {
            failed(&RehearsalResult::Answered(WarmUpOutcome::NotPerl));
            false
        }
        Ok(None) | Err(WarmUpOutcome::Elsewhere) => false,
        Err(outcome) => {
            failed(&RehearsalResult::Answered(outcome));
            false
        }
    }
}

/// Counts of requests run in the mold.
#[derive(Default)]
struct Performed {
    asked: usize,
    failed: usize,
}

/// Runs the requests that succeeded in the rehearsal in the mold itself. A child ends the mold when one takes too long.
fn perform(site: &Rc<Site>, candidates: &[&Candidate<'_>], by: Instant) -> Performed {
    let mut performed = Performed::default();
    if candidates.is_empty() {
        return performed;
    }
    let watched = watch::by_a_child(by);
    site.perl.after_fork();
    site.answers_here();
    site.begin_warm_up();
    for candidate in candidates.iter().take_while(|_| Instant::now() < by) {
        performed.asked += 1;
        let answer = answer(site, candidate, watched.events());
        if !RehearsalResult::Answered(answer).is_well() {
            performed.failed += 1;
            log_failure(candidate, &RehearsalResult::Answered(answer));
        }
    }
    site.end_warm_up();
    performed
}

/// Answers one request, and sends its begin and end to the watcher.
fn answer(site: &Rc<Site>, candidate: &Candidate<'_>, events: &Events) -> WarmUpOutcome {
    let WarmUpRequest { site: to, target, number } = &candidate.asked;
    events.begins(*number, None);
    let answer = match WarmUpPlace::of(site, to.host, target) {
        Ok(Some(place)) => {
            events.begins(*number, Some(place.time_limit()));
            candidate.asked.answer(site, place).unwrap_or(WarmUpOutcome::Status(500))
        }
        Ok(None) => WarmUpOutcome::NotPerl,
        Err(answer) => answer,
    };
    events.ends(answer);
    answer
}
