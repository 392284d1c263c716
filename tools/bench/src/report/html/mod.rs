//! The report as an HTML page with diagrams; self-contained, light or dark as the reader's system.

mod plot;

use std::fmt::Write;

use super::text::how;
use super::units::{three, time};
use super::{Comparison, Interval, Report};
pub use plot::{Axis, Plot};

/// Maximum number of points in a diagram.
const MAX_POINTS: usize = 400;
/// Shortest time in a logarithmic diagram, in seconds.
const MIN_SECONDS: f64 = 1e-6;

const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#1f2933;--dim:#5b6875;--rule:#dfe4e9;--one:#0f766e;--two:#c2410c;--three:#6d28d9;--four:#b91c1c}\
@media(prefers-color-scheme:dark){:root{--paper:#14191f;--ink:#e6eaee;--dim:#97a3af;--rule:#2b343d;--one:#2dd4bf;--two:#fb923c;--three:#a78bfa;\
--four:#f87171}}\
body{background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:780px;margin:1.5em auto;padding:0 12px}\
h1{font-size:1.25em;overflow-wrap:anywhere}p.dim{color:var(--dim)}table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}\
th,td{padding:3px 11px;white-space:nowrap;text-align:right;border-bottom:1px solid var(--rule)}th:first-child,td:first-child,td.words{text-align:left}\
svg{width:100%;height:auto;margin:.8em 0}text{font:12px system-ui,sans-serif;fill:var(--ink)}.title{font-weight:600}\
.below{text-anchor:middle;fill:var(--dim)}.beside{text-anchor:end;fill:var(--dim)}.rule{stroke:var(--rule);fill:none}\
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.one{stroke:var(--one)}.two{stroke:var(--two)}.three{stroke:var(--three)}.four{stroke:var(--four)}";

/// Self-contained: diagrams are inline SVG, and no script is needed.
pub fn page(report: &Report) -> String {
    let mut body = format!("<h1>{}</h1><p class=\"dim\">{}</p>", escape(&report.url), escape(&how(report)));
    body += &table(&[("", report)]);
    body += &pictures(&[("", report)]);
    body += &notes(report, "");
    whole(&report.url, &body)
}

/// As [`page`], with both servers in each diagram.
pub fn page_of_two(comparison: &Comparison) -> String {
    let Comparison { a, b, rounds, .. } = comparison;
    let title = format!("{} and {}", a.url, b.url);
    let mut body = format!("<h1>A: {}<br>B: {}</h1>", escape(&a.url), escape(&b.url));
    let _ = write!(body, "<p class=\"dim\">{rounds} alternating rounds of each, {}</p>", escape(&how(a)));
    body += "<table><tr><th><th>A<th>B<th>B/A<th>at least<th>at most<th></tr>";
    for row in comparison.rows() {
        body += "<tr>";
        for cell in row {
            let _ = write!(body, "<td>{}", escape(&cell));
        }
        body += "</tr>";
    }
    body += "</table>";
    let both = [("A", a), ("B", b)];
    body += &table(&both);
    body += &pictures(&both);
    body += &(notes(a, "A: ") + &notes(b, "B: "));
    whole(&title, &body)
}

fn escape(text: &str) -> String {
    let text = base::printable::lines(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn whole(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style><body>{body}</body></html>\n",
        escape(title)
    )
}

fn table(reports: &[(&str, &Report)]) -> String {
    let mut html =
        "<table><tr><th><th>NR<th>NC<th>RPS<th>avtime<th>completed<th>failed<th>50 %<th>99 %<th>99.9 %<th>longest</tr>"
            .to_owned();
    for (name, report) in reports {
        let Report { requests, connections, completed, failed, latency, .. } = report;
        let (rate, mean) = (three(report.requests_per_second), time(latency.mean));
        let _ = write!(
            html,
            "<tr><td>{name}<td>{requests}<td>{connections}<td>{rate}<td>{mean}<td>{completed}<td>{failed}"
        );
        for seconds in [latency.quantile(0.5), latency.quantile(0.99), latency.quantile(0.999), latency.max] {
            let _ = write!(html, "<td>{}", time(seconds));
        }
        html += "</tr>";
    }
    html + "</table>"
}

fn pictures(reports: &[(&str, &Report)]) -> String {
    if reports.iter().all(|(_, report)| report.latency.max == 0.0) {
        return String::new();
    }
    let mut html = quantiles(reports).svg();
    for (name, report) in reports {
        let points = thinned(&report.intervals);
        html += &latency_over_time(name, &points).svg();
        html += &rate_over_time(name, &points).svg();
    }
    html
}

/// Each step to the right is a tenth of the remaining responses.
fn quantiles(reports: &[(&str, &Report)]) -> Plot {
    let name = |name: &str| if name.is_empty() { "latency".to_owned() } else { name.to_owned() };
    let line = |report: &Report| report.curve.iter().map(|(nines, seconds)| (*nines, height(*seconds))).collect();
    let last = reports.iter().flat_map(|(_, report)| &report.curve).map(|(nines, _)| *nines).fold(1.0, f64::max);
    let marks = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"];
    let marks = (0..).map(f64::from).zip(marks.map(str::to_owned)).filter(|(at, _)| *at <= last).collect();
    Plot {
        title: "share of responses within …".to_owned(),
        x: Axis { low: 0.0, high: last, marks },
        y: latencies(reports.iter().flat_map(|(_, report)| report.curve.iter().map(|(_, seconds)| *seconds))),
        lines: reports.iter().map(|(called, report)| (name(called), line(report))).collect(),
        upright: None,
    }
}

fn latency_over_time(name: &str, points: &[Interval]) -> Plot {
    let line = |what: fn(&Interval) -> f64| {
        let answered = points.iter().filter(|point| point.max > 0.0);
        answered.map(|point| (point.end, height(what(point)))).collect()
    };
    let all = points.iter().filter(|point| point.max > 0.0).flat_map(|point| [point.median, point.max]);
    Plot {
        title: format!("{name} latency over time").trim_start().to_owned(),
        x: seconds(points),
        y: latencies(all),
        lines: vec![
            ("50 %".to_owned(), line(|point| point.median)),
            ("99 %".to_owned(), line(|point| point.p99)),
            ("longest".to_owned(), line(|point| point.max)),
        ],
        upright: None,
    }
}

fn rate_over_time(name: &str, points: &[Interval]) -> Plot {
    let starts = std::iter::once(0.0).chain(points.iter().map(|point| point.end));
    let rates: Vec<(f64, f64, f64)> = points
        .iter()
        .zip(starts)
        .map(|(point, start)| {
            let length = (point.end - start).max(1e-9);
            (point.end, (point.requests - point.failed) as f64 / length, point.failed as f64 / length)
        })
        .collect();
    let most = rates.iter().map(|(_, completed, failed)| completed.max(*failed)).fold(0.0, f64::max);
    let mut lines =
        vec![("completed".to_owned(), rates.iter().map(|(end, completed, _)| (*end, *completed)).collect())];
    if rates.iter().any(|(_, _, failed)| *failed > 0.0) {
        lines.push(("failed".to_owned(), rates.iter().map(|(end, _, failed)| (*end, *failed)).collect()));
    }
    let title = format!("{name} requests/s over time").trim_start().to_owned();
    Plot { title, x: seconds(points), y: Axis::linear(most, |rate| format!("{rate}")), lines, upright: None }
}

fn seconds(points: &[Interval]) -> Axis {
    let end = points.last().map_or(1.0, |point| point.end);
    let axis = Axis::linear(end, |seconds| format!("{} s", (seconds * 1000.0).round() / 1000.0));
    Axis { high: end.max(1e-9), ..axis }
}

fn latencies(all: impl Iterator<Item = f64> + Clone) -> Axis {
    let least = all.clone().map(|seconds| seconds.max(MIN_SECONDS)).fold(f64::INFINITY, f64::min);
    let most = all.fold(MIN_SECONDS, f64::max);
    let least = if least.is_finite() { least } else { MIN_SECONDS };
    Axis::logarithmic(least, most, time)
}

fn height(seconds: f64) -> f64 {
    seconds.max(MIN_SECONDS).log10()
}

/// Joins neighbours until the points fit: their worst values, and the mean of their medians.
fn thinned(intervals: &[Interval]) -> Vec<Interval> {
    let group = intervals.len().div_ceil(MAX_POINTS).max(1);
    let join = |group: &[Interval]| {
        let worst = |what: fn(&Interval) -> f64| group.iter().map(what).fold(0.0, f64::max);
        let answered = group.iter().filter(|interval| interval.max > 0.0).count().max(1);
        Interval {
            end: worst(|interval| interval.end),
            requests: group.iter().map(|interval| interval.requests).sum(),
            failed: group.iter().map(|interval| interval.failed).sum(),
            median: group.iter().map(|interval| interval.median).sum::<f64>() / answered as f64,
            p99: worst(|interval| interval.p99),
            max: worst(|interval| interval.max),
        }
    };
    intervals.chunks(group).map(join).collect()
}

fn notes(report: &Report, before: &str) -> String {
    let mut html = String::new();
    for failure in &report.failures {
        let first = escape(&failure.first);
        let _ = write!(html, "<p>{before}{} failed: {}, the first: {first}</p>", failure.count, failure.cause);
    }
    for note in &report.notes {
        let _ = write!(html, "<p>{before}{}</p>", escape(note));
    }
    html
}
