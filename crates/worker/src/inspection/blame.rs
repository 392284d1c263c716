//! Finds the owners of pages that this worker no longer shares with its mold.
//!
//! A page that the mold has too became private by a write: it is charged to the owners of the words that differ. A
//! page that is new, or has the mold's content again, is charged to the owners of the values on it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use libperl::{Owned, ValueSpan};
use serde_json::json;

use super::private_pages::{PAGE, PageRun, compare};

/// Maximum number of owners in a report; further ones are summed as `OTHERS`.
const MAX_OWNERS: usize = 500;
const OTHERS: &str = "(others)";

/// Bytes of private pages charged to an owner, by the reason why they are private.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Share {
    /// The mold has no page there.
    new: f64,
    /// The content differs from the mold's.
    written: f64,
    /// Weight of a page on which only a reference count differs from the mold's.
    counted: f64,
    /// The content is the same as the mold's again.
    restored: f64,
}

/// A JSON object: for each owner the bytes that are new, written, counted and restored, see [`Share`]. Together these
/// cover all pages of `runs`.
pub fn blame(owned: &Owned, runs: &[PageRun], ours: &File, molds: &File) -> io::Result<String> {
    let mut shares = Shares::new();
    for run in runs {
        compare(run, ours, molds, |at, own, other| {
            let page = Page { at, spans: spans_on(&owned.spans, at), mapping: &run.mapping };
            match other {
                None => page.by_living(&mut shares, |share| &mut share.new),
                Some(other) if own == other => page.by_living(&mut shares, |share| &mut share.restored),
                Some(other) => page.by_writers(own, other, &mut shares),
            }
        })?;
    }
    Ok(report(owned, shares))
}

/// Owner of a piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner<'a> {
    /// Index of the owner's name in `Owned::names`.
    Perl(u32),
    /// Memory outside Perl's values: the name of the mapping.
    Mapping(&'a str),
}

type Shares<'a> = BTreeMap<Owner<'a>, Share>;

struct Page<'a> {
    at: usize,
    /// Spans on this page, by address.
    spans: &'a [ValueSpan],
    mapping: &'a str,
}

/// The spans that touch `page`. `spans` are sorted and do not overlap.
fn spans_on(spans: &[ValueSpan], page: usize) -> &[ValueSpan] {
    let first = spans.partition_point(|span| span.start.saturating_add(span.length) <= page);
    let end = spans.partition_point(|span| span.start < page + PAGE);
    spans.get(first..end).unwrap_or_default()
}

impl<'a> Page<'a> {
    /// Divides the page among the owners of values on it, in proportion to their bytes.
    fn by_living(&self, shares: &mut Shares<'a>, kind: fn(&mut Share) -> &mut f64) {
        let on_it =
            |span: &ValueSpan| span.start.saturating_add(span.length).min(self.at + PAGE) - span.start.max(self.at);
        let used: usize = self.spans.iter().map(on_it).sum();
        for span in self.spans {
            let share = shares.entry(Owner::Perl(span.owner)).or_default();
            *kind(share) += (PAGE * on_it(span)) as f64 / used as f64;
        }
        if used == 0 {
            *kind(shares.entry(Owner::Mapping(self.mapping)).or_default()) += PAGE as f64;
        }
    }

    /// Divides the page among the owners of words that differ from the mold's, in proportion to their number.
    fn by_writers(&self, own: &[u8], other: &[u8], shares: &mut Shares<'a>) {
        let words = own.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0).enumerate();
        let changed: Vec<(Owner<'a>, bool)> = words
            .filter(|(_, (own, other))| own != other)
            .map(|(word, (own, other))| self.writer(self.at + word * 8, own, other))
            .collect();
        for (owner, is_count) in &changed {
            let share = shares.entry(*owner).or_default();
            *(if *is_count { &mut share.counted } else { &mut share.written }) += PAGE as f64 / changed.len() as f64;
        }
    }

    /// The owner of the word at this address, and whether only a reference count changed in it.
    fn writer(&self, at: usize, own: &[u8; 8], other: &[u8; 8]) -> (Owner<'a>, bool) {
        let next = self.spans.partition_point(|span| span.start <= at);
        let before = next.checked_sub(1).and_then(|last| self.spans.get(last));
        match before.filter(|span| at - span.start < span.length) {
            Some(span) => (Owner::Perl(span.owner), span.is_head && at == span.start + 8 && own[4..] == other[4..]),
            None => (Owner::Mapping(self.mapping), false),
        }
    }
}

