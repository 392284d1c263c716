//! `cameleer tune`: measures a site, changes one setting, measures again, and reports the result.
//!
//! Measurements run on a `shadow`: a second server of the site on its own ports, so that the running server is
//! unaffected. The shadow gets the site's load with various numbers of workers (`sweep`), then with other
//! directives (`compare`).
//!
//! Start at [`Tune`], whose `run` has the steps in their order.

#![forbid(unsafe_code)]

mod bed;
mod changes;
mod compare;
mod interrupt;
mod load;
mod plan;
mod report;
mod shadow;
mod site;
mod statistics;
mod sweep;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;

use base::printable;
use bed::TestBed;
use changes::Findings;
use compare::{BURST, Burst, CompareRound, CostlyDirective, DirectiveComparison, burst, candidates, compare};
pub use interrupt::InterruptGuard;
use load::TestLoad;
use machine::capacity::{TimeShare, cores};
use machine::memory::growth_per_thousand;
use report::{LoadMeasurement, MemoryReport, PointReport, TuneReport, file, picture, text};
use shadow::Instead;
pub use shadow::Shadow;
pub use site::TunedSite;
use sweep::{Sweep, SweepPoint};
use toolkit::conf::Conf;
use toolkit::print;

const HINT: &str = "\
A second server of the configuration is started on its own ports, and ends with this command.
Its Perl is the site's: it uses the site's databases. docs/tune.md explains the numbers";

/// Find settings for a site by measurements on a second server
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Tune {
    /// Requests of visitors: paths, or URLs of one host [default: /]
    urls: Vec<String>,
    #[command(flatten)]
    conf: Conf,
    /// Use the requests of an access log of the site, in its order
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Also its POST and other unsafe requests, without their bodies
    #[arg(long = "unsafe", requires = "log")]
    unsafe_too: bool,
    /// Number of concurrent visitors
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    visitors: u32,
    /// Approximate duration of the measurement
    #[arg(short = 't', long, value_name = "SECONDS", default_value = "150", value_parser = clap::value_parser!(u64).range(5..=86_400))]
    time: u64,
    /// Memory for the server [default: MemoryBudget, or 3/4 of free memory]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<u64>,
    /// Print the plan and exit
    #[arg(long)]
    dry_run: bool,
    /// Write the new directives to a file for Include
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Write a chart of the sweep as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON; times are in seconds, sizes in bytes
    #[arg(long)]
    json: bool,
}

fn bytes(text: &str) -> Result<u64, String> {
    config::size(text)
}

/// Part of the time for the sweep; the rest is for later steps.
const FOR_SWEEP: f64 = 0.55;
/// Factor by which the run may exceed its time on a busy machine, rather than omit a step.
const OVERTIME: f64 = 1.25;
/// Start time above which the site is not restarted for the burst measurement.
const SLOW_START: Duration = Duration::from_secs(5);

impl Tune {
    /// Measures the site and prints the changes.
    pub fn run(self) -> anyhow::Result<()> {
        let began = Instant::now();
        self.write.as_deref().map_or(Ok(()), file::may_be_written)?;
        let site = TunedSite::of(&self.conf, self.urls.first().map(String::as_str))?;
        let log = self.log.as_deref().map(|file| (file, self.unsafe_too));
        let load = TestLoad::new(&site.target, &self.urls, log, self.visitors)?;
        if self.dry_run {
            return print(&printable::lines(&plan::text(&site, &load, self.time)));
        }
        let interrupt = InterruptGuard::new()?;
        let report = Tuning { tune: &self, site: &site, load: &load, interrupt: &interrupt, began }.report()?;
        self.print(&report)
    }

    fn print(&self, report: &TuneReport) -> anyhow::Result<()> {
        if let Some(path) = &self.svg {
            let picture = picture::draw(report);
            std::fs::write(path, picture).with_context(|| format!("--svg {}", path.display()))?;
        }
        if let Some(path) = &self.write {
            file::write(path, report)?;
        }
        print(&match self.json {
            true => printable::json(&(serde_json::to_string_pretty(report)? + "\n")),
            false => printable::lines(&(text::text(report) + &self.written())),
        })
    }

