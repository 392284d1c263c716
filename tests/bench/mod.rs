//! `cameleer bench` against scripted servers that count requests.

/// Closed loop: each connection sends its next request after a response.
mod closed_loop;
/// Failed requests, counted by cause.
mod failures;
/// Open loop: requests at fixed times.
mod open_loop;
/// The report as a page.
mod page;
/// Lists of URLs, logs, slow clients.
mod replay;
/// The requests that the server receives.
mod requests;
/// The scripted server of these tests.
mod scripted;
/// TLS and HTTP/2.
mod secure;
/// Several threads, and several streams on a connection.
mod threads;
/// The parts of a response's time.
mod times;
/// Comparison of two servers.
mod versus;

use serde_json::Value;

use crate::support::{Finished, Site};
use scripted::Scripted;

/// Runs `cameleer bench OPTIONS URL`.
#[track_caller]
fn run(options: &str, url: &str) -> Finished {
    let site = Site::new();
    let mut command = site.command(["bench"]);
    command.args(options.split_whitespace()).arg(url);
    Finished::of(&mut command)
}

/// The report of a run that must succeed.
#[track_caller]
fn report(options: &str, url: &str) -> Value {
    let output = run(&format!("{options} --json"), url).succeeded();
    read(&output)
}

/// The report of a run with failed requests.
#[track_caller]
fn failed_report(options: &str, url: &str) -> Value {
    let output = run(&format!("{options} --json"), url).failed(1, "requests failed");
    read(&output)
}

#[track_caller]
fn read(run: &Finished) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// The latency in seconds that the share `wanted` of the responses does not exceed.
#[track_caller]
fn quantile(report: &Value, wanted: f64) -> f64 {
    let quantiles = report["latency"]["quantiles"].as_array().expect("a list");
    let found = quantiles.iter().find(|pair| pair[0] == wanted).expect("a quantile that is reported");
    found[1].as_f64().expect("seconds")
}
