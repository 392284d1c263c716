//! `cameleer status`: a running server as a table, or as JSON.

use std::fmt::Write;

use clap::Args;
use wire::control::{FrontStatus, ShareStatus, WorkerState, WorkerStatus};

use super::client::Which;
use crate::master::control_socket::Command;
use crate::master::status as master;

/// Show a running server: its workers and what they do.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    which: Which,
    /// For programs
    #[arg(long)]
    json: bool,
}

impl Status {
    pub fn run(self) -> anyhow::Result<()> {
        let answer = self.which.connect()?.ask(Command::Status)?;
        let status = answer.status.ok_or_else(|| anyhow::anyhow!("the server answered nonsense"))?;
        let text = if self.json { serde_json::to_string_pretty(&status)? + "\n" } else { table(&status) };
        // `cameleer status | head` is no failure.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
        Ok(())
    }
}

fn table(status: &master::Status) -> String {
    let mut text = String::new();
    let up = duration(status.uptime_s * 1000);
    let _ = writeln!(text, "cameleer {}  pid {}  up {up}  {}", status.version, status.pid, status.origin);
    let _ = writeln!(text, "listens on {}", status.listen.join(", "));
    for generation in &status.generations {
        let master::GenerationStatus { generation, state, mold_pid, workers } = generation;
        let _ = writeln!(text, "generation {generation}  {state:?}  mold {mold_pid}  {workers} workers");
    }
    match &status.front {
        None => text.push_str("the front does not answer\n"),
        Some(front) => {
            let _ = writeln!(
                text,
                "front {}  {} connections  {} requests ({} by workers)  {} queued  {} queue timeouts",
                status.front_pid,
                front.connections,
                front.requests,
                front.worker_requests,
                front.queued,
                front.queue_timeouts
            );
            admission(front, &mut text);
            workers(&front.workers, status.max_clients, &mut text);
        }
    }
    text
}

/// What was refused and what shares hold, where there is something to tell.
fn admission(front: &FrontStatus, text: &mut String) {
    if front.overloaded {
        text.push_str("overloaded: the newest requests are served first\n");
    }
    let refused =
        [("turned away", front.turned_away), ("too fast", front.too_fast), ("too many at once", front.throttled)];
    if refused.iter().any(|(_, count)| *count > 0) {
        let words: Vec<_> = refused.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let _ = writeln!(text, "refused: {}", words.join(", "));
    }
    for ShareStatus { place, most, busy, queued, overloaded, turned_away } in &front.shares {
        let overloaded = if *overloaded { ", overloaded" } else { "" };
        let _ = writeln!(
            text,
            "share {place}  {busy} of {most} workers  {queued} queued  {turned_away} turned away{overloaded}"
        );
    }
}

fn workers(workers: &[WorkerStatus], max_clients: u32, text: &mut String) {
    let busy = workers.iter().filter(|worker| worker.state == WorkerState::Busy).count();
    let _ = writeln!(text, "workers {} of {max_clients}, {busy} busy\n", workers.len());
    let _ = writeln!(
        text,
        "{:>6} {:>4} {:>8} {:<9} {:>9} {:>8}  request",
        "worker", "gen", "pid", "state", "requests", "since"
    );
    for w in workers {
        let (state, since) = (format!("{:?}", w.state), duration(w.since_ms));
        let line = format!(
            "{:>6} {:>4} {:>8} {state:<9} {:>9} {since:>8}  {}",
            w.slot, w.generation, w.pid, w.requests, w.request
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// `450ms`, `12s`, `5m`, `3h`, `9d`
fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms}ms"),
        1..120 => format!("{s}s"),
        120..7200 => format!("{}m", s / 60),
        7200..172_800 => format!("{}h", s / 3600),
        _ => format!("{}d", s / 86400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::control::GenerationState;

    #[test]
    fn the_table_fits_eighty_columns_and_names_what_each_worker_does() {
        let worker = |slot, state, request: &str| WorkerStatus {
            slot,
            generation: 2,
            pid: 812,
            state,
            requests: 4310,
            request: request.to_string(),
            since_ms: 61_000,
        };
        let status = master::Status {
            version: "0.1.0".into(),
            pid: 800,
            uptime_s: 7300,
            origin: "/srv/site.conf".into(),
            listen: vec!["0.0.0.0:80".into()],
            generation: 2,
            generations: vec![master::GenerationStatus {
                generation: 2,
                state: GenerationState::Serving,
                mold_pid: 805,
                workers: 2,
            }],
            max_clients: 2,
            front_pid: 801,
            front: Some(FrontStatus {
                workers: vec![worker(0, WorkerState::Idle, ""), worker(1, WorkerState::Busy, "GET /report")],
                ..FrontStatus::default()
            }),
        };
        assert_eq!(
            table(&status),
            "cameleer 0.1.0  pid 800  up 2h  /srv/site.conf\n\
             listens on 0.0.0.0:80\n\
             generation 2  Serving  mold 805  2 workers\n\
             front 801  0 connections  0 requests (0 by workers)  0 queued  0 queue timeouts\n\
             workers 2 of 2, 1 busy\n\
             \n\
             worker  gen      pid state      requests    since  request\n     \
             0    2      812 Idle           4310      61s\n     \
             1    2      812 Busy           4310      61s  GET /report\n"
        );
    }
}
