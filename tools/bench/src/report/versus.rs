//! The report on a comparison of two servers.

use std::fmt::Write;

use serde::Serialize;

use super::super::plan::RunPlan;
use super::super::versus::{Ratio, Round, Versus};
use super::Report;
use super::text::how;
use super::units::{three, time};

/// Two servers, measured in turns so that noise of the machine hits both.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The first server.
    pub a: Report,
    /// The second server.
    pub b: Report,
    /// Number of rounds with each server.
    pub rounds: usize,
    /// The compared numbers, in the order of the report.
    pub ratios: Vec<Compared>,
}

/// A number of both servers.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// The name of the number with its unit, as printed.
    pub of: &'static str,
    /// The second server's number divided by the first's; `None`: the number is missing.
    pub ratio: Option<f64>,
    /// Lower bound of the 95 % confidence interval.
    pub low: Option<f64>,
    /// Upper bound of the 95 % confidence interval.
    pub high: Option<f64>,
    /// Whether the difference is significant.
    pub difference: bool,
    #[serde(skip)]
    a: String,
    #[serde(skip)]
    b: String,
    #[serde(skip)]
    verdict: String,
}

impl Comparison {
    /// The result of these plans.
    pub fn new(a: &RunPlan, b: &RunPlan, versus: &Versus) -> Comparison {
        let (a, b) = (Report::new(a, &versus.a), Report::new(b, &versus.b));
        let rate = Ratio::of(&versus.rounds, |round: &Round| round.rate);
        let median = Ratio::of(&versus.rounds, |round| round.median);
        let p99 = Ratio::of(&versus.rounds, |round| round.p99);
        let latency = |q| [&a, &b].map(|report| time(report.latency.quantile(q)));
        let rates = [&a, &b].map(|report| three(report.requests_per_second));
        let ratios = vec![
            compared("requests/s", rates, rate, "answers", "times as many requests per second as"),
            compared("median latency", latency(0.5), median, "takes", "times as long as"),
            compared("99 % latency", latency(0.99), p99, "takes", "times as long as"),
        ];
        Comparison { a, b, rounds: versus.rounds.len(), ratios }
    }

    /// Failed requests of both servers.
    pub fn failed(&self) -> u64 {
        self.a.failed + self.b.failed
    }

    /// Pretty-printed, with a newline at the end.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The comparison for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!(
            "A  {}\nB  {}\n{} alternating rounds of each, {}\n\n",
            self.a.url,
            self.b.url,
            self.rounds,
            how(&self.a)
        );
        let _ = writeln!(text, "{:<15}{:>11}{:>11}{:>9}   95 % interval", "", "A", "B", "B/A");
        for compared in &self.ratios {
            let _ = writeln!(text, "{:<15}{:>11}{:>11}{}", compared.of, compared.a, compared.b, compared.numbers());
        }
        let _ = writeln!(text, "{:<15}{:>11}{:>11}\n", "failed", self.a.failed, self.b.failed);
        for compared in &self.ratios {
            let _ = writeln!(text, "{}: {}", compared.of, compared.verdict);
        }
        for (name, report) in [("A", &self.a), ("B", &self.b)] {
            for failure in &report.failures {
                let _ =
                    writeln!(text, "{name} failed: {} {}, the first: {}", failure.count, failure.cause, failure.first);
            }
            for note in &report.notes {
                let _ = writeln!(text, "\nnote on {name}: {note}");
            }
        }
        text
    }

    /// Rows of name, both numbers, ratio, its bounds, and the verdict.
    pub fn rows(&self) -> Vec<[String; 7]> {
        let number = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.3}"));
        let row = |compared: &Compared| {
            let Compared { of, a, b, ratio, low, high, verdict, .. } = compared;
            let [ratio, low, high] = [ratio, low, high].map(|value| number(*value));
            [(*of).to_owned(), a.clone(), b.clone(), ratio, low, high, verdict.clone()]
        };
        self.ratios.iter().map(row).collect()
    }

    /// The comparison as a Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "A: `{}`, B: `{}`; {} alternating rounds of each, {}\n\n",
            self.a.url,
            self.b.url,
            self.rounds,
            how(&self.a)
        );
        text.push_str("| | A | B | B/A | at least | at most | |\n|:--|--:|--:|--:|--:|--:|:--|\n");
        for row in self.rows() {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        let _ = writeln!(text, "| failed | {} | {} | | | | |", self.a.failed, self.b.failed);
        text
    }
}

impl Compared {
    fn numbers(&self) -> String {
        match (self.ratio, self.low, self.high) {
            (Some(ratio), Some(low), Some(high)) => format!("{ratio:>9.3}   {low:.3} … {high:.3}"),
            _ => format!("{:>9}", "-"),
        }
    }
}

fn compared(of: &'static str, values: [String; 2], ratio: Option<Ratio>, does: &str, times: &str) -> Compared {
    let [a, b] = values;
    let difference = ratio.is_some_and(|ratio| ratio.shows_a_difference());
    let verdict = match ratio {
        None => "cannot be compared: a round has no answers".to_owned(),
        Some(ratio) if difference => format!("B {does} {:.3} {times} A", ratio.ratio),
        Some(_) => "no difference shown".to_owned(),
    };
    let (low, high) = (ratio.map(|ratio| ratio.low), ratio.map(|ratio| ratio.high));
    Compared { of, ratio: ratio.map(|ratio| ratio.ratio), low, high, difference, a, b, verdict }
}
