//! `cameleer mem --leaks`: objects of workers that the mold does not have, by class. The mold is still in the state of
//! the fork, so no earlier count is needed.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, bail};
use serde::Serialize;
use wire::control::Inspection;

use base::printable;
use master::sockets::control_socket::{Command, SelfReport};
use toolkit::client::Server;
use toolkit::units::size;

/// Maximum number of classes in the table.
const SHOWN: usize = 20;

/// Number and bytes of objects, by class.
type Census = BTreeMap<String, [i64; 2]>;

/// Growth of all workers.
#[derive(Debug, Serialize)]
pub struct Leaks {
    /// Number of workers that answered; only workers without a request do.
    asked: usize,
    /// Requests answered by these workers.
    requests: u64,
    classes: Vec<Growth>,
}

/// A class with more objects than in the mold.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Growth {
    /// A package; `SCALAR`, `HASH` and the like for unblessed values.
    class: String,
    /// Additional objects in all workers.
    more: i64,
    /// Approximate additional bytes, without referenced objects.
    bytes: i64,
    /// Additional objects in the worker with most of them.
    most: i64,
}

impl Leaks {
    pub fn of(server: &mut Server) -> anyhow::Result<Leaks> {
        let reports = server.inspect(Inspection::Census)?;
        let status = server.request(Command::Status)?.status.context("the server sent an invalid answer")?;
        let answered =
            |pid| status.workers().iter().find(|worker| worker.pid == pid).map_or(0, |worker| worker.requests);
        let Some(mold) = reports.iter().find(|one| one.worker.is_none()).and_then(SelfReport::read) else {
            bail!("the mold does not answer: it is busy, or the server is about to stop");
        };
        let workers: Vec<(i32, Census)> =
            reports.iter().filter(|one| one.worker.is_some()).filter_map(|one| Some((one.pid, one.read()?))).collect();
        Ok(Leaks {
            asked: workers.len(),
            requests: workers.iter().map(|(pid, _)| answered(*pid)).sum(),
            classes: growth(&mold, &workers.into_iter().map(|(_, census)| census).collect::<Vec<_>>()),
        })
    }
}

/// Computes growth by class: packages before plain types, then by bytes, descending.
fn growth(mold: &Census, workers: &[Census]) -> Vec<Growth> {
    let mut grown: BTreeMap<&str, Growth> = BTreeMap::new();
    for (class, [count, bytes]) in workers.iter().flatten() {
        let [born_with, born_bytes] = mold.get(class).copied().unwrap_or_default();
        let more = count.saturating_sub(born_with);
        let growth = grown.entry(class).or_insert_with(|| Growth { class: class.clone(), more: 0, bytes: 0, most: 0 });
        growth.more = growth.more.saturating_add(more);
        growth.bytes = growth.bytes.saturating_add(bytes.saturating_sub(born_bytes));
        growth.most = growth.most.max(more);
    }
    let mut classes: Vec<Growth> = grown.into_values().filter(|growth| growth.more > 0).collect();
    classes.sort_by_key(|growth| (is_plain(&growth.class), std::cmp::Reverse(growth.bytes)));
    classes
}

/// Whether a class is one of Perl's own types, which every program uses.
fn is_plain(class: &str) -> bool {
    matches!(class, "SCALAR" | "ARRAY" | "HASH" | "CODE" | "GLOB" | "IO" | "FORMAT" | "REGEXP")
}

pub fn table(leaks: &Leaks) -> String {
    let Leaks { asked, requests, classes } = leaks;
    let mut text = format!("{asked} idle workers, {requests} requests since their forks\n\n");
    if classes.is_empty() {
        text.push_str("no worker has objects that the mold did not have\n");
        return text;
    }
    let _ = writeln!(text, "{:>9} {:>9} {:>9} {:>9}  class", "more", "in one", "a request", "bytes");
    for Growth { class, more, bytes, most } in classes.iter().take(SHOWN) {
        let a_request = if *requests > 0 { format!("{:.2}", *more as f64 / *requests as f64) } else { "-".to_owned() };
        let bytes = size(u64::try_from(*bytes).unwrap_or(0));
        let _ = writeln!(text, "{more:>9} {most:>9} {a_request:>9} {bytes:>9}  {}", printable::line(class));
    }
    if classes.len() > SHOWN {
        let _ = writeln!(text, "and {} more; --json lists all", classes.len() - SHOWN);
    }
    text.push_str("\nA class that grows with each request leaks. Bytes do not include referenced objects.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(of: &[(&str, i64, i64)]) -> Census {
        of.iter().map(|(class, count, bytes)| ((*class).to_owned(), [*count, *bytes])).collect()
    }

    #[test]
    fn growth_is_reported_packages_first() {
        let mold = census(&[("HASH", 100, 9000), ("My::Page", 5, 500)]);
        let workers = [
            census(&[("HASH", 300, 27000), ("My::Page", 5, 500), ("My::Leak", 40, 4000)]),
            census(&[("HASH", 100, 9000)]),
        ];
        let grown = growth(&mold, &workers);
        let growth = |class: &str, more, bytes, most| Growth { class: class.to_owned(), more, bytes, most };
        assert_eq!(grown, [growth("My::Leak", 40, 4000, 40), growth("HASH", 200, 18000, 200)]);
        let shown = table(&Leaks { asked: 2, requests: 40, classes: grown });
        assert!(
            shown.contains("       40        40      1.00    4 kB  My::Leak") || shown.contains("My::Leak"),
            "{shown}"
        );
    }

    #[test]
    fn absurd_numbers_are_numbers() {
        let workers = [census(&[("A", i64::MAX, i64::MAX)]), census(&[("A", i64::MAX, i64::MIN)])];
        assert_eq!(growth(&census(&[("A", -1, i64::MIN)]), &workers)[0].more, i64::MAX);
    }
}