    fn written(&self) -> String {
        let written = |path: &PathBuf| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            format!("\nwritten; put `IncludeOptional {}` at the end of the configuration, and reload\n", path.display())
        };
        self.write.as_ref().map(written).unwrap_or_default()
    }
}

/// The state that all steps of `cameleer tune` share.
struct Tuning<'t> {
    tune: &'t Tune,
    site: &'t TunedSite,
    load: &'t TestLoad,
    interrupt: &'t InterruptGuard,
    began: Instant,
}

/// Result of the sweep.
struct Swept {
    sweep: Sweep,
    alone: bed::Alone,
    chosen: u32,
    reason: String,
    verified: Option<[LoadMeasurement; 2]>,
    memory: MemoryReport,
    start: Duration,
    notes: Vec<String>,
}

impl Tuning<'_> {
    fn report(&self) -> anyhow::Result<TuneReport> {
        let mut swept = self.sweep()?;
        let burst = self.burst(&swept)?;
        let compared = self.compare(&mut swept)?;
        let rate = swept.verified.map_or(0.0, |[_, then]| then.requests_per_second);
        let findings = Findings {
            site: self.site,
            workers: swept.chosen,
            rate,
            reason: swept.reason.clone(),
            burst,
            growth: swept.memory.growth_per_1000,
            room: swept.memory.allowed.saturating_sub(swept.memory.of(swept.chosen)) / u64::from(swept.chosen),
            compared: &compared,
        };
        let changes = findings.changes();
        let alone = swept.alone.share;
        Ok(TuneReport {
            site: self.site.name.clone(),
            url: self.site.target.url(),
            urls: self.load.urls(),
            visitors: self.load.visitors,
            cores: cores(),
            seconds: self.began.elapsed().as_secs_f64(),
            alone: swept.alone.into(),
            kind: alone.kind(),
            by_law: alone.workers(cores()),
            points: swept.sweep.points().map(|point| self.point(point)).collect(),
            best: swept.sweep.best(),
            chosen: swept.chosen,
            reason: swept.reason,
            now: swept.verified.map(|[now, _]| now),
            then: swept.verified.map(|[_, then]| then),
            memory: swept.memory,
            burst,
            compared,
            changes,
            notes: swept.notes,
        })
    }

    fn point(&self, point: SweepPoint) -> PointReport {
        let SweepPoint { workers, rate, slices, share } = point;
        PointReport {
            workers,
            requests_per_second: rate.mean,
            margin: Some(rate.margin).filter(|margin| margin.is_finite()),
            slices,
            latency: f64::from(self.load.visitors) / rate.mean.max(1e-9),
            per_request: share,
        }
    }

    fn time(&self) -> Duration {
        Duration::from_secs(self.tune.time)
    }

    fn sweep(&self) -> anyhow::Result<Swept> {
        let mut shadow = Shadow::start(self.site, &self.for_sweep(), self.interrupt)?;
        let start = shadow.start;
        let mut bed = TestBed::new(&mut shadow, self.load, self.time().mul_f64(FOR_SWEEP))?;
        let alone = bed.alone;
        let mut memory = self.memory(&alone);
        let most = self.load.visitors.min(memory.fit);
        let now = self.site.config.pool.max_clients;
        let mut notes = self.load.notes.clone();
        if bed.is_too_slow() {
            notes.push(format!(
                "a request takes {:.1} s: too few of them end in {} s to measure several numbers of workers; extend the time with -t",
                alone.latency, self.tune.time
            ));
            let chosen = by_law(&alone.share, most);
            let reason = format!("{chosen} workers, calculated and not measured: {}", sentence_of_law(&alone.share));
            return Ok(Swept { sweep: Sweep::default(), alone, chosen, reason, verified: None, memory, start, notes });
        }
        let sweep = Sweep::run(&mut bed, most, now)?;
        let chosen = sweep.knee();
        let sizes = [now.min(most), chosen];
        let [before, after] = bed.serve(sizes, sizes.map(|workers| sweep.rate(workers)))?;
        let verified = Some([LoadMeasurement::of(sizes[0], before), LoadMeasurement::of(sizes[1], after)]);
        let workers = bed.measured()?;
        memory.growth_per_1000 = workers.iter().filter_map(|worker| growth_per_thousand(worker, &workers)).max();
        notes.extend(self.notes(&bed, &sweep, most));
        let reason = reason(&sweep, &alone.share, self.load.visitors);
        Ok(Swept { sweep, alone, chosen, reason, verified, memory, start, notes })
    }

    /// Directives of the sweep's shadow. The pool is resized from one worker up to the number of visitors, and no
    /// request is rejected.
    fn for_sweep(&self) -> Vec<Instead> {
        let most = self.load.visitors.to_string();
        let length = self.load.visitors.max(4096).to_string();
        let pool = [("MaxClients", most), ("StartServers", "1".to_owned()), ("MinSpareServers", "1".to_owned())];
        // The limit is observed without MemoryBudget: `size` never requests more workers than fit.
        let memory = [("MemoryBudget", "Off".to_owned())];
        [&pool[..], &patient(length), &memory].concat()
    }

    fn memory(&self, alone: &bed::Alone) -> MemoryReport {
        let budget = match self.site.config.pool.budget {
            config::budget::MemoryBudget::Bytes(bytes) => Some(bytes),
            _ => None,
        };
        let free = || {
            let ours = std::process::id().cast_signed();
            machine::memory::Machine::default().available_to(ours).map_or(u64::MAX, |available| available.bytes / 4 * 3)
        };
        let allowed = self.tune.memory.or(budget).unwrap_or_else(free);
        let fit = allowed.saturating_sub(alone.base).checked_div(alone.one_more).unwrap_or(u64::MAX);
        let fit = u32::try_from(fit).unwrap_or(u32::MAX).max(1);
        MemoryReport { base: alone.base, one_more: alone.one_more, allowed, fit, growth_per_1000: None }
    }

    fn notes(&self, bed: &TestBed<'_, '_>, sweep: &Sweep, most: u32) -> Vec<String> {
        let mut notes = Vec::new();
        if sweep.is_cut {
            notes.push(format!("{} s were too short for the whole search; extend the time with -t", self.tune.time));
        }
        if most < self.load.visitors && sweep.knee() > most / 2 {
            notes.push(format!("at most {most} workers fit into the memory; more were not tried"));
        }
        if sweep.knee() >= self.load.visitors {
            notes.push(format!(
                "as many workers as visitors: with more than {most} visitors (--visitors) more workers may help"
            ));
        }
        if let (failed @ 1.., Some(first)) = (bed.failed, &bed.first_failure) {
            notes.push(format!("{failed} requests failed, the first: {first}"));
        }
        notes
    }

    /// Measures a burst with the chosen number of workers: with the present start-up, and with all workers started.
    fn burst(&self, swept: &Swept) -> anyhow::Result<Option<Burst>> {
        let start = self.site.config.pool.start;
        if start >= swept.chosen || swept.start > SLOW_START || !self.has_time_for(swept.start * 4 + BURST * 5) {
            return Ok(None);
        }
        let now = [&[("MaxClients", swept.chosen.to_string())][..], &patient("4096".to_owned())].concat();
        burst(self.site, self.load, [&now, &all(swept.chosen)], self.interrupt).map(Some)
    }

    /// Compares other settings with the present ones. A note names the settings for which no time was left.
    fn compare(&self, swept: &mut Swept) -> anyhow::Result<Vec<DirectiveComparison>> {
        let length = (self.time() / 40).clamp(Duration::from_millis(500), Duration::from_secs(4));
        let mut compared = Vec::new();
        for candidate in candidates(self.site) {
            if swept.verified.is_none() {
                break;
            }
            if self.has_time_for(swept.start * 2 + length * 3) {
                let round = CompareRound { length, interrupt: self.interrupt };
                compared.push(compare(self.site, self.load, &all(swept.chosen), candidate, round)?);
            } else {
                let CostlyDirective { name, to, .. } = candidate;
                swept.notes.push(format!(
                    "{} s were too short to compare `{name} {to}` with the present value; extend the time with -t",
                    self.tune.time
                ));
            }
        }
        Ok(compared)
    }

    /// Whether a step fits into the time, which is approximate.
    fn has_time_for(&self, needed: Duration) -> bool {
        self.began.elapsed() + needed <= self.time().mul_f64(OVERTIME)
    }
}

