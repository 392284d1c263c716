//! The memory of a server as an SVG without external resources, for light and dark mode.

use std::fmt::Write;

use super::report::{MemorySnapshot, Process, ProcessRole};
use machine::memory::MemorySizes;
use toolkit::units::size;

const WIDTH: u64 = 760;
/// Left edge of the bars, and the length of the longest.
const LEFT: u64 = 116;
const MAX_BAR: u64 = 490;
const BAR: u64 = 16;
const ROW: u64 = 26;
/// Maximum number of workers drawn: those with most private memory.
const MAX_WORKERS: usize = 40;

/// Colours for dark mode. The light ones are attributes, because not every program that draws SVG knows style sheets.
const DARK: &str = "\
@media(prefers-color-scheme:dark){.paper{fill:#14191f}text{fill:#e6eaee}text.dim{fill:#97a3af}.own{fill:#fb923c}.mold{fill:#2dd4bf}\
.still{fill:#1b6a61}.files{fill:#47525e}.gone{fill:#1e252d}}";

/// Looks of a text, as attributes.
const PLAIN: &str = "";
const DIM: &str = " class=\"dim\" fill=\"#5b6875\"";
const DIM_TO_THE_LEFT: &str = " class=\"dim\" fill=\"#5b6875\" text-anchor=\"end\"";
const TO_THE_LEFT: &str = " text-anchor=\"end\"";
const TITLE: &str = " font-size=\"16\" font-weight=\"600\"";

#[derive(Clone, Copy)]
enum BarPart {
    /// Private memory.
    Own,
    /// Shared memory of the mold.
    Mold,
    /// Memory that a worker still shares with the mold.
    Still,
    /// Pages that are backed by files.
    Files,
    /// Shared pages that RSS counts again.
    Again,
}

impl BarPart {
    /// The colour in dark mode, by its class, and the colour otherwise.
    fn look(self) -> &'static str {
        match self {
            BarPart::Own => "class=\"own\" fill=\"#c2410c\"",
            BarPart::Mold => "class=\"mold\" fill=\"#0f766e\"",
            BarPart::Still => "class=\"still\" fill=\"#99d5cd\"",
            BarPart::Files => "class=\"files\" fill=\"#cbd2d9\"",
            BarPart::Again => "class=\"gone\" fill=\"#e3e8ed\"",
        }
    }
}

/// A bar with its name and the text after it.
struct Bar {
    name: String,
    parts: Vec<(BarPart, u64)>,
    label: String,
}

pub fn draw(report: &MemorySnapshot) -> String {
    let (workers, left_out) = workers(report);
    let pool: Vec<Bar> =
        report.processes.iter().filter(|one| one.role != ProcessRole::Worker).chain(workers).filter_map(bar).collect();
    let mut canvas = Canvas::new();
    canvas.title(report);
    canvas.bars("Memory of the server, and the sum of RSS", &sums(report));
    canvas.bars("Private and shared memory of each process", &pool);
    if left_out > 0 {
        canvas.line(&format!("and {left_out} workers with less private memory"));
    }
    canvas.legend();
    canvas.finished()
}

/// The workers to draw, in the order of the table, and the number of omitted ones.
fn workers(report: &MemorySnapshot) -> (Vec<&Process>, usize) {
    let mut all: Vec<&Process> = report.all(ProcessRole::Worker).filter(|worker| worker.sizes.is_some()).collect();
    all.sort_by_key(|worker| std::cmp::Reverse(worker.sizes.map(|sizes| sizes.private)));
    let left_out = all.len().saturating_sub(MAX_WORKERS);
    all.truncate(MAX_WORKERS);
    all.sort_by_key(|worker| (worker.generation, worker.slot));
    (all, left_out)
}

/// Two bars for the whole server: each page once, and the sum of RSS.
fn sums(report: &MemorySnapshot) -> [Bar; 2] {
    let own = report.processes.iter().filter_map(|process| process.sizes).map(|sizes| sizes.private).sum::<u64>();
    let files = report.total.pss_files.min(report.total.pss.saturating_sub(own));
    let shared = report.total.pss.saturating_sub(own + files);
    let once = vec![(BarPart::Own, own), (BarPart::Mold, shared), (BarPart::Files, files)];
    let again = report.total.rss.saturating_sub(report.total.pss);
    let added_up = [once.as_slice(), &[(BarPart::Again, again)]].concat();
    [
        Bar { name: "in all".to_owned(), parts: once, label: size(report.total.pss) },
        Bar { name: "Sum of RSS".to_owned(), parts: added_up, label: size(report.total.rss) },
    ]
}

fn bar(process: &Process) -> Option<Bar> {
    let sizes = process.sizes?;
    let shared = if process.role == ProcessRole::Mold { BarPart::Mold } else { BarPart::Still };
    let files = sizes.rss.saturating_sub(sizes.private + sizes.shared_anonymous);
    Some(Bar {
        name: name(process),
        parts: vec![(BarPart::Own, sizes.private), (shared, sizes.shared_anonymous), (BarPart::Files, files)],
        label: description(process, &sizes),
    })
}

