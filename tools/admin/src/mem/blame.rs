//! `cameleer mem --blame`: the variables, subs and packages on pages that workers no longer share with their mold.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use wire::control::Inspection;

use base::printable;
use machine::memory::{Machine, PrivateKinds};
use master::sockets::control_socket::SelfReport;
use toolkit::client::Server;
use toolkit::units::size;

/// Maximum number of owners in the table.
const SHOWN: usize = 20;

/// Bytes of private pages by owner: new, written, counted, restored (see [`Owner`]).
type PagesByOwner = BTreeMap<String, [u64; 4]>;

/// Owners of private memory in all workers.
#[derive(Debug, Serialize)]
pub struct Blame {
    /// Number of workers that answered; only workers without a request do.
    asked: usize,
    /// Number of workers that did not answer in time, or ended.
    silent: usize,
    /// Private memory of these workers, in bytes.
    private: u64,
    owners: Vec<Owner>,
    /// Private memory by kind of mapping, files and kernel memory included, in bytes: sums over these workers.
    kinds: PrivateKinds,
}

/// An owner, with bytes of private pages in all workers.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Owner {
    /// `My::Cache %CACHE`, `My::Page sub handler`, `My::Page::handler my $text`; `(no variable) …` for memory without
    /// an owner.
    name: String,
    workers: u64,
    private: u64,
    /// The mold has no page there.
    new: u64,
    /// The content differs from the mold's.
    written: u64,
    /// Weight of pages on which only reference counts differ from the mold's.
    counted: u64,
    /// The content is the same as the mold's again.
    restored: u64,
}

impl Blame {
    pub fn of(server: &mut Server) -> anyhow::Result<Blame> {
        let reports = server.inspect(Inspection::Blame)?;
        let workers: Vec<PagesByOwner> = reports.iter().filter_map(SelfReport::read).collect();
        let silent = reports.len() - workers.len();
        let answered = reports.iter().filter(|one| one.read::<PagesByOwner>().is_some());
        let kinds = sum(answered.filter_map(|one| Machine::default().private_kinds(one.pid)));
        Ok(Blame { silent, kinds, ..Blame::by(&workers) })
    }

    fn by(workers: &[PagesByOwner]) -> Blame {
        let mut all: BTreeMap<&str, (u64, [u64; 4])> = BTreeMap::new();
        for (name, seen) in workers.iter().flatten() {
            let (workers, sums) = all.entry(name).or_default();
            *workers += 1;
            sums.iter_mut().zip(seen).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        let mut owners: Vec<Owner> =
            all.into_iter().map(|(name, (workers, sums))| owner(name, workers, sums)).collect();
        owners.sort_by_key(|owner| Reverse(owner.private));
        let private = owners.iter().fold(0_u64, |sum, owner| sum.saturating_add(owner.private));
        Blame { asked: workers.len(), silent: 0, private, owners, kinds: PrivateKinds::new() }
    }
}

fn sum(all: impl Iterator<Item = PrivateKinds>) -> PrivateKinds {
    all.fold(PrivateKinds::new(), |mut sums, kinds| {
        for (kind, bytes) in kinds {
            let sum = sums.entry(kind).or_default();
            *sum = sum.saturating_add(bytes);
        }
        sums
    })
}

fn owner(name: &str, workers: u64, sizes: [u64; 4]) -> Owner {
    let [new, written, counted, restored] = sizes;
    let private = sizes.into_iter().fold(0, u64::saturating_add);
    Owner { name: name.to_owned(), workers, private, new, written, counted, restored }
}

pub fn table(blame: &Blame) -> String {
    let Blame { asked, silent, private, owners, kinds } = blame;
    let mut text = format!("{asked} idle workers have {} of unshared memory\n", size(*private));
    if *silent > 0 {
        let _ = writeln!(text, "{silent} more did not answer in time");
    }
    text.push('\n');
    let heads = ["private", "new", "written", "counted", "restored", "workers"];
    let _ = writeln!(text, "{} owner", heads.map(|head| format!("{head:>8} ")).concat());
    for owner in owners.iter().take(SHOWN) {
        let Owner { private, new, written, counted, restored, .. } = owner;
        let sizes = [private, new, written, counted, restored].map(|bytes| format!("{:>8} ", size(*bytes)));
        let _ = writeln!(text, "{}{:>8}  {}", sizes.concat(), owner.workers, printable::line(&owner.name));
    }
    if owners.len() > SHOWN {
        let _ = writeln!(text, "and {} more; --json lists all", owners.len() - SHOWN);
    }
    let mut kinds: Vec<(&String, &u64)> = kinds.iter().filter(|(_, bytes)| **bytes > 0).collect();
    kinds.sort_by_key(|(_, bytes)| Reverse(**bytes));
    if !kinds.is_empty() {
        text.push_str("\n private  kind of mapping, files and kernel memory included\n");
    }
    for (kind, bytes) in kinds.into_iter().take(SHOWN) {
        let _ = writeln!(text, "{:>8}  {}", size(*bytes), printable::line(kind));
    }
    text.push_str(
        "\nnew       came after the fork: load or build it in the mold\n\
         written   a value was changed, also by reading a number as a string or by a match with //g\n\
         counted   only its reference count was changed\n\
         restored  the value is the same again, as after a local or a temporary reference\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_workers_are_summed_by_name() {
        let seen = |of: &[(&str, [u64; 4])]| {
            of.iter().map(|(name, seen)| ((*name).to_owned(), *seen)).collect::<PagesByOwner>()
        };
        let workers =
            [seen(&[("A $x", [4096, 0, 0, 1]), ("B %h", [0, 8192, 1024, 0])]), seen(&[("B %h", [0, 4096, 0, 1024])])];
        let blame = Blame::by(&workers);
        assert_eq!((blame.asked, blame.private), (2, 4097 + 9216 + 5120));
        assert_eq!(blame.owners, [owner("B %h", 2, [0, 12288, 1024, 1024]), owner("A $x", 1, [4096, 0, 0, 1])]);
        let shown = table(&blame);
        assert!(shown.contains("   14 kB     0 kB    12 kB     1 kB     1 kB        2  B %h\n"), "{shown}");
    }
}
