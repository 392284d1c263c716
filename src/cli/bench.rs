//! `cameleer bench`: options of the load tester.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use http::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};

use base::printable;
use bench::plan::{ConnectionPlan, Endpoint, Expected, RequestPace, RunLimits, RunPlan};
use bench::report::{self, Comparison, Report};
use bench::{self, RequestTarget, RequestTemplate, Workload};
use toolkit::{Misuse, print};

const HINT: &str = "\
Works with any HTTP server; Ctrl-C ends the test with a report. Exit code 1: requests failed.
The report is explained in docs/bench.md";

/// Default duration, in seconds.
const SECONDS: f64 = 10.0;
/// Maximum size in bytes of a request body, which is held in memory.
const MAX_BODY_BYTES: u64 = 256 << 20;

/// Measure how fast a server answers
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Bench {
    /// URL to request; `http://` is optional; unix:/path/of.sock:/page for a unix socket
    url: String,
    /// Number of concurrent connections
    #[arg(short = 'c', long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: u32,
    /// Number of threads, which share connections and requests
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Total number of requests
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// Duration of the test [default: 10, without -n]
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    /// Do not count requests of the first seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    warm_up: Duration,
    /// Requests per second, independent of response times (open loop)
    #[arg(short = 'r', long, value_name = "R", value_parser = rate)]
    rate: Option<f64>,
    /// Send requests at random intervals (Poisson process)
    #[arg(long, requires = "rate")]
    poisson: bool,
    /// Request the paths, or URLs of this server, in the lines of a file
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    urls: Option<PathBuf>,
    /// Request the GETs of an access log, in its order
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Replay the log at its times, accelerated by this factor: 1x, 2x
    #[arg(long, value_name = "TIMES", requires = "log", conflicts_with_all = ["rate", "vs"], value_parser = times)]
    log_rate: Option<f64>,
    /// Compare with another server, in alternating rounds
    #[arg(long, value_name = "URL")]
    vs: Option<String>,
    /// Connect to this unix socket; the URL sets host and path
    #[arg(long, value_name = "PATH", conflicts_with = "vs")]
    unix: Option<PathBuf>,
    /// Open a connection for each request
    #[arg(long)]
    close: bool,
    /// Timeout of a response
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = positive_seconds)]
    timeout: Duration,
    /// Read responses at this many bits per second: 33.6k, 2M
    #[arg(long, value_name = "BITS", value_parser = bits, conflicts_with = "http2")]
    throttle: Option<f64>,
    /// Request method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD")]
    method: Option<http::Method>,
    /// Additional request header; repeatable
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(HeaderName, HeaderValue)>,
    /// Cookie to send; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    cookie: Vec<String>,
    /// Send the content of a file as the request body
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Accepted statuses, separated by commas [default: all below 400]
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(200..=999))]
    expect: Vec<u16>,
    /// Count responses without this text as failures
    #[arg(long, value_name = "TEXT")]
    expect_body: Option<String>,
    /// Use HTTP/2; without TLS by prior knowledge
    #[arg(long)]
    http2: bool,
    /// Number of concurrent requests on each HTTP/2 connection
    #[arg(long, value_name = "N", requires = "http2", conflicts_with = "close", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    streams: Option<u16>,
    /// Accept any certificate
    #[arg(long)]
    insecure: bool,
    /// Trust the certificates in this file, too
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Print JSON; times are in seconds
    #[arg(long)]
    json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Also write an HTML page with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Bench {
    pub fn run(self) -> anyhow::Result<()> {
        let target = RequestTarget::parse(&self.url).map_err(Misuse)?;
        let other = self.vs.as_deref().map(RequestTarget::parse).transpose().map_err(Misuse)?;
        let workload = self.workload(&target)?;
        let plan = self.plan(&target, &workload)?;
        let page = self.html.as_deref().map(Page::create).transpose()?;
        let (text, requests, failed) = match other {
            None => self.one(&plan, page)?,
            Some(other) => {
                let own = if self.has_list() { workload } else { Workload::of(&other) };
                self.both(&plan, &self.plan(&other, &own)?, page)?
            }
        };
        print(&text)?;
        if failed > 0 {
            bail!("{failed} of {requests} requests failed");
        }
        Ok(())
    }

    /// Runs one plan. Returns the report, the number of requests, and the number of failures.
    fn one(&self, plan: &RunPlan, page: Option<Page>) -> anyhow::Result<(String, u64, u64)> {
        let outcome = bench::run(plan)?;
        clear_progress(plan);
        let report = Report::new(plan, &outcome);
        page.map_or(Ok(()), |page| page.write(&report::page(&report)))?;
        let text = match (self.json, self.markdown) {
            (true, _) => printable::json(&report.json()?),
            (_, true) => printable::lines(&report::markdown(&report)),
            _ => printable::lines(&report::text(&report)),
        };
        Ok((text, report.requests, report.failed))
    }

    fn both(&self, a: &RunPlan, b: &RunPlan, page: Option<Page>) -> anyhow::Result<(String, u64, u64)> {
        let versus = bench::versus(a, b)?;
        clear_progress(a);
        let comparison = Comparison::new(a, b, &versus);
        page.map_or(Ok(()), |page| page.write(&report::page_of_two(&comparison)))?;
        let text = match (self.json, self.markdown) {
            (true, _) => printable::json(&comparison.json()?),
            (_, true) => printable::lines(&comparison.markdown()),
            _ => printable::lines(&comparison.text()),
        };
        Ok((text, comparison.a.requests + comparison.b.requests, comparison.failed()))
    }

    fn has_list(&self) -> bool {
        self.urls.is_some() || self.log.is_some()
    }

    fn workload(&self, target: &RequestTarget) -> anyhow::Result<Workload> {
        match (&self.urls, &self.log) {
            (Some(file), _) => Workload::of_list(file, target).context("--urls"),
            (_, Some(file)) => Workload::of_log(file, &[http::Method::GET]).context("--log"),
            _ => Ok(Workload::of(target)),
        }
    }

    fn plan(&self, target: &RequestTarget, workload: &Workload) -> anyhow::Result<RunPlan> {
        let most = self.requests.unwrap_or(u64::MAX);
        Ok(RunPlan {
            requests: workload.requests(&self.template()?, target),
            order: workload.order(),
            first: 0,
            stride: 1,
            connections: usize::try_from(u64::from(self.connections).min(most))?,
            streams: usize::from(self.streams.unwrap_or(1)),
            threads: usize::from(self.threads),
            phase: Duration::ZERO,
            pace: match (self.rate, self.log_rate) {
                (_, Some(faster)) => RequestPace::Times(workload.times(faster)),
                (Some(rate), _) if self.poisson => RequestPace::Poisson(rate),
                (Some(rate), _) => RequestPace::Constant(rate),
                _ => RequestPace::Closed,
            },
            end: self.end(),
            cuts: false,
            warm_up: self.warm_up,
            transport: self.transport(),
            expected: Expected {
                statuses: self.expect.clone(),
                body: self.expect_body.as_ref().map(|text| text.clone().into_bytes()),
            },
            timeout: self.timeout,
            notes: workload.notes.clone(),
            progress: std::io::stderr().is_terminal(),
        })
    }

    fn end(&self) -> RunLimits {
        let after = match (self.requests, self.time) {
            // A log replayed at its own times ends by itself.
            (None, None) if self.log_rate.is_some() => None,
            (None, None) => Some(Duration::from_secs_f64(SECONDS)),
            (_, time) => time,
        };
        RunLimits { requests: self.requests, after }
    }

    fn transport(&self) -> ConnectionPlan {
        ConnectionPlan {
            to: self.unix.clone().map(Endpoint::Unix),
            close: self.close,
            http2: self.http2,
            insecure: self.insecure,
            authorities: self.cacert.clone(),
            throttle: self.throttle,
        }
    }

    fn template(&self) -> anyhow::Result<RequestTemplate> {
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
        Ok(RequestTemplate {
            method: self.method.clone(),
            headers,
            body: body.into(),
            close: self.close && !self.http2,
        })
    }
}

