//! The rules: each checks one aspect, and returns `None` if it finds no problem.

use std::collections::BTreeMap;

use wire::control::ExitReason;

use super::evidence::AdviceEvidence;
use super::refork::refork;
use super::sentence::{Advice, advice};
use crate::mem::report::ProcessRole;
use compat::programs::CgiProgram;
use config::program::CgiMode;
use toolkit::units::size;

/// Checks one aspect.
pub type AdviceRule = fn(&AdviceEvidence) -> Option<Advice>;

/// All rules with their names, in the order of output.
pub const RULES: &[(&str, AdviceRule)] = &[
    ("workers that are all busy", all_busy),
    ("time in the queue", queue),
    ("requests that were refused", refused),
    ("requests that failed", failed),
    ("workers that crashed", crashed),
    ("workers that end after few requests", recycled),
    ("memory for all workers", memory),
    ("workers that grow", growth),
    ("memory that workers share", sharing),
    ("memory that a refork would share", refork),
    ("HostnameLookups", hostname_lookups),
    ("KeepAlive", keep_alive),
    ("CgiMode", cgi_mode),
];

/// Minimum time in seconds with all workers busy; shorter times are bursts.
const BURST: f64 = 2.0;
/// Wait for a worker that users notice, in µs.
const NOTICED: u64 = 100_000;
/// Errors are reported from one in this many requests.
const ONE_IN: u64 = 100;
/// Minimum of requests for a statement about them.
const ENOUGH: u64 = 100;
/// Workers that end after fewer requests have hardly repaid their fork and compilation.
const FEW_REQUESTS: u64 = 200;
/// Share of the mold's memory below which sharing is poor.
const HALF: f64 = 0.5;
/// Growth per 1,000 requests that is reported, in bytes.
const GROWS: i64 = 1 << 20;
/// CPU share above which requests mostly compute.
const MOSTLY: f64 = 0.8;

fn all_busy(evidence: &AdviceEvidence) -> Option<Advice> {
    let (status, front) = (&evidence.last, evidence.front()?);
    if evidence.full < BURST {
        return None;
    }
    let (place, count) = most_common(evidence)?;
    let busy = evidence.busy().count();
    let mut seen = format!(
        "{busy} of {} workers are busy for {:.0} s, {count} of them at {place}; {} requests wait",
        status.max_clients, evidence.full, front.queued
    );
    if let Some((frame, part)) = evidence.busiest_place() {
        seen.push_str(&format!("; {:.0} of {busy} are in {frame}", part * busy as f64));
    }
    let fits = evidence.memory.more_workers.unwrap_or(0).min(u64::from(status.max_clients));
    let calculates = evidence.cpu_part().is_some_and(|part| part > MOSTLY);
    let (sentence, change) = match (calculates, fits) {
        (true, _) => (
            "All workers use the processor, and requests wait: more workers would not help; reduce the work, or add processors",
            None,
        ),
        (false, 0) => ("All workers are busy, and requests wait; there is no memory for more workers", None),
        (false, more) => (
            "All workers are busy but mostly waiting, and requests wait for workers; find out what the workers wait for, or add workers",
            Some(format!("MaxClients {}", u64::from(status.max_clients) + more)),
        ),
    };
    Some(advice("all-busy", sentence, seen, change))
}

/// The most common request of busy workers (`GET /report`, without its query), and the number of these workers.
fn most_common(evidence: &AdviceEvidence) -> Option<(String, usize)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for worker in evidence.busy() {
        *places.entry(worker.request.split('?').next().unwrap_or_default()).or_default() += 1;
    }
    places.into_iter().max_by_key(|(_, count)| *count).map(|(place, count)| (place.to_owned(), count))
}

fn queue(evidence: &AdviceEvidence) -> Option<Advice> {
    let times = &evidence.front()?.times;
    let (wait, work) = (times.queue.p90_us, times.service.p50_us);
    let is_long = times.queue.count >= ENOUGH && wait >= NOTICED && wait > work;
    is_long.then(|| {
        let seen = format!(
            "one of ten requests waited {} ms or more for a worker; the median request takes {} ms in its worker",
            wait / 1000,
            work / 1000
        );
        advice(
            "queue",
            "Requests wait longer for a worker than their handling takes; find the right number of workers with cameleer tune",
            seen,
            None,
        )
    })
}

