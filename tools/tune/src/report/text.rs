//! The report as text for a terminal of 80 columns.

use std::fmt::Write;

use super::{LoadMeasurement, PointReport, TuneReport};
use bench::report::units::{three, time};
use toolkit::units::size;

pub fn text(report: &TuneReport) -> String {
    let mut text = String::new();
    heading(report, &mut text);
    sweep(report, &mut text);
    let _ = writeln!(text, "\n{}", wrapped(&report.reason, 0));
    verified(report, &mut text);
    others(report, &mut text);
    changes(report, &mut text);
    memory(report, &mut text);
    for note in &report.notes {
        let _ = writeln!(text, "\n{}", wrapped(note, 0));
    }
    text
}

fn heading(report: &TuneReport, text: &mut String) {
    let TuneReport { site, url, urls, visitors, cores, seconds, alone, .. } = report;
    let requested = if *urls == 1 { url.clone() } else { format!("{url} and {} other requests", urls - 1) };
    let _ = writeln!(text, "second server of {site}, {visitors} visitors, {cores:.0} cores, {seconds:.0} s");
    let _ = writeln!(text, "{requested}\n");
    let share = alone.share;
    let _ = writeln!(
        text,
        "alone, a request takes {}: {} of processor time, {} of waiting",
        time(alone.latency),
        time(share.cpu),
        time(share.waiting())
    );
    if let Some(by_law) = report.by_law {
        let _ = writeln!(
            text,
            "{cores:.0} cores therefore suffice for {by_law:.0} workers, less the share of visitors and front"
        );
    }
}

fn sweep(report: &TuneReport, text: &mut String) {
    if report.points.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{:>8} {:>11} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "workers", "requests/s", "±", "answer", "has cpu", "wants cpu", "waits"
    );
    for point in &report.points {
        let PointReport { workers, requests_per_second, margin, latency, per_request, .. } = point;
        let margin = margin.map_or_else(|| "-".to_owned(), three);
        let mark = if *workers == report.chosen { "  ◀ chosen" } else { "" };
        let _ = writeln!(
            text,
            "{workers:>8} {:>11} {margin:>8} {:>9} {:>9} {:>9} {:>9}{mark}",
            three(*requests_per_second),
            if *requests_per_second > 0.0 { time(*latency) } else { "-".to_owned() },
            time(per_request.cpu),
            time(per_request.queued),
            time(per_request.waiting()),
        );
    }
}

fn verified(report: &TuneReport, text: &mut String) {
    let (Some(now), Some(then)) = (&report.now, &report.then) else { return };
    let _ = writeln!(text, "\n{:>21} {:>11} {:>12} {:>12}", "", "requests/s", "half within", "99 % within");
    for (name, LoadMeasurement { workers, requests_per_second, median, p99 }) in
        [("now, with", now), ("then, with", then)]
    {
        let p99 = p99.map_or_else(|| "-".to_owned(), time);
        let _ = writeln!(
            text,
            "{name:>11} {workers:>9} {:>11} {:>12} {p99:>12}",
            three(*requests_per_second),
            time(*median)
        );
    }
}

fn others(report: &TuneReport, text: &mut String) {
    for compared in &report.compared {
        let percent = |ratio: Option<f64>| {
            ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0))
        };
        let same = if compared.same_answers { "" } else { "; the two configurations answer differently" };
        let _ = writeln!(
            text,
            "\n{} {} instead of {}: {} requests/s ({} … {}){same}",
            compared.name,
            compared.to,
            compared.from,
            percent(compared.ratio),
            percent(compared.low),
            percent(compared.high),
        );
    }
}

fn changes(report: &TuneReport, text: &mut String) {
    if report.changes.is_empty() {
        let _ = writeln!(text, "\nno changes: the configuration already has these values");
        return;
    }
    text.push('\n');
    for change in &report.changes {
        let at = change.at.as_deref().unwrap_or("not in the configuration: the default");
        let _ = writeln!(text, "- {} {}    {at}\n+ {} {}", change.directive, change.from, change.directive, change.to);
    }
    for alike in report.changes.chunk_by(|one, next| one.why == next.why) {
        let names: Vec<&str> = alike.iter().map(|change| change.directive).collect();
        let why = alike.first().map(|change| change.why.as_str()).unwrap_or_default();
        // The reason of MaxClients is printed above.
        if why != report.reason {
            let _ = writeln!(text, "\n{}", wrapped(&format!("{}: {why}", names.join(", ")), 2));
        }
    }
}

fn memory(report: &TuneReport, text: &mut String) {
    let memory = &report.memory;
    let _ = writeln!(
        text,
        "\nmemory: {} + {} × {} = {}; {} workers fit into {}",
        size(memory.base),
        report.chosen,
        size(memory.one_more),
        size(memory.of(report.chosen)),
        memory.fit,
        size(memory.allowed)
    );
}

/// Wraps at 80 columns; all lines but the first are indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let fits = lines.last().is_some_and(|line| line.chars().count() + 1 + word.chars().count() <= 80);
        match lines.last_mut() {
            Some(line) if line.trim().is_empty() => line.push_str(word),
            Some(line) if fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(" ".repeat(indent) + word),
        }
    }
    lines.join("\n")
}
