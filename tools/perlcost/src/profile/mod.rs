//! `cameleer profile`: in which Perl code the requests of a running server spend their time.

pub(crate) mod exact;
mod flame_graph;
mod folded;
mod table;

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};

use base::printable;
use exact::ProfiledRequest;
use master::sockets::control_socket::Command;
use profiler::{MAX_SECONDS, StackProfile as Recorded};
use toolkit::Misuse;
use toolkit::client::ServerChoice;
use toolkit::conf::Conf;
use toolkit::path_pattern::is_meant;
use toolkit::print;

const HINT: &str = "\
Running workers are read from outside: they do no work for it, and their system calls are not
interrupted. Idle workers are not counted. docs/operating/profiling.md has details";

/// Show in which Perl code the requests of a running server spend their time
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Profile {
    #[command(flatten)]
    which: ServerChoice,
    /// Duration of the recording, at most 3600
    #[arg(long, value_name = "N", default_value_t = 30.0)]
    seconds: f64,
    /// Samples of each worker per second
    #[arg(long, value_name = "N", default_value_t = 99.0)]
    hertz: f64,
    /// Only requests of this path; a final * stands for any rest
    #[arg(long, value_name = "PATH")]
    url: Option<String>,
    /// Profile this request by statement (NYTProf), on a second server of the site
    #[arg(long, value_name = "URL", conflicts_with_all = ["url", "svg", "folded", "json"])]
    exact: Option<String>,
    /// Folder for the pages of --exact
    #[arg(long, value_name = "DIR", default_value = "nytprof", requires = "exact")]
    out: PathBuf,
    /// Time to count: wall-clock or processor time
    #[arg(long, value_name = "wall|cpu", value_enum, hide_possible_values = true, default_value_t = ClockMode::Wall)]
    mode: ClockMode,
    /// Distinguish lines of a sub
    #[arg(long)]
    lines: bool,
    /// Write a flame graph as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print folded stacks, for flame graph programs
    #[arg(long, group = "view")]
    folded: bool,
    /// Print JSON
    #[arg(long, group = "view")]
    json: bool,
}

/// The time that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClockMode {
    /// Wall-clock time: work and waiting.
    Wall,
    /// Processor time: work only.
    Cpu,
}

impl Profile {
    /// Records a profile and prints it.
    pub fn run(self) -> anyhow::Result<()> {
        if let Some(url) = &self.exact {
            let conf = Conf::of(&self.configuration()?);
            return print(&printable::lines(&exact::profile(&conf, &ProfiledRequest { url, bytes: None }, &self.out)?));
        }
        let mut server = self.which.connect()?;
        let (seconds, hertz) = (self.seconds, self.hertz);
        if !(0.0..=MAX_SECONDS).contains(&seconds) {
            return Err(Misuse(format!("--seconds {seconds}: expected a number from 0 to {MAX_SECONDS}")).into());
        }
        let mut recorded: Recorded = server.request_from_profiler(Command::Record { seconds, hertz })?;
        if let Some(url) = &self.url {
            recorded.requests.retain(|by| matches(&by.request, url));
            recorded.samples = recorded.requests.iter().flat_map(|by| &by.stacks).map(|stack| stack.samples).sum();
        }
        if let Some(file) = &self.svg {
            let title = self.url.as_deref().unwrap_or("all requests");
            let drawn = flame_graph::draw(&recorded, self.mode, self.lines, title)?;
            std::fs::write(file, drawn).with_context(|| format!("cannot write {}", file.display()))?;
        }
        print(&match (self.json, self.folded) {
            (true, _) => printable::json(&(serde_json::to_string_pretty(&recorded)? + "\n")),
            (_, true) => printable::lines(&folded::lines(&recorded, self.mode, self.lines)),
            _ => printable::lines(&table::of(&recorded, self.mode)),
        })
    }
}

impl Profile {
    /// The configuration of -f, or of the running server.
    fn configuration(&self) -> anyhow::Result<PathBuf> {
        if let Some(file) = &self.which.conf {
            return Ok(file.clone());
        }
        let status =
            self.which.connect()?.request(Command::Status)?.status.context("the server sent an invalid answer")?;
        let file = PathBuf::from(status.origin);
        ensure!(file.is_file(), "the server has no configuration file; give one with -f FILE for --exact");
        Ok(file)
    }
}

/// Whether a request such as `GET www.example.com/path` has this path.
fn matches(request: &str, url: &str) -> bool {
    let path = request.find('/').and_then(|at| request.get(at..)).unwrap_or_default();
    is_meant(path, url)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_path_pattern_matches_exactly_or_by_prefix() {
        assert!(matches("GET www.example.com/page", "/page"));
        assert!(!matches("GET www.example.com/page/2", "/page"));
        assert!(matches("GET www.example.com/page/2", "/page*"));
        assert!(!matches("(others)", "/page*"));
    }
}
