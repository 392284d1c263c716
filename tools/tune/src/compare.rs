//! Other settings, one thing at a time: a shadow with the directive as it is beside one with the other value, in turns.

use std::time::Duration;

use serde::Serialize;

use super::interrupt::Interrupt;
use super::load::Load;
use super::shadow::{Instead, Shadow};
use super::site::Site;
use super::statistics::median;
use bench::{self, Outcome, versus};

/// Visitors that come all at once are watched for so long.
pub const BURST: Duration = Duration::from_millis(1500);
/// Means of the sizes of answers differ by no more when the answers are the same.
const SAME: f64 = 0.01;

/// A directive that may cost something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: &'static str,
    /// What it says now.
    pub from: String,
    /// What it would say.
    pub to: &'static str,
    /// What must be known of it.
    pub about: &'static str,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// The directive.
    pub name: &'static str,
    /// What it says now.
    pub from: String,
    /// What it would say.
    pub to: &'static str,
    /// So many times as many requests a second.
    pub ratio: Option<f64>,
    /// With 95 % confidence, from there …
    pub low: Option<f64>,
    /// … to there.
    pub high: Option<f64>,
    /// Statuses and sizes of the answers are the same.
    pub same_answers: bool,
    /// What must be known of it.
    pub about: &'static str,
}

impl Compared {
    /// Whether it is faster, and nothing else.
    pub fn is_a_gain(&self) -> bool {
        self.same_answers && self.low.is_some_and(|low| low > 1.0)
    }
}

/// Those that the configuration has.
pub fn candidates(site: &Site) -> Vec<Candidate> {
    let says = |name: &str, word: &str| {
        site.all(name).into_iter().find(|one| one.args.first().is_some_and(|first| first.eq_ignore_ascii_case(word)))
    };
    let mut candidates = Vec::new();
    if site.all("AllowOverride").iter().any(|one| !one.args.iter().all(|word| word.eq_ignore_ascii_case("None"))) {
        let from = site.all("AllowOverride").iter().map(|one| one.args.join(" ")).collect::<Vec<_>>().join(", ");
        let about = "no .htaccess file is looked for any more: what they say must stand in the configuration";
        candidates.push(Candidate { name: "AllowOverride", from, to: "None", about });
    }
    if has_handlers_only(site) && says("PerlSetupEnv", "Off").is_none() {
        let about = "handlers that read %ENV instead of $r no longer find CGI's variables there";
        candidates.push(Candidate { name: "PerlSetupEnv", from: "On".to_owned(), to: "Off", about });
    }
    if says("KeepAlive", "Off").is_some() {
        let about = "an idle connection takes no worker here";
        candidates.push(Candidate { name: "KeepAlive", from: "Off".to_owned(), to: "On", about });
    }
    candidates
}

/// Perl handlers, and none of those whose scripts are written for CGI's variables.
fn has_handlers_only(site: &Site) -> bool {
    let handlers = [site.all("PerlHandler"), site.all("PerlResponseHandler")].concat();
    let for_cgi = |name: &String| ["Registry", "PerlRun", "CGI", "PSGI"].iter().any(|word| name.contains(word));
    !handlers.is_empty() && !handlers.iter().any(|one| one.args.iter().any(for_cgi))
}

/// Both ways, in turns. `pool`: the workers of both.
pub fn compare(
    site: &Site,
    load: &Load,
    pool: &[Instead],
    candidate: Candidate,
    (length, interrupt): (Duration, &Interrupt),
) -> anyhow::Result<Compared> {
    let now = Shadow::start(site, pool, interrupt)?;
    let other = [pool, &[(candidate.name, candidate.to.to_owned())]].concat();
    let then = Shadow::start(site, &other, interrupt)?;
    let [a, b] = [&now, &then].map(|shadow| load.plan(Some(shadow.address), load.visitors, length / 4, length, 0));
    let both = versus(&a, &b)?;
    interrupted(both.a.interrupted || both.b.interrupted)?;
    let ratio = bench::Ratio::of(&both.rounds, |round| round.rate);
    let Candidate { name, from, to, about } = candidate;
    Ok(Compared {
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

fn answer_alike(a: &Outcome, b: &Outcome) -> bool {
    let size = |outcome: &Outcome| outcome.tally.received as f64 / (outcome.tally.requests().max(1)) as f64;
    let statuses = a.tally.statuses.keys().eq(b.tally.statuses.keys());
    statuses && (size(a) - size(b)).abs() <= size(a).max(size(b)) * SAME
}

/// All visitors come at once to a server where nobody has been: with the pool as it starts now, and with all workers there.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Burst {
    /// Requests a second in the first moments, as it is.
    pub now: f64,
    /// With all workers there.
    pub then: f64,
    /// For so long, in seconds.
    pub seconds: f64,
}

/// Twice each, in turns.
pub fn burst(site: &Site, load: &Load, pools: [&[Instead]; 2], interrupt: &Interrupt) -> anyhow::Result<Burst> {
    let mut rates = [Vec::new(), Vec::new()];
    for which in [0, 1, 1, 0] {
        let shadow = Shadow::start(site, pools[which], interrupt)?;
        let plan = load.plan(Some(shadow.address), load.visitors, Duration::ZERO, BURST, 0);
        let outcome = bench::run(&plan)?;
        interrupted(outcome.interrupted)?;
        rates[which].push(outcome.tally.came as f64 / BURST.as_secs_f64());
    }
    let [now, then] = rates.map(|rates| median(&rates));
    Ok(Burst { now, then, seconds: BURST.as_secs_f64() })
}