/// The file of `--html`. It is created before the run, so that an error is reported immediately.
struct Page {
    path: PathBuf,
    file: File,
}

impl Page {
    fn create(path: &Path) -> anyhow::Result<Page> {
        let file = File::create(path).with_context(|| format!("--html {}", path.display()))?;
        Ok(Page { path: path.to_owned(), file })
    }

    fn write(mut self, text: &str) -> anyhow::Result<()> {
        self.file.write_all(text.as_bytes()).with_context(|| format!("--html {}", self.path.display()))
    }
}

/// Clears the progress line before the report.
fn clear_progress(plan: &RunPlan) {
    if plan.progress {
        eprint!("\r\x1b[K");
    }
}

fn read_body(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    let file = File::open(path).with_context(|| format!("--body {}", path.display()))?;
    file.take(MAX_BODY_BYTES + 1).read_to_end(&mut body).with_context(|| format!("--body {}", path.display()))?;
    if body.len() as u64 > MAX_BODY_BYTES {
        bail!("--body {}: more than {} MB", path.display(), MAX_BODY_BYTES >> 20);
    }
    Ok(body)
}

/// Maximum duration in seconds, about ten years: adding it to the present time must not overflow.
const MAX_SECONDS: f64 = 3e8;

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.trim_end_matches('s').parse().map_err(|_| "expected seconds, such as 10 or 0.5".to_owned())?;
    let fits = (0.0..=MAX_SECONDS).contains(&seconds);
    fits.then(|| Duration::from_secs_f64(seconds)).ok_or_else(|| "expected seconds from 0 to ten years".to_owned())
}

fn positive_seconds(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time.is_zero() { Err("expected a number above 0".to_owned()) } else { Ok(time) }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected requests per second, such as 500".to_owned())?;
    (1e-6..=1e7)
        .contains(&rate)
        .then_some(rate)
        .ok_or_else(|| "expected at most 10,000,000 requests per second".to_owned())
}

/// Parses a factor: `2x` is twice as fast.
fn times(text: &str) -> Result<f64, String> {
    let times: f64 = text.trim_end_matches('x').parse().map_err(|_| "expected a factor, such as 2x".to_owned())?;
    (1e-3..=1e6).contains(&times).then_some(times).ok_or_else(|| "expected a factor from 0.001x".to_owned())
}

/// Parses bits per second: `33.6k` is 33,600.
fn bits(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |number| (number, 1e6)),
    };
    let bits = number.parse::<f64>().map_err(|_| "expected bits per second, such as 33.6k or 2M".to_owned())? * unit;
    (100.0..=1e11).contains(&bits).then_some(bits).ok_or_else(|| "expected at least 100 bits per second".to_owned())
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected 'Name: value'")?;
    let name = name.trim().parse().map_err(|_| "invalid header name")?;
    let value = HeaderValue::from_str(value.trim()).map_err(|_| "invalid header value")?;
    Ok((name, value))
}
