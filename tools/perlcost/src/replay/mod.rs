//! `cameleer replay`: sends a failed request again, as `RecordFailures` has recorded it.

mod debugger;
mod recording;
mod sent;

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use crate::profile::exact::{self, ProfiledRequest};
use base::printable;
use recording::FailureFile;
use toolkit::conf::Conf;
use toolkit::{print, print_error};

const HINT: &str = "\
Exit code 1: the response has a status of 500 or above again. Values that the server has masked
are sent as `masked`; give your own with -H. docs/operating/replay.md has details";

/// Send a failed request again, from a file of RecordFailures
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Replay {
    /// A file of RecordFailures
    #[arg(value_name = "FILE")]
    recording: PathBuf,
    /// Send it to this server [default: the address at which it arrived]
    #[arg(long, value_name = "URL", conflicts_with_all = ["debug", "nytprof"])]
    to: Option<String>,
    /// Send this header instead of the recorded one; repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Send the contents of this file instead of the recorded body
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Run it in Perl's debugger, in a single process of the site of -f
    #[arg(long)]
    debug: bool,
    /// Profile it by statement (NYTProf), on a second server of the site
    #[arg(long, conflicts_with = "debug")]
    nytprof: bool,
    /// Folder for the pages of --nytprof
    #[arg(long, value_name = "DIR", default_value = "nytprof", requires = "nytprof")]
    out: PathBuf,
    #[command(flatten)]
    conf: Conf,
}

impl Replay {
    /// Sends the request and prints the response.
    pub fn run(self) -> anyhow::Result<()> {
        let name = self.recording.display().to_string();
        let recording = FailureFile::read(&self.recording).with_context(|| name.clone())?;
        let body = match &self.body {
            Some(file) => std::fs::read(file).with_context(|| file.display().to_string())?,
            None => recording.body().with_context(|| name.clone())?,
        };
        let request = recording.request(&self.headers, &body).with_context(|| name.clone())?;
        for header in recording.masked(&self.headers) {
            print_error(&format!(
                "cameleer: {name}: the value of {header} was masked; give your own with -H \"{header}: …\""
            ));
        }
        if self.debug {
            return debugger::run(&self.conf, &request);
        }
        if self.nytprof {
            let request = ProfiledRequest { url: recording.target(), bytes: Some(request) };
            return print(&printable::lines(&exact::profile(&self.conf, &request, &self.out)?));
        }
        let to = self.to.as_deref().or(recording.server());
        let to = to.with_context(|| format!("{name}: the recording names no server; give one with --to URL"))?;
        let response = sent::send(to, &request)?;
        response.print()?;
        match response.status {
            500.. => bail!("{name}: {}: the request failed again", response.status),
            _ => Ok(()),
        }
    }
}