fn name(process: &Process) -> String {
    match (process.role, process.slot) {
        (ProcessRole::Worker, Some(slot)) => format!("worker {slot}"),
        (role, _) => format!("{role:?}").to_lowercase(),
    }
}

fn description(process: &Process, sizes: &MemorySizes) -> String {
    process
        .of_mold
        .map_or_else(|| size(sizes.private), |share| format!("{}, {:.0} % of mold", size(sizes.private), share * 100.0))
}

/// SVG so far and the current y position. The canvas contains only Cameleer's own texts and numbers, so nothing is
/// escaped.
struct Canvas {
    shapes: String,
    y: u64,
}

impl Canvas {
    fn new() -> Canvas {
        Canvas { shapes: String::new(), y: 0 }
    }

    fn text(&mut self, x: u64, look: &str, words: &str) {
        let _ = writeln!(self.shapes, "<text x=\"{x}\" y=\"{}\"{look}>{words}</text>", self.y);
    }

    fn line(&mut self, words: &str) {
        self.y += ROW;
        self.text(16, DIM, words);
    }

    fn title(&mut self, report: &MemorySnapshot) {
        self.y = 30;
        let count = report.all(ProcessRole::Worker).count();
        self.text(16, TITLE, &format!("{} in {count} workers and the other processes", size(report.total.pss)));
        if let Some(one) = report.one_more_worker {
            let fit = report.more_workers.map_or_else(String::new, |more| format!("; {more} more fit"));
            self.line(&format!("one more worker costs {}{fit}", size(one)));
        }
    }

    /// Draws bars of a common scale below a heading.
    fn bars(&mut self, heading: &str, bars: &[Bar]) {
        let length = |bar: &Bar| bar.parts.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let scale = bars.iter().map(length).max().unwrap_or(0).max(1);
        self.y += ROW + 14;
        self.text(16, PLAIN, heading);
        self.y += 6;
        for bar in bars {
            self.y += ROW;
            self.bar(bar, scale);
        }
    }

    fn bar(&mut self, bar: &Bar, scale: u64) {
        self.text(LEFT - 8, DIM_TO_THE_LEFT, &bar.name);
        let (mut x, top) = (LEFT as f64, self.y - 12);
        for (part, bytes) in bar.parts.iter().filter(|(_, bytes)| *bytes > 0) {
            let width = *bytes as f64 / scale as f64 * MAX_BAR as f64;
            let look = part.look();
            let _ = writeln!(
                self.shapes,
                "<rect x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{BAR}\" {look}><title>{}</title></rect>",
                size(*bytes)
            );
            x += width;
        }
        let at = x as u64 + 8;
        // After the bar or, if there is no room, at the right edge.
        match at + 8 * bar.label.len() as u64 > WIDTH {
            true => self.text(WIDTH - 16, TO_THE_LEFT, &bar.label),
            false => self.text(at, PLAIN, &bar.label),
        }
    }

    fn legend(&mut self) {
        self.y += ROW + 10;
        let mut x = 16;
        for (part, words) in [
            (BarPart::Own, "of one process"),
            (BarPart::Mold, "shared by the mold"),
            (BarPart::Still, "still shared by a worker"),
            (BarPart::Files, "files"),
            (BarPart::Again, "the same pages again"),
        ] {
            let (top, look) = (self.y - 10, part.look());
            let _ = writeln!(self.shapes, "<rect x=\"{x}\" y=\"{top}\" width=\"12\" height=\"12\" {look}/>");
            self.text(x + 18, DIM, words);
            x += 50 + 6 * words.len() as u64;
        }
    }

    fn finished(self) -> String {
        let height = self.y + 24;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#1f2933\">\n<style>{DARK}</style>\n\
             <rect class=\"paper\" fill=\"#ffffff\" width=\"{WIDTH}\" height=\"{height}\"/>\n{}</svg>\n",
            self.shapes
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::Simulated;
    use super::*;

    #[test]
    fn every_process_is_a_bar_and_nothing_leaves_the_picture() {
        let picture = draw(&Simulated::new("picture").report());
        for name in ["master", "front", "mold", "worker 0", "worker 1", "worker 2", "in all", "Sum of RSS"] {
            assert!(picture.contains(&format!(">{name}</text>")), "{name}: {picture}");
        }
        let ends = picture.lines().filter_map(|line| {
            let number = |name: &str| line.split_once(name)?.1.split_once('"')?.0.parse::<f64>().ok();
            Some(number(" x=\"")? + number(" width=\"").unwrap_or(0.0))
        });
        assert!(ends.clone().count() > 20 && ends.fold(0.0, f64::max) <= WIDTH as f64);
        assert!(!picture.contains("http://") || picture.matches("http://").count() == 1, "it needs nothing else");
    }
}
