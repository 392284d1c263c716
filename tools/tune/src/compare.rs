//! Compares other values of directives, one at a time: two shadows, with the present and the other value, measured in
//! alternation.

use std::time::Duration;

use serde::Serialize;

use super::interrupt::InterruptGuard;
use super::load::TestLoad;
use super::shadow::{Instead, Shadow};
use super::site::TunedSite;
use super::statistics::median;
use bench::{self, RunOutcome, versus};

/// Length of the burst measurement.
pub const BURST: Duration = Duration::from_millis(1500);
/// Maximum relative difference of the mean response size between equal responses.
const SAME: f64 = 0.01;

/// A directive whose present value may cost performance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostlyDirective {
    pub name: &'static str,
    /// Present value.
    pub from: String,
    /// Value to compare with the present one.
    pub to: &'static str,
    /// Consequence of the change, for the user.
    pub about: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub struct DirectiveComparison {
    pub name: &'static str,
    /// Present value.
    pub from: String,
    /// Value to compare with the present one.
    pub to: &'static str,
    /// Ratio of requests per second, other to present value.
    pub ratio: Option<f64>,
    /// Lower bound of the ratio, with 95 % confidence.
    pub low: Option<f64>,
    /// Upper bound of the ratio, with 95 % confidence.
    pub high: Option<f64>,
    /// Whether statuses and sizes of the responses are equal.
    pub same_answers: bool,
    /// Consequence of the change, for the user.
    pub about: &'static str,
}

impl DirectiveComparison {
    /// Whether the other value is faster with equal responses.
    pub fn is_a_gain(&self) -> bool {
        self.same_answers && self.low.is_some_and(|low| low > 1.0)
    }
}

/// Candidates that apply to the site's configuration.
pub fn candidates(site: &TunedSite) -> Vec<CostlyDirective> {
    let configured = |name: &str, word: &str| {
        site.all(name).into_iter().find(|one| one.args.first().is_some_and(|first| first.eq_ignore_ascii_case(word)))
    };
    let mut candidates = Vec::new();
    if site.all("AllowOverride").iter().any(|one| !one.args.iter().all(|word| word.eq_ignore_ascii_case("None"))) {
        let from = site.all("AllowOverride").iter().map(|one| one.args.join(" ")).collect::<Vec<_>>().join(", ");
        let about = ".htaccess files are no longer read: their directives must be moved into the configuration";
        candidates.push(CostlyDirective { name: "AllowOverride", from, to: "None", about });
    }
    if has_handlers_only(site) && configured("PerlSetupEnv", "Off").is_none() {
        let about = "handlers that read %ENV instead of $r no longer find CGI variables in it";
        candidates.push(CostlyDirective { name: "PerlSetupEnv", from: "On".to_owned(), to: "Off", about });
    }
    if configured("KeepAlive", "Off").is_some() {
        let about = "an idle connection occupies no worker";
        candidates.push(CostlyDirective { name: "KeepAlive", from: "Off".to_owned(), to: "On", about });
    }
    candidates
}

/// Whether the site has Perl handlers, but none that runs scripts in need of CGI variables.
fn has_handlers_only(site: &TunedSite) -> bool {
    let handlers = [site.all("PerlHandler"), site.all("PerlResponseHandler")].concat();
    let for_cgi = |name: &String| ["Registry", "PerlRun", "CGI", "PSGI"].iter().any(|word| name.contains(word));
    !handlers.is_empty() && !handlers.iter().any(|one| one.args.iter().any(for_cgi))
}

/// Duration of a comparison, and its interruption.
pub struct CompareRound<'a> {
    pub length: Duration,
    pub interrupt: &'a InterruptGuard,
}

/// Compares both values in alternation. `pool`: directives of both shadows' pools.
pub fn compare(
    site: &TunedSite,
    load: &TestLoad,
    pool: &[Instead],
    candidate: CostlyDirective,
    round: CompareRound<'_>,
) -> anyhow::Result<DirectiveComparison> {
    let CompareRound { length, interrupt } = round;
    let now = Shadow::start(site, pool, interrupt)?;
    let other = [pool, &[(candidate.name, candidate.to.to_owned())]].concat();
    let then = Shadow::start(site, &other, interrupt)?;
    let [a, b] = [&now, &then].map(|shadow| load.plan(shadow.address, load.visitors, length / 4, length));
    let both = versus(&a, &b)?;
    interrupted(both.a.interrupted || both.b.interrupted)?;
    let ratio = bench::Ratio::of(&both.rounds, |round| round.rate);
    let CostlyDirective { name, from, to, about } = candidate;
    Ok(DirectiveComparison {
        name,
        from,
        to,
        ratio: ratio.map(|ratio| ratio.ratio),
        low: ratio.map(|ratio| ratio.low),
        high: ratio.map(|ratio| ratio.high),
        same_answers: answer_alike(&both.a, &both.b),
        about,
    })
}

fn interrupted(it_was: bool) -> anyhow::Result<()> {
    anyhow::ensure!(!it_was, "interrupted: nothing was changed");
    Ok(())
}

fn answer_alike(a: &RunOutcome, b: &RunOutcome) -> bool {
    let size = |outcome: &RunOutcome| outcome.tally.received as f64 / (outcome.tally.requests().max(1)) as f64;
    let statuses = a.tally.statuses.keys().eq(b.tally.statuses.keys());
    statuses && (size(a) - size(b)).abs() <= size(a).max(size(b)) * SAME
}

/// A burst: all visitors arrive at once at a fresh server, with the present pool and with all workers started.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Burst {
    /// Requests per second at first, with the present pool.
    pub now: f64,
    /// Requests per second at first, with all workers started.
    pub then: f64,
    /// Length of the measurement, in seconds.
    pub seconds: f64,
}

/// Measures each pool twice, in alternation.
pub fn burst(
    site: &TunedSite,
    load: &TestLoad,
    pools: [&[Instead]; 2],
    interrupt: &InterruptGuard,
) -> anyhow::Result<Burst> {
    let mut rates = [Vec::new(), Vec::new()];
    for which in [0, 1, 1, 0] {
        let shadow = Shadow::start(site, pools[which], interrupt)?;
        let plan = load.plan(shadow.address, load.visitors, Duration::ZERO, BURST);
        let outcome = bench::run(&plan)?;
        interrupted(outcome.interrupted)?;
        rates[which].push(outcome.tally.came as f64 / BURST.as_secs_f64());
    }
    let [now, then] = rates.map(|rates| median(&rates));
    Ok(Burst { now, then, seconds: BURST.as_secs_f64() })
}
