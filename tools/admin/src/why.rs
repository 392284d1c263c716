//! `cameleer why`: shows where the last slow requests spent their time, as recorded by `SlowLog`.

use std::fmt::Write;

use chrono::{DateTime, Local};
use clap::Args;

use base::printable;
use master::sockets::control_socket::Command;
use profiler::{SlowRecord, SlowStack};
use toolkit::client::ServerChoice;
use toolkit::path_pattern::is_meant;
use toolkit::print;

/// Show where the last slow requests of a running server spent their time
#[derive(Debug, Args)]
pub struct Why {
    #[command(flatten)]
    which: ServerChoice,
    /// Only requests of this path; a final * stands for any rest
    #[arg(value_name = "PATH")]
    url: Option<String>,
    /// Number of requests to show, the latest
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5)]
    count: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Why {
    /// Prints the last slow requests with their stacks.
    pub fn run(self) -> anyhow::Result<()> {
        let mut slow: Vec<SlowRecord> = self.which.connect()?.request_from_profiler(Command::SlowRequests)?;
        slow.retain(|slow| self.url.as_ref().is_none_or(|url| matches(&slow.target, url)));
        slow.drain(..slow.len().saturating_sub(self.count));
        print(&match self.json {
            true => printable::json(&(serde_json::to_string_pretty(&slow)? + "\n")),
            false => printable::lines(&text(&slow)),
        })
    }
}

fn matches(target: &str, url: &str) -> bool {
    let path = target.split('?').next().unwrap_or_default();
    is_meant(path, url)
}

fn text(slow: &[SlowRecord]) -> String {
    if slow.is_empty() {
        return "no request was slower than SlowLog\n".to_owned();
    }
    slow.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(slow: &SlowRecord) -> String {
    let SlowRecord { method, host, client, target, worker, pid, generation, queued_ms, took_ms, cpu_ms, .. } = slow;
    let state = match (slow.is_over, slow.worker_ended) {
        (false, _) => "so far",
        (true, false) => "",
        (true, true) => "until its worker ended",
    };
    let at = i64::try_from(slow.received_us).ok().and_then(DateTime::from_timestamp_micros);
    let at = at.map_or_else(String::new, |at| at.with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string());
    let mut text = format!("{at}  {client}  {method} {host}{target}\n");
    let _ = writeln!(text, "  {} {state}", seconds(*took_ms));
    let _ = writeln!(
        text,
        "  queue {queued_ms} ms before  CPU {}  waiting {}",
        seconds(*cpu_ms),
        seconds(took_ms.saturating_sub(*cpu_ms))
    );
    if slow.phases.len() > 1 || slow.phases.iter().any(|of| of.phase.starts_with("FastCGI")) {
        let phases: Vec<String> =
            slow.phases.iter().map(|of| format!("{} {}", of.phase, seconds(of.took_ms))).collect();
        let _ = writeln!(text, "  phases {}", phases.join("  "));
    }
    let database: u64 =
        slow.stacks.iter().filter(|stack| stack.frames.iter().any(|f| f.is_database())).map(|s| s.looks).sum();
    if database > 0 {
        let _ = writeln!(text, "  database in {database} of {} samples", slow.looks);
    }
    let _ = writeln!(text, "  memory {:+} kB  worker {worker} (pid {pid})  generation {generation}", slow.grown / 1024);
    for SlowStack { looks, frames } in &slow.stacks {
        let _ = writeln!(text, "  {looks} of {} samples:", slow.looks);
        for frame in frames {
            let _ = writeln!(text, "    {frame}");
        }
    }
    text
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}
