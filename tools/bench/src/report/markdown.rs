//! The report as a table for documents and issues.

use std::fmt::Write;

use super::Report;
use super::text::how;
use super::units::{three, time};

/// Makes tables in GitHub's Markdown.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("`{}`: {}\n\n", report.url.replace('`', "%60"), how(report));
    text.push_str("| NR | NC | RPS | avtime | completed | failed |\n|--:|--:|--:|--:|--:|--:|\n");
    let (rate, mean) = (three(report.requests_per_second), time(report.latency.mean));
    let Report { requests, connections, completed, failed, .. } = report;
    let _ = writeln!(text, "| {requests} | {connections} | {rate} | {mean} | {completed} | {failed} |\n");
    text.push_str("| 50 % | 75 % | 90 % | 99 % | 99.9 % | longest |\n|--:|--:|--:|--:|--:|--:|\n");
    for (_, seconds) in &report.latency.quantiles {
        let _ = write!(text, "| {} ", time(*seconds));
    }
    let _ = writeln!(text, "| {} |", time(report.latency.max));
    if !report.failures.is_empty() {
        text.push_str("\n| failed | times | first error |\n|:--|--:|:--|\n");
    }
    for failure in &report.failures {
        let _ = writeln!(text, "| {} | {} | {} |", failure.cause, failure.count, failure.first.replace('|', "\\|"));
    }
    for note in &report.notes {
        let _ = write!(text, "\n> {note}\n");
    }
    text
}