fn refused(evidence: &AdviceEvidence) -> Option<Advice> {
    let front = evidence.front()?;
    let refused = front.shed.queue_timeout + front.shed.queue_full;
    (refused * ONE_IN > front.requests.max(1)).then(|| {
        let seen = format!(
            "{} of {} requests were refused for lack of room or by a limit, {} after QueueTimeout",
            front.shed.queue_full, front.requests, front.shed.queue_timeout
        );
        advice("refused", "Visitors are answered 503: there are too few workers, or requests are too slow", seen, None)
    })
}

fn failed(evidence: &AdviceEvidence) -> Option<Advice> {
    let front = evidence.front()?;
    let failed: u64 = front.codes.range(500..600).filter(|(code, _)| **code != 503).map(|(_, count)| count).sum();
    (front.requests >= ENOUGH && failed * ONE_IN > front.requests).then(|| {
        let seen = format!("{failed} of {} requests were answered with a server error", front.requests);
        advice("failed", "The program fails; see the error log for the place", seen, None)
    })
}

fn crashed(evidence: &AdviceEvidence) -> Option<Advice> {
    let crashes = evidence.last.counts.faults();
    (crashes > 0).then(|| {
        let seen = format!("{crashes} workers ended unexpectedly");
        advice("crashed", "Workers crash during requests; see the error log for the signal", seen, None)
    })
}

fn recycled(evidence: &AdviceEvidence) -> Option<Advice> {
    let ended = *evidence.last.counts.exits.get(&ExitReason::MaxRequests)?;
    let each = evidence.front()?.worker_requests.checked_div(ended)?;
    (ended >= 10 && each < FEW_REQUESTS).then(|| {
        let seen = format!("{ended} workers have reached MaxRequestsPerChild, one every {each} requests");
        let sentence =
            "Workers end after few requests, and new ones start with cold caches; limit their memory instead";
        advice("recycled", sentence, seen, Some("MaxRequestsPerChild 10000-12000".to_owned()))
    })
}

fn memory(evidence: &AdviceEvidence) -> Option<Advice> {
    let (report, status) = (&evidence.memory, &evidence.last);
    let one = report.one_more_worker.filter(|_| report.workers_that_served > 0)?;
    let there = report.available?.bytes.saturating_add(report.total.pss);
    let allowed = status.memory.budget.map_or(there, |budget| budget.min(there));
    let base = report.without_workers();
    let wanted = base.saturating_add(one.saturating_mul(status.max_clients.into()));
    let fit = allowed.saturating_sub(base).checked_div(one)?.max(1);
    (wanted > allowed).then(|| {
        let seen = format!(
            "{} + {} × {} = {}, but the server may use {}",
            size(base),
            status.max_clients,
            size(one),
            size(wanted),
            size(allowed)
        );
        advice("memory", "MaxClients workers do not fit into the memory", seen, Some(format!("MaxClients {fit}")))
    })
}

fn growth(evidence: &AdviceEvidence) -> Option<Advice> {
    let grown = evidence.memory.all(ProcessRole::Worker).filter_map(|worker| worker.growth_per_1000);
    let most = grown.max().filter(|most| *most >= GROWS)?.unsigned_abs();
    let limit = evidence.memory.one_more_worker?.saturating_mul(2) >> 20;
    let seen = format!("a worker has grown by {} in 1,000 requests", size(most));
    let sentence = "Workers grow; find the cause with cameleer mem --urls and --leaks. Until then, limit their growth";
    Some(advice("growth", sentence, seen, Some(format!("MaxMemoryPerChild {}M", limit.max(1)))))
}

fn sharing(evidence: &AdviceEvidence) -> Option<Advice> {
    let mut parts: Vec<f64> = evidence.memory.all(ProcessRole::Worker).filter_map(|worker| worker.of_mold).collect();
    parts.sort_by(f64::total_cmp);
    let median = *parts.get(parts.len() / 2)?;
    let is_named_by_refork = evidence.last.memory.refork_saves.is_some();
    (median < HALF && !is_named_by_refork).then(|| {
        let seen = format!("half of the workers share at most {:.0} % of the mold", median * 100.0);
        let sentence =
            "Workers share little of the memory loaded before the fork: refork from a worker that has served";
        advice("sharing", sentence, seen, Some("Refork auto".to_owned()))
    })
}