impl Share {
    fn sum(&self) -> f64 {
        self.new + self.written + self.counted + self.restored
    }

    fn add(&mut self, other: Share) {
        self.new += other.new;
        self.written += other.written;
        self.counted += other.counted;
        self.restored += other.restored;
    }
}

fn report(owned: &Owned, shares: Shares<'_>) -> String {
    let mut shares: Vec<(Owner<'_>, Share)> = shares.into_iter().collect();
    shares.sort_by(|(_, a), (_, b)| b.sum().total_cmp(&a.sum()));
    let mut by_name: BTreeMap<String, Share> = BTreeMap::new();
    for (place, (owner, share)) in shares.into_iter().enumerate() {
        let name = match owner {
            _ if place >= MAX_OWNERS => OTHERS.to_owned(),
            Owner::Perl(index) => owned.names.get(index as usize).cloned().unwrap_or_default(),
            Owner::Mapping("") => "(no variable) memory without a name".to_owned(),
            Owner::Mapping(mapping) => format!("(no variable) {mapping}"),
        };
        by_name.entry(name).or_default().add(share);
    }
    let bytes =
        |Share { new, written, counted, restored }| json!([new, written, counted, restored].map(|sum| sum as u64));
    let shares = by_name.into_iter().map(|(name, share)| (name, bytes(share)));
    serde_json::Value::Object(shares.collect()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, length: usize, owner: u32) -> ValueSpan {
        ValueSpan { start, length, owner, is_head: length == 24 }
    }

    #[test]
    fn a_page_belongs_to_the_written_value_not_to_its_neighbours() {
        let spans = [span(4096, 24, 0), span(4120, 24, 1), span(5000, 1000, 2)];
        let page = Page { at: 4096, spans: spans_on(&spans, 4096), mapping: "[heap]" };
        let (old, mut new) = ([7_u8; PAGE], [7_u8; PAGE]);
        // The second value's reference count, and a byte outside Perl's values.
        new[24 + 8] = 8;
        new[PAGE - 1] = 8;
        let mut shares = Shares::new();
        page.by_writers(&new, &old, &mut shares);
        assert_eq!(shares.len(), 2);
        assert_eq!(shares[&Owner::Perl(1)], Share { counted: 2048.0, ..Share::default() });
        assert_eq!(shares[&Owner::Mapping("[heap]")], Share { written: 2048.0, ..Share::default() });
        // The flags of a value are no reference count.
        new[24 + 12] = 8;
        page.by_writers(&new, &old, &mut shares);
        assert_eq!(shares[&Owner::Perl(1)], Share { counted: 2048.0, written: 2048.0, ..Share::default() });
    }

    #[test]
    fn an_unwritten_page_belongs_to_the_owners_of_its_values() {
        let spans = [span(0, 4096 + 300, 0), span(5000, 100, 1)];
        let mut shares = Shares::new();
        Page { at: 4096, spans: spans_on(&spans, 4096), mapping: "" }.by_living(&mut shares, |share| &mut share.new);
        assert_eq!((shares[&Owner::Perl(0)].new, shares[&Owner::Perl(1)].new), (3072.0, 1024.0));
        Page { at: 8192, spans: &[], mapping: "" }.by_living(&mut shares, |share| &mut share.restored);
        assert_eq!(shares[&Owner::Mapping("")].restored, PAGE as f64);
    }

    #[test]
    fn many_owners_are_summed_as_others() {
        let names = (0..1000).map(|n| format!("A ${n}")).collect();
        let shares = (0..1000).map(|n| (Owner::Perl(n), Share { new: f64::from(n), ..Share::default() })).collect();
        let text = report(&Owned { names, spans: Vec::new() }, shares);
        let shares: BTreeMap<String, [u64; 4]> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(shares.len(), MAX_OWNERS + 1);
        assert_eq!(shares["A $999"], [999, 0, 0, 0]);
        assert_eq!(shares[OTHERS][0], (0..500).sum::<u64>());
    }
}
