//! `cameleer diff-sites`: sends the requests of an access log to two servers of one site, and shows where they differ.
//!
//! ```text
//!   log ─▶ fetch old, old again, new ─▶ normalized ─▶ page (what differs) ─▶ report
//! ```
//!
//! The old server is asked twice: the parts of its page that differ between its two responses (times, tokens) are not
//! compared.

#![forbid(unsafe_code)]

mod cookies;
mod fetch;
mod headers;
mod normalized;
mod page;
mod report;
mod visit;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use http::header::{HeaderName, HeaderValue};

use bench::plan::ConnectionPlan;
use bench::{RequestTarget, RequestTemplate, Workload};
use toolkit::{Misuse, print};

pub use report::SiteDiff;

const HINT: &str = "\
Only GET requests are sent, without bodies and cookies. Redirects are not followed.
Exit code 1: the servers differ. docs/guide/diff-sites.md explains what is compared";

/// Compare the pages of two servers of one site, by the requests of an access log
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct DiffSites {
    /// URL of the server whose pages are right, with its scheme and host: http://localhost:80
    old: String,
    /// URL of the other server; unix:/path/of.sock for a unix socket
    new: String,
    /// Access log of the site, in common or combined format
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    log: Option<PathBuf>,
    /// Paths to compare, instead of a log [default: /]
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Maximum number of distinct requests of the log
    #[arg(short = 'n', long, value_name = "N", default_value = "1000")]
    requests: usize,
    /// Number of requests at the same time
    #[arg(short = 'c', long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=256))]
    connections: u16,
    /// The Host header for both servers, for example the site's public name
    #[arg(long, value_name = "NAME")]
    host: Option<HeaderValue>,
    /// A further header for both servers; repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Do not compare this response header; repeatable
    #[arg(long = "ignore-header", value_name = "NAME")]
    ignored: Vec<HeaderName>,
    /// Accept any certificate
    #[arg(short = 'k', long)]
    insecure: bool,
    /// Time limit of a request, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    timeout: u32,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
}

/// The servers differ; the report has been printed. Exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SitesDiffer(String);

impl DiffSites {
    /// Compares the servers and prints the report.
    pub fn run(self) -> anyhow::Result<()> {
        let (old, new) = (target(&self.old)?, target(&self.new)?);
        let workload = match &self.log {
            Some(log) => Workload::of_log(log, &[http::Method::GET])?,
            None if self.paths.is_empty() => Workload::of(&old.with_path("/")),
            None => Workload::of_urls(&self.paths, &old)?,
        };
        let requests = workload.requests(&RequestTemplate::default(), &old);
        let paths: Vec<String> = requests.iter().map(|request| request.target.path.clone()).collect();
        let plan = visit::VisitPlan {
            paths: paths.into_iter().take(self.requests).collect(),
            servers: [old, new],
            headers: self.host.iter().map(|host| (http::header::HOST, host.clone())).chain(self.headers).collect(),
            ignored: self.ignored,
            connections: usize::from(self.connections),
            transport: ConnectionPlan { insecure: self.insecure, ..ConnectionPlan::default() },
            timeout: Duration::from_secs(u64::from(self.timeout)),
        };
        let diff = visit::visit(plan)?;
        print(&if self.json { diff.json()? } else { diff.text() })?;
        match diff.differing() {
            0 => Ok(()),
            count => Err(SitesDiffer(format!("{count} of {} pages differ", diff.pages.len())).into()),
        }
    }
}

fn target(url: &str) -> anyhow::Result<RequestTarget> {
    RequestTarget::parse(url).map_err(|why| Misuse(why).into())
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected NAME: VALUE")?;
    let name = name.trim().parse::<HeaderName>().map_err(|error| error.to_string())?;
    Ok((name, value.trim().parse::<HeaderValue>().map_err(|error| error.to_string())?))
}
