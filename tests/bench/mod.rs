//! `cameleer bench`, against servers that count what they are asked and do what a test wants.

/// Requests one after the other on each connection.
mod closed_loop;
/// What can go wrong, each counted by its cause.
mod failures;
/// Requests at their moments.
mod open_loop;
/// Pictures.
mod page;
/// Lists of URLs, logs, slow clients.
mod replay;
/// What the server gets.
mod requests;
/// The server of these tests.
mod scripted;
/// TLS and HTTP/2.
mod secure;
/// Several threads, several streams.
mod threads;
/// Where the time went.
mod times;
/// Two servers.
mod versus;

use serde_json::Value;

use crate::support::{Finished, Site};
use scripted::Scripted;

/// `cameleer bench OPTIONS --json URL`
#[track_caller]
fn run(options: &str, url: &str) -> Finished {
    let site = Site::new();
    let mut command = site.command(["bench"]);
    command.args(options.split_whitespace()).arg(url);
    Finished::of(&mut command)
}

/// What a run has come to, which must have gone well.
#[track_caller]
fn report(options: &str, url: &str) -> Value {
    let said = run(&format!("{options} --json"), url).succeeded();
    read(&said)
}

/// What a run has come to, in which requests failed.
#[track_caller]
fn failed_report(options: &str, url: &str) -> Value {
    let said = run(&format!("{options} --json"), url).failed(1, "requests failed");
    read(&said)
}

#[track_caller]
fn read(said: &Finished) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// So many seconds were enough for this share of the answers.
#[track_caller]
fn quantile(report: &Value, wanted: f64) -> f64 {
    let quantiles = report["latency"]["quantiles"].as_array().expect("a list");
    let found = quantiles.iter().find(|pair| pair[0] == wanted).expect("a quantile that is reported");
    found[1].as_f64().expect("seconds")
}