/// Directives for a pool of constant size.
fn all(workers: u32) -> Vec<Instead> {
    let names = ["MaxClients", "StartServers", "MinSpareServers", "MaxSpareServers"];
    [&names.map(|name| (name, workers.to_string()))[..], &patient("4096".to_owned())].concat()
}

/// Directives that prevent rejected requests, which would count as answered.
fn patient(length: String) -> Vec<Instead> {
    vec![("QueueLength", length), ("QueueTimeout", "24h".to_owned()), ("QueueStale", "0".to_owned())]
}

fn by_law(share: &TimeShare, most: u32) -> u32 {
    share.workers(cores()).map_or(1, |workers| workers.ceil() as u32).clamp(1, most)
}

fn sentence_of_law(share: &TimeShare) -> String {
    format!(
        "a request has a processor for {:.0} % of its time",
        100.0 * share.cpu / (share.cpu + share.waiting()).max(1e-9)
    )
}

/// Reason for the chosen number of workers.
fn reason(sweep: &Sweep, alone: &TimeShare, visitors: u32) -> String {
    let (chosen, best) = (sweep.knee(), sweep.best());
    let rate = sweep.rate(chosen);
    let answer = if chosen == 1 { "worker answers" } else { "workers answer" };
    let mut reason = format!("{chosen} {answer} {rate:.0} requests per second");
    if best != chosen {
        reason += &format!("; the maximum with {best} workers was {:.0}, at most 2 % more", sweep.rate(best));
    }
    let fewer = sweep.points().filter(|point| point.workers < chosen).last();
    if let Some(fewer) = fewer {
        let part = 100.0 * fewer.rate.mean / rate.max(1e-9);
        reason += &format!("; {} workers have {part:.0} % of this rate", fewer.workers);
    }
    reason + ". " + &kind(sweep, alone, visitors)
}

/// Effect of more workers, as a sentence.
fn kind(sweep: &Sweep, alone: &TimeShare, visitors: u32) -> String {
    let Some(most) = sweep.points().last().filter(|point| point.workers > sweep.knee()) else {
        return match sweep.knee() >= visitors {
            true => "Requests wait, but not for a processor, and more workers would still help.".to_owned(),
            false => String::new(),
        };
    };
    let share = most.share;
    if share.queued > share.waiting() {
        format!(
            "Requests need the processor: with {} workers each waits {:.1} ms for a processor, {:.0} % of its time.",
            most.workers,
            share.queued * 1e3,
            100.0 * share.queued / share.busy.max(1e-9)
        )
    } else if share.waiting() > 1.5 * alone.waiting() {
        format!(
            "Requests wait for each other rather than for a processor: {:.1} ms alone, with {} workers {:.1} ms. A resource \
             behind the workers serves about {} of them at a time, such as a database with that many connections, or a lock.",
            alone.waiting() * 1e3,
            most.workers,
            share.waiting() * 1e3,
            sweep.knee()
        )
    } else {
        "More workers would be idle: a resource before them is exhausted, such as the processor of the front or of the load tester."
            .to_owned()
    }
}
