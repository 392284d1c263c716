//! `cameleer advise`: configuration changes for a running server, as sentences with evidence and directives.

mod evidence;
mod refork;
mod rules;
mod sentence;
mod shared;

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use base::printable;
use evidence::AdviceEvidence;
use rules::RULES;
use sentence::Advice;
use toolkit::client::ServerChoice;
use toolkit::print;

const HINT: &str = "\
Without --seconds the advice depends on the present moment. Memory is read from /proc, so a server
that has changed its user requires root. cameleer tune measures what this command estimates";

/// Suggest configuration changes for a running server, with reasons
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Advise {
    #[command(flatten)]
    which: ServerChoice,
    /// Observe the server for this many seconds
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u64).range(..=3600))]
    seconds: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Input of the output functions.
#[derive(Debug, Serialize)]
struct AdviceReport {
    /// The configuration's file, or `command line`.
    origin: String,
    /// Time of observation, in seconds.
    seconds: f64,
    /// Names of all rules.
    looked_at: Vec<&'static str>,
    /// Advice of the rules that found a problem.
    advice: Vec<Advice>,
}

impl Advise {
    /// Observes the server and prints the advice.
    pub fn run(self) -> anyhow::Result<()> {
        let evidence = AdviceEvidence::gather(&mut self.which.connect()?, Duration::from_secs(self.seconds))?;
        let given = AdviceReport {
            origin: evidence.last.origin.clone(),
            seconds: evidence.seconds,
            looked_at: RULES.iter().map(|(name, _)| *name).collect(),
            advice: RULES.iter().filter_map(|(_, rule)| rule(&evidence)).collect(),
        };
        print(&match self.json {
            true => printable::json(&(serde_json::to_string_pretty(&given)? + "\n")),
            false => printable::lines(&text(&given)),
        })
    }
}

fn text(given: &AdviceReport) -> String {
    if given.advice.is_empty() {
        return format!("no advice; checked: {}\n", given.looked_at.join(", "));
    }
    let mut text = String::new();
    for Advice { sentence, evidence, change, .. } in &given.advice {
        let _ = writeln!(text, "{sentence}\n    {evidence}");
        if let Some(change) = change {
            let _ = writeln!(text, "  + {change}");
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}
