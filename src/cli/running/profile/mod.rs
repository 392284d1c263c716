//! `cameleer profile`: in which Perl code the requests of a running server spend their time.

mod flame_graph;
mod folded;
mod table;

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::client::Which;
use crate::cli::print;
use crate::master::sockets::control_socket::Command;
use crate::printable;
use crate::profiler::Profile as Recorded;

const HINT: &str = "\
Workers are read from outside, while they run: they do nothing for it and no system call of
theirs is interrupted. A worker without a request is not counted. docs/operating/profiling.md says more";

/// Show in which Perl code the requests of a running server spend their time
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Profile {
    #[command(flatten)]
    which: Which,
    /// For so long
    #[arg(long, value_name = "N", default_value_t = 30.0)]
    seconds: f64,
    /// So many samples a second of each worker
    #[arg(long, value_name = "N", default_value_t = 99.0)]
    hertz: f64,
    /// Requests of this path alone; with * at its end, of those that begin so
    #[arg(long, value_name = "PATH")]
    url: Option<String>,
    /// What counts: time that passes, or time of processors
    #[arg(long, value_enum, default_value_t = Mode::Wall)]
    mode: Mode,
    /// Tell lines of a sub apart
    #[arg(long)]
    lines: bool,
    /// Draw a flame graph, for a browser
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// A line for each stack, as flame graph programs read them
    #[arg(long, group = "view")]
    folded: bool,
    /// For programs
    #[arg(long, group = "view")]
    json: bool,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Time that passes: work and waiting.
    Wall,
    /// Time of processors: work alone.
    Cpu,
}

impl Profile {
    pub fn run(self) -> anyhow::Result<()> {
        let mut server = self.which.connect()?;
        let (seconds, hertz) = (self.seconds, self.hertz);
        let mut recorded: Recorded = server.told_by_profiler(Command::Record { seconds, hertz })?;
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

/// Whether `GET www.example.com/path` is of that path.
fn matches(request: &str, url: &str) -> bool {
    let path = request.find('/').and_then(|at| request.get(at..)).unwrap_or_default();
    match url.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => path == url,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_path_is_meant_whole_or_by_its_beginning() {
        assert!(matches("GET www.example.com/page", "/page"));
        assert!(!matches("GET www.example.com/page/2", "/page"));
        assert!(matches("GET www.example.com/page/2", "/page*"));
        assert!(!matches("(others)", "/page*"));
    }
}
