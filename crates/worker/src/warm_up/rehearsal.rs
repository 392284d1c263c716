//! The rehearsal: runs the requests of a warm-up in a fork of the mold. After a request that ends the process,
//! another fork continues with the rest.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::time::Instant;

use nix::unistd::getpid;

use super::errors::separate_errors;
use super::events::Events;
use super::watch::{Watch, pipe};
use super::{Candidate, RehearsalResult, answer};
use crate::request::WarmUpOutcome;
use crate::site::Site;

/// Verdicts of the candidates, in their order; shorter if time runs out.
pub fn rehearse(site: &Rc<Site>, candidates: &[Candidate<'_>], by: Instant) -> io::Result<Vec<RehearsalResult>> {
    let mut verdicts = Vec::new();
    while verdicts.len() < candidates.len() && Instant::now() < by {
        let before = verdicts.len();
        in_a_child(site, candidates, &mut verdicts, by)?;
        if verdicts.len() == before {
            break;
        }
    }
    Ok(verdicts)
}

/// Forks a child that continues after the candidates with a verdict.
fn in_a_child(
    site: &Rc<Site>,
    candidates: &[Candidate<'_>],
    verdicts: &mut Vec<RehearsalResult>,
    by: Instant,
) -> io::Result<()> {
    let (events_out, events) = pipe()?;
    let (stderr, errors) = pipe()?;
    let mold = getpid();
    let Some(pid) = sys::fork()? else {
        drop((events_out, stderr));
        if sys::die_with(mold).is_ok() && sys::replace(errors.as_raw_fd(), 2).is_ok() {
            drop(errors);
            act(site, candidates, verdicts, &Events(Some(events)));
        }
        sys::exit_now(0);
    };
    drop((events, errors));
    Watch::new(sys::pidfd_open(pid)?, events_out, by).child(pid, stderr, verdicts);
    Ok(())
}

/// Runs the requests in the child.
fn act(site: &Rc<Site>, candidates: &[Candidate<'_>], known: &[RehearsalResult], events: &Events) {
    libperl::set_title("cameleer: warm-up");
    // Standard error goes through the pipe to the mold, so host logs are closed.
    site.error_logs.take();
    site.is_forked();
    site.answers_here();
    site.begin_warm_up();
    let mut wanted = MissingRequests::new(candidates, known);
    for candidate in candidates.iter().skip(known.len()) {
        if !wanted.wants(candidate) {
            events.skips();
            continue;
        }
        let answer = answer(site, candidate, events);
        separate_errors();
        wanted.note(candidate, RehearsalResult::Answered(answer));
        if answer == WarmUpOutcome::Leaves {
            return;
        }
    }
}

/// Number of requests that each directive still needs.
struct MissingRequests(HashMap<usize, usize>);

impl MissingRequests {
    fn new(candidates: &[Candidate<'_>], known: &[RehearsalResult]) -> MissingRequests {
        let mut wanted =
            MissingRequests(candidates.iter().map(|candidate| (candidate.group, candidate.most)).collect());
        candidates.iter().zip(known).for_each(|(candidate, verdict)| wanted.note(candidate, *verdict));
        wanted
    }

    fn wants(&self, candidate: &Candidate<'_>) -> bool {
        self.0.get(&candidate.group).is_some_and(|left| *left > 0)
    }

    /// Counts a verdict. Failures count too, so that not all paths of a broken site are tried.
    fn note(&mut self, candidate: &Candidate<'_>, verdict: RehearsalResult) {
        if let Some(left) = self.0.get_mut(&candidate.group)
            && (verdict.is_well() || verdict.has_failed())
        {
            *left = left.saturating_sub(1);
        }
    }
}
