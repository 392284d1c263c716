//! `cameleer bench`: the options of the load tester.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use http::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};

use super::{Misuse, print};
use crate::bench::plan::{End, Expected, Pace, Plan, Transport};
use crate::bench::report::{self, Report};
use crate::bench::{self, Request, Target, Template};
use crate::printable;

const HINT: &str = "\
Any HTTP server will do; Ctrl-C reports what was done so far. Exit code 1 when requests failed.
docs/bench.md says how to read the numbers";

/// How long it asks when nothing is said.
const SECONDS: f64 = 10.0;
/// A body is held in memory.
const LARGEST_BODY: u64 = 256 << 20;

/// Measure how fast a server answers
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Bench {
    /// What to ask; `http://` may be left out
    url: String,
    /// Ask over so many connections at the same time
    #[arg(short = 'c', long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: u32,
    /// Ask so many times
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// Ask for so long [default: 10, without -n]
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    /// Do not count what is asked in the first seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    warm_up: Duration,
    /// Ask so many times a second, however slow the answers (open loop)
    #[arg(short = 'r', long, value_name = "R", value_parser = rate)]
    rate: Option<f64>,
    /// At random distances, as visitors come
    #[arg(long, requires = "rate")]
    poisson: bool,
    /// A connection for each request
    #[arg(long)]
    close: bool,
    /// Give up on an answer after so long
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = positive_seconds)]
    timeout: Duration,
    /// Read answers at so many bits a second: 33.6k, 2M
    #[arg(long, value_name = "BITS", value_parser = bits, conflicts_with = "http2")]
    throttle: Option<f64>,
    /// The method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD")]
    method: Option<http::Method>,
    /// Another header; may be repeated
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(HeaderName, HeaderValue)>,
    /// A cookie; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    cookie: Vec<String>,
    /// Send what is in a file
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Other statuses are failures [default: those below 400 are fine]
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(200..=999))]
    expect: Vec<u16>,
    /// Answers without this text are failures
    #[arg(long, value_name = "TEXT")]
    expect_body: Option<String>,
    /// Speak HTTP/2; without TLS, without asking first
    #[arg(long)]
    http2: bool,
    /// Take any certificate
    #[arg(long)]
    insecure: bool,
    /// Trust these certificates, too
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// For programs; times are seconds
    #[arg(long)]
    json: bool,
    /// For documents
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

impl Bench {
    pub fn run(self) -> anyhow::Result<()> {
        let plan = self.plan()?;
        let outcome = bench::run(&plan)?;
        clear_progress(&plan);
        let report = Report::new(&plan, &outcome);
        print(&match (self.json, self.markdown) {
            (true, _) => printable::json(&report.json()?),
            (_, true) => printable::lines(&report::markdown(&report)),
            _ => printable::lines(&report::text(&report)),
        })?;
        if report.failed > 0 {
            bail!("{} of {} requests failed", report.failed, report.requests);
        }
        Ok(())
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let target = Target::parse(&self.url).map_err(Misuse)?;
        let request = Request::new(&self.template()?, target);
        let most = self.requests.unwrap_or(u64::MAX);
        Ok(Plan {
            requests: [request].into(),
            order: [0].into(),
            connections: usize::try_from(u64::from(self.connections).min(most))?,
            pace: match (self.rate, self.poisson) {
                (None, _) => Pace::Closed,
                (Some(rate), false) => Pace::Constant(rate),
                (Some(rate), true) => Pace::Poisson(rate),
            },
            end: self.end(),
            warm_up: self.warm_up,
            transport: self.transport(),
            expected: Expected {
                statuses: self.expect.clone(),
                body: self.expect_body.as_ref().map(|text| text.clone().into_bytes()),
            },
            timeout: self.timeout,
            progress: std::io::stderr().is_terminal(),
        })
    }

    fn end(&self) -> End {
        let after = match (self.requests, self.time) {
            (None, None) => Some(Duration::from_secs_f64(SECONDS)),
            (_, time) => time,
        };
        End { requests: self.requests, after }
    }

    fn transport(&self) -> Transport {
        Transport {
            close: self.close,
            http2: self.http2,
            insecure: self.insecure,
            authorities: self.cacert.clone(),
            throttle: self.throttle,
        }
    }

    fn template(&self) -> anyhow::Result<Template> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.header {
            headers.append(name.clone(), value.clone());
        }
        if !self.cookie.is_empty() {
            let cookies = self.cookie.join("; ");
            headers
                .append(COOKIE, HeaderValue::from_str(&cookies).map_err(|_| Misuse(format!("--cookie: {cookies:?}")))?);
        }
        let body = self.body.as_deref().map(read_body).transpose()?.unwrap_or_default();
        Ok(Template { method: self.method.clone(), headers, body: body.into(), close: self.close && !self.http2 })
    }
}

/// The line of progress would stand beside the report.
fn clear_progress(plan: &Plan) {
    if plan.progress {
        eprint!("\r\x1b[K");
    }
}

fn read_body(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    let file = File::open(path).with_context(|| format!("--body {}", path.display()))?;
    file.take(LARGEST_BODY + 1).read_to_end(&mut body).with_context(|| format!("--body {}", path.display()))?;
    if body.len() as u64 > LARGEST_BODY {
        bail!("--body {}: more than {} MB", path.display(), LARGEST_BODY >> 20);
    }
    Ok(body)
}

/// Some ten years: what is added to the time of day must stay one.
const LONGEST: f64 = 3e8;

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.trim_end_matches('s').parse().map_err(|_| "expected seconds, such as 10 or 0.5".to_owned())?;
    let fits = (0.0..=LONGEST).contains(&seconds);
    fits.then(|| Duration::from_secs_f64(seconds)).ok_or_else(|| "expected seconds from 0 to ten years".to_owned())
}

fn positive_seconds(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time.is_zero() { Err("expected more than nothing".to_owned()) } else { Ok(time) }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected requests a second, such as 500".to_owned())?;
    (1e-6..=1e7).contains(&rate).then_some(rate).ok_or_else(|| "expected up to 10,000,000 requests a second".to_owned())
}

/// `33.6k` is 33,600 bits a second, as modems say it.
fn bits(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |number| (number, 1e6)),
    };
    let bits = number.parse::<f64>().map_err(|_| "expected bits a second, such as 33.6k or 2M".to_owned())? * unit;
    (100.0..=1e11).contains(&bits).then_some(bits).ok_or_else(|| "expected 100 bits a second or more".to_owned())
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected 'Name: value'")?;
    let name = name.trim().parse().map_err(|_| "this is no name of a header")?;
    let value = HeaderValue::from_str(value.trim()).map_err(|_| "this is no value of a header")?;
    Ok((name, value))
}
