//! The report for a terminal.

use std::fmt::Write;

use super::units::{size, three, time};
use super::{Latency, Report};

/// Lines of 80 columns, except notes and URLs.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    let more = if report.urls > 1 { format!(" and {} more", report.urls - 1) } else { String::new() };
    let _ = writeln!(text, "{}{more}", report.url);
    let _ = writeln!(text, "{}\n", how(report));
    table(report, &mut text);
    failures(report, &mut text);
    if report.latency.max > 0.0 {
        latency(&report.latency, &mut text);
        connection_times(report, &mut text);
    }
    transfer(report, &mut text);
    for note in &report.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    text
}

/// Describes the run: `closed loop, 10 connections kept alive, HTTP/1.1, 10.0 s`
pub fn how(report: &Report) -> String {
    let kind = match report.rate {
        Some(rate) => format!("open loop of {} requests/s", three(rate)),
        None if report.kind == "open" => "open loop at the times of the log".to_owned(),
        None => "closed loop".to_owned(),
    };
    let kept = if report.close { "one request each" } else { "kept alive" };
    let (connections, protocol, time) = (report.connections, report.protocol, time(report.seconds));
    let streams = if report.streams > 1 { format!(" with {} streams each", report.streams) } else { String::new() };
    let threads = if report.threads > 1 { format!(", {} threads", report.threads) } else { String::new() };
    format!("{kind}, {connections} connections {kept}{streams}, {protocol}{threads}, {time}")
}

/// The table in the format of mod_perl's documents.
fn table(report: &Report, text: &mut String) {
    let _ =
        writeln!(text, "{:>10} {:>6} {:>10} {:>10} {:>10} {:>8}", "NR", "NC", "RPS", "avtime", "completed", "failed");
    let _ = writeln!(
        text,
        "{:>10} {:>6} {:>10} {:>10} {:>10} {:>8}\n",
        report.requests,
        report.connections,
        three(report.requests_per_second),
        time(report.latency.mean),
        report.completed,
        report.failed
    );
}

fn failures(report: &Report, text: &mut String) {
    let is_plain = report.statuses.keys().all(|status| *status == 200);
    if !is_plain {
        let counts: Vec<String> = report.statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect();
        let _ = writeln!(text, "statuses   {}", counts.join(", "));
    }
    for failure in &report.failures {
        let _ = writeln!(text, "failed     {:<9} {:>8}   the first: {}", failure.cause, failure.count, failure.first);
    }
    if !is_plain || !report.failures.is_empty() {
        text.push('\n');
    }
}

fn latency(latency: &Latency, text: &mut String) {
    for (quantile, seconds) in &latency.quantiles {
        let _ = writeln!(text, "{:>8} % within {:>9}", quantile * 100.0, time(*seconds));
    }
    let deviation = time(latency.standard_deviation);
    let _ = writeln!(text, "{:>17} {:>9}", "longest", time(latency.max));
    let _ = writeln!(text, "{:>17} {:>9}   standard deviation {deviation}\n", "mean", time(latency.mean));
}

/// The table in the format of ab.
fn connection_times(report: &Report, text: &mut String) {
    let times = &report.connection_times;
    let _ = writeln!(
        text,
        "{:<21} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "connection times (ms)", "min", "mean", "[+/-sd]", "median", "max"
    );
    for (name, of) in [
        ("connect", &times.connect),
        ("processing", &times.processing),
        ("waiting", &times.waiting),
        ("total", &times.total),
    ] {
        let [min, mean, deviation, median, max] =
            [of.min, of.mean, of.standard_deviation, of.quantile(0.5), of.max].map(|seconds| three(seconds * 1e3));
        let _ = writeln!(text, "{name:<21} {min:>9} {mean:>9} {deviation:>9} {median:>9} {max:>9}");
    }
    text.push('\n');
}

fn transfer(report: &Report, text: &mut String) {
    let received = report.received_bytes as f64;
    let rate = if report.seconds > 0.0 { received / report.seconds } else { 0.0 };
    let (total, rate, opened) = (size(received), size(rate), report.connections_opened);
    let _ = writeln!(text, "received   {total}, {rate}/s, over {opened} connections");
    if report.warm_up_requests > 0 {
        let _ = writeln!(text, "warm-up    {} requests before, not counted", report.warm_up_requests);
    }
}