fn hostname_lookups(evidence: &AdviceEvidence) -> Option<Advice> {
    let on = evidence.directive("HostnameLookups", "On").or_else(|| evidence.directive("HostnameLookups", "Double"))?;
    let sentence = "The name of each new client is looked up in the DNS before its request is answered; names in logs can be resolved later";
    Some(advice(
        "hostname-lookups",
        sentence,
        format!("{}: HostnameLookups {}", on.at, on.args.join(" ")),
        Some("HostnameLookups Off".to_owned()),
    ))
}

fn keep_alive(evidence: &AdviceEvidence) -> Option<Advice> {
    let off = evidence.directive("KeepAlive", "Off")?;
    let sentence = "Clients open a connection for each request; an idle connection occupies no worker";
    Some(advice("keep-alive", sentence, format!("{}: KeepAlive Off", off.at), Some("KeepAlive On".to_owned())))
}

/// Maximum number of scripts and risks in a message.
const NAMED: usize = 3;

fn cgi_mode(evidence: &AdviceEvidence) -> Option<Advice> {
    let gaining: Vec<&CgiProgram> = evidence.programs.that_would_gain().collect();
    let first = gaining.first()?;
    let risks = gaining.iter().flat_map(|program| {
        let risks = program.risks_of(CgiMode::Fork);
        risks.map(move |risk| format!("{} line {}: {}", program.file.display(), risk.line, risk.what))
    });
    let risks: Vec<String> = risks.take(NAMED).collect();
    let broken = match risks.is_empty() {
        true => "no problems were found for that mode".to_owned(),
        false => format!("possible problems: {}", risks.join(", ")),
    };
    let count = match gaining.len() {
        1 => "1 CGI script loads".to_owned(),
        count => format!("{count} CGI scripts load"),
    };
    let seen = format!(
        "{count} modules for each request, {} for instance {}; {broken}",
        first.file.display(),
        first.modules_in_short()
    );
    let sentence = "CGI scripts in Perl are compiled for each request, with the modules that they load; CgiMode fork compiles them once. \
        cameleer check --compat lists all";
    Some(advice("cgi-mode", sentence, seen, Some("CgiMode fork".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::evidence::tests::{evidence, worker};
    use crate::mem::report::tests::Simulated;
    use config::{At, Directive};
    use profiler::{PerlStack, RequestProfile, StackCode, StackFrame, StackProfile};
    use wire::control::Quantiles;

    fn rules(evidence: &AdviceEvidence) -> Vec<&'static str> {
        RULES.iter().filter_map(|(_, rule)| rule(evidence)).map(|advice| advice.rule).collect()
    }

    #[test]
    fn a_healthy_server_gets_no_advice() {
        assert_eq!(rules(&evidence(|_, _| ())), Vec::<&str>::new());
    }

    #[test]
    fn the_advice_names_the_frame_of_busy_workers() {
        let full = AdviceEvidence {
            full: 14.0,
            ..evidence(|_, front| {
                front.workers = vec![worker(0, "GET /report?a"), worker(1, "GET /report?b")];
                front.queued = 7;
            })
        };
        let advice = all_busy(&full).expect("a word");
        assert_eq!(advice.evidence, "2 of 2 workers are busy for 14 s, 2 of them at GET /report; 7 requests wait");
        assert_eq!(advice.change.as_deref(), Some("MaxClients 4"));
        let place = |name: &str| StackFrame {
            code: StackCode::Native,
            name: name.to_owned(),
            file: "/srv/R.pm".to_owned(),
            line: 42,
        };
        let stack = |frames: &[u32], samples| PerlStack { frames: frames.to_vec(), samples, cpu_us: 0 };
        let stacks = vec![stack(&[0, 1], 95), stack(&[0], 5)];
        let by = RequestProfile { request: "GET /report".to_owned(), stacks };
        let frames = vec![place("My::Report::handler"), place("DBI::st::execute")];
        let profile = StackProfile { samples: 100, frames, requests: vec![by], ..StackProfile::default() };
        let full = AdviceEvidence { stacks: Some(profile), ..full };
        let evidence = all_busy(&full).expect("a word").evidence;
        assert!(evidence.ends_with("; 2 of 2 are in DBI::st::execute at /srv/R.pm line 42"), "{evidence}");
        let burst = AdviceEvidence { full: 0.5, ..full };
        assert_eq!(all_busy(&burst), None);
    }

    #[test]
    fn high_counters_are_reported() {
        let quantiles = |p50_us, p90_us| Quantiles { count: 1000, p50_us, p90_us, ..Quantiles::default() };
        let slow = evidence(|_, front| {
            front.times.queue = quantiles(0, 300_000);
            front.times.service = quantiles(30_000, 40_000);
        });
        assert_eq!(rules(&slow), ["queue"]);
        assert_eq!(rules(&evidence(|_, front| front.shed.queue_full = 20)), ["refused"]);
        assert_eq!(rules(&evidence(|_, front| *front.codes.entry(500).or_default() = 20)), ["failed"]);
        assert_eq!(rules(&evidence(|_, front| *front.codes.entry(500).or_default() = 2)), Vec::<&str>::new());
        let short_lived = evidence(|status, _| *status.counts.exits.entry(ExitReason::MaxRequests).or_default() = 50);
        assert_eq!(
            recycled(&short_lived).and_then(|advice| advice.change).as_deref(),
            Some("MaxRequestsPerChild 10000-12000")
        );
    }

    #[test]
    fn the_advice_for_too_little_memory_names_the_fitting_max_clients() {
        let many = |max_clients| {
            let memory = Simulated::new("advise-memory").report();
            AdviceEvidence { memory, ..evidence(|status, _| status.max_clients = max_clients) }
        };
        assert_eq!(memory(&many(1)), None);
        let change = memory(&many(20_000)).and_then(|advice| advice.change).expect("a line");
        let fit: u64 = change.trim_start_matches("MaxClients ").parse().expect("a number");
        assert!((1..20_000).contains(&fit), "{change}");
    }

    #[test]
    fn the_advice_reports_growth_and_lost_sharing() {
        let seen = |change: fn(&mut crate::mem::report::Process)| {
            let mut memory = Simulated::new("advise-growth").report();
            memory.processes.retain(|process| process.role == ProcessRole::Worker);
            memory.processes.iter_mut().for_each(|process| (process.growth_per_1000, process.of_mold) = (None, None));
            memory.processes.iter_mut().for_each(change);
            AdviceEvidence { memory, ..evidence(|_, _| ()) }
        };
        let grows = growth(&seen(|process| process.growth_per_1000 = Some(9 << 20))).expect("a word");
        assert!(grows.evidence.contains("9.0 MB") && grows.change.is_some(), "{grows:?}");
        assert_eq!(growth(&seen(|process| process.growth_per_1000 = Some(1000))), None);
        assert!(sharing(&seen(|process| process.of_mold = Some(0.2))).is_some());
        assert_eq!(sharing(&seen(|process| process.of_mold = Some(0.9))), None);
    }

    #[test]
    fn the_advice_reports_crashes() {
        let crash = evidence(|status, _| {
            let reasons = [ExitReason::Memory, ExitReason::MaxAge];
            reasons.iter().for_each(|reason| status.counts.exited(*reason));
        });
        assert_eq!(crashed(&crash), None, "they were to end");
        let crash = evidence(|status, _| status.counts.exited(ExitReason::Signal));
        assert_eq!(rules(&crash), ["crashed"]);
    }

    #[test]
    fn the_advice_names_costly_directives_with_their_lines() {
        let at = At { file: "site.conf".into(), line: 7 };
        let configured = |name: &str, word: &str| {
            let directive = Directive { at: at.clone(), ..Directive::new(name, [word]) };
            let section = Directive { section: Some(vec![directive]), ..Directive::new("VirtualHost", ["*:80"]) };
            AdviceEvidence { tree: vec![section], ..evidence(|_, _| ()) }
        };
        let lookups = hostname_lookups(&configured("hostnamelookups", "Double")).expect("a word");
        assert_eq!(lookups.evidence, "site.conf:7: HostnameLookups Double");
        assert_eq!(
            keep_alive(&configured("KeepAlive", "Off")).and_then(|advice| advice.change).as_deref(),
            Some("KeepAlive On")
        );
        assert_eq!(rules(&configured("KeepAlive", "On")), Vec::<&str>::new());
    }
}
