//! Draws the sweep: rate and response time by number of workers, with the knee.

use super::{PointReport, TuneReport};
use bench::report::units::{three, time};
use bench::report::{Axis, Plot};

/// Colours for dark mode. The light ones are attributes, because not every program that draws SVG knows style sheets.
const DARK: &str = "\
@media(prefers-color-scheme:dark){.paper{fill:#14191f}text{fill:#e6eaee}text.below,text.beside{fill:#97a3af}.rule{stroke:#2b343d}\
.one{stroke:#2dd4bf}.two{stroke:#fb923c}.three{stroke:#a78bfa}.four,.upright{stroke:#f87171}text.mark{fill:#f87171}}";

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 280.0;

/// Draws the sweep as an SVG without external resources.
pub fn draw(report: &TuneReport) -> String {
    let plots = [rates(report), times(report), latencies(report)];
    let height = HEIGHT * plots.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"system-ui,sans-serif\" \
         font-size=\"12\" fill=\"#1f2933\"><style>{DARK}</style><rect class=\"paper\" fill=\"#ffffff\" width=\"{WIDTH}\" height=\"{height}\"/>"
    );
    for (number, plot) in plots.iter().enumerate() {
        svg += &format!("<g transform=\"translate(0 {})\">{}</g>", HEIGHT * number as f64, plot.drawn());
    }
    svg + "</svg>\n"
}

fn rates(report: &TuneReport) -> Plot {
    let most =
        report.points.iter().map(|point| point.requests_per_second + point.margin.unwrap_or(0.0)).fold(0.0, f64::max);
    let with = |sign: f64| move |point: &PointReport| point.requests_per_second + sign * point.margin.unwrap_or(0.0);
    Plot {
        title: format!("requests/s by workers, {} visitors", report.visitors),
        y: Axis::linear(most, three),
        lines: vec![
            ("answered".to_owned(), line(report, |point| point.requests_per_second)),
            ("95 % within".to_owned(), line(report, with(1.0))),
            (String::new(), line(report, with(-1.0))),
        ],
        ..framed(report)
    }
}

fn times(report: &TuneReport) -> Plot {
    let most = report.points.iter().map(|point| point.per_request.busy).fold(0.0, f64::max);
    Plot {
        title: "time of a request in its worker".to_owned(),
        y: Axis::linear(most, time),
        lines: vec![
            ("total".to_owned(), line(report, |point| point.per_request.busy)),
            ("cpu wait".to_owned(), line(report, |point| point.per_request.queued)),
            ("cpu time".to_owned(), line(report, |point| point.per_request.cpu)),
        ],
        ..framed(report)
    }
}

fn latencies(report: &TuneReport) -> Plot {
    let most = report.points.iter().map(|point| point.latency).fold(0.0, f64::max);
    Plot {
        title: "mean response time".to_owned(),
        y: Axis::linear(most, time),
        lines: vec![("answer".to_owned(), line(report, |point| point.latency))],
        ..framed(report)
    }
}

/// A plot with the axis of workers and a mark at the chosen number.
fn framed(report: &TuneReport) -> Plot {
    let last = report.points.last().map_or(2.0, |point| f64::from(point.workers.max(2)));
    let marks = report.points.iter().map(|point| (across(point.workers), point.workers.to_string())).collect();
    Plot {
        title: String::new(),
        x: Axis { low: 0.0, high: last.log2(), marks: apart(marks) },
        y: Axis::linear(1.0, three),
        lines: Vec::new(),
        upright: Some((across(report.chosen), format!("{}", report.chosen))),
    }
}

fn across(workers: u32) -> f64 {
    f64::from(workers.max(1)).log2()
}

/// Leaves out marks that would overlap.
fn apart(marks: Vec<(f64, String)>) -> Vec<(f64, String)> {
    const MIN_DISTANCE: f64 = 0.25;
    let mut kept: Vec<(f64, String)> = Vec::new();
    for mark in marks {
        if kept.last().is_none_or(|last| mark.0 - last.0 >= MIN_DISTANCE) {
            kept.push(mark);
        }
    }
    kept
}

fn line(report: &TuneReport, what: impl Fn(&PointReport) -> f64) -> Vec<(f64, f64)> {
    report.points.iter().map(|point| (across(point.workers), what(point))).collect()
}
