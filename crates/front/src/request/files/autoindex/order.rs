//! The order of an index, and the query by which a client chooses order and format.

use std::cmp::Ordering;

use percent_encoding::percent_decode_str;

use super::rows::IndexRow;
use super::text::{escaped, path_encoded};
use config::response::listing::{Listing, ListingColumn, ListingOption};

/// Maximum number of bytes of a pattern in the query: each name is compared with it.
const MAX_PATTERN_BYTES: usize = 64;

/// Order and filter of a listing, from the client's query.
pub struct IndexQuery {
    pub column: ListingColumn,
    pub backwards: bool,
    /// `P=`: names with another form are omitted.
    pattern: Option<Vec<u8>>,
    /// The rest of links that sort, as HTML.
    arguments: Vec<u8>,
}

impl IndexQuery {
    /// Reads `C=column;O=order;F=format;V=version sort;P=pattern`, and changes the format. As in httpd, everything
    /// behind an unknown part is ignored.
    pub fn of(listing: &mut Listing, query: &str) -> IndexQuery {
        let (column, backwards) = listing.order.unwrap_or((ListingColumn::Name, false));
        let mut order = IndexQuery { column, backwards, pattern: None, arguments: Vec::new() };
        let (mut format, mut version, mut pattern) = (None, None, None);
        for part in query.split([';', '&']) {
            match part.split_once('=') {
                Some(("C", "N")) => order.column = ListingColumn::Name,
                Some(("C", "M")) => order.column = ListingColumn::Date,
                Some(("C", "S")) => order.column = ListingColumn::Size,
                Some(("C", "D")) => order.column = ListingColumn::Description,
                Some(("O", "A")) => order.backwards = false,
                Some(("O", "D")) => order.backwards = true,
                Some(("F", chosen @ ("0" | "1" | "2"))) => format = Some(chosen),
                Some(("V", chosen @ ("0" | "1"))) => version = Some(chosen),
                Some(("P", text)) => {
                    let text: Vec<u8> = percent_decode_str(text).collect();
                    pattern = (!text.is_empty() && text.len() <= MAX_PATTERN_BYTES).then_some(text);
                }
                _ => break,
            }
        }
        if let Some(format) = format {
            listing.options.set(ListingOption::FancyIndexing, format != "0");
            listing.options.set(ListingOption::HtmlTable, format == "2");
            order.arguments.extend([&b";F="[..], format.as_bytes()].concat());
        }
        if let Some(version) = version {
            listing.options.set(ListingOption::VersionSort, version == "1");
            order.arguments.extend([&b";V="[..], version.as_bytes()].concat());
        }
        if let Some(pattern) = &pattern {
            order.arguments.extend([&b";P="[..], &escaped(&path_encoded(pattern))].concat());
        }
        order.pattern = pattern;
        order
    }

    /// Whether the index has an entry with this name.
    pub fn is_wanted(&self, name: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| {
            // A leading dot is matched only by a dot, as in the shell.
            (name.first() != Some(&b'.') || pattern.first() == Some(&b'.')) && is_match(pattern, name)
        })
    }

    /// The query that sorts by `column`; reversed if the index is already sorted by that column in ascending order.
    pub fn link(&self, column: ListingColumn) -> Vec<u8> {
        let letter = match column {
            ListingColumn::Name => 'N',
            ListingColumn::Date => 'M',
            ListingColumn::Size => 'S',
            ListingColumn::Description => 'D',
        };
        let backwards = self.column == column && !self.backwards;
        let order = format!("?C={letter};O={}", if backwards { 'D' } else { 'A' });
        [order.as_bytes(), &self.arguments[..]].concat()
    }

    /// The order of two rows.
    pub fn compare(&self, a: &IndexRow, b: &IndexRow, listing: &Listing) -> Ordering {
        let by_version = listing.has(ListingOption::VersionSort);
        let texts = |a: &[u8], b: &[u8]| if by_version { natural(a, b) } else { a.cmp(b) };
        let names = || {
            let plain = match listing.has(ListingOption::IgnoreCase) {
                true => texts(&a.name.to_ascii_lowercase(), &b.name.to_ascii_lowercase()),
                false => texts(&a.name, &b.name),
            };
            plain.then_with(|| a.name.cmp(&b.name))
        };
        let by_column = match self.column {
            ListingColumn::Name => Ordering::Equal,
            ListingColumn::Date => a.changed.cmp(&b.changed),
            ListingColumn::Size => a.size.cmp(&b.size),
            ListingColumn::Description => {
                texts(a.description.as_deref().unwrap_or_default(), b.description.as_deref().unwrap_or_default())
            }
        };
        let by_column = by_column.then_with(names);
        let is_first = |row: &IndexRow| listing.has(ListingOption::FoldersFirst) && row.is_folder && row.is_detailed;
        is_first(b).cmp(&is_first(a)).then(if self.backwards { by_column.reverse() } else { by_column })
    }
}

/// Compares texts in which runs of digits are numbers. A run that begins with 0 is compared as the digits behind a
/// decimal point, as in httpd.
fn natural(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (Some(first), Some(other)) = (a.first(), b.first()) else { return a.len().cmp(&b.len()) };
        let (mut left, mut right) = (&a[..1], &b[..1]);
        let order = if first.is_ascii_digit() && other.is_ascii_digit() {
            (left, right) = (digits(a), digits(b));
            match left.starts_with(b"0") || right.starts_with(b"0") {
                true => left.cmp(right),
                false => left.len().cmp(&right.len()).then(left.cmp(right)),
            }
        } else {
            first.cmp(other)
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[left.len()..], &b[right.len()..]);
    }
}

fn digits(text: &[u8]) -> &[u8] {
    let length = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    &text[..length]
}

/// Whether a name matches a pattern of a client, with `*`, `?` and sets: `[a-z]`, `[!a]`. Backtracking is limited to
/// the last `*`.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            retry = Some((p, n));
            continue;
        }
        match one(pattern.get(p..).unwrap_or_default(), name[n]) {
            Some(length) => (p, n) = (p + length, n + 1),
            None => {
                let Some((after_star, from)) = retry else { return false };
                retry = Some((after_star, from + 1));
                (p, n) = (after_star, from + 1);
            }
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// The length of the beginning of a pattern that matches one byte.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern.first()? {
        b'?' => Some(1),
        b'[' => match pattern.iter().skip(2).position(|end| *end == b']') {
            Some(length) => set(&pattern[1..length + 2], byte).then_some(length + 3),
            None => (byte == b'[').then_some(1),
        },
        own => (*own == byte).then_some(1),
    }
}

/// Whether a set, without its brackets, has a byte.
fn set(set: &[u8], byte: u8) -> bool {
    let (is_negated, mut rest) = match set.split_first() {
        Some((b'!' | b'^', rest)) => (true, rest),
        _ => (false, set),
    };
    let mut is_in = false;
    while let Some((first, behind)) = rest.split_first() {
        (is_in, rest) = match behind {
            [b'-', last, behind @ ..] => (is_in || (*first..=*last).contains(&byte), behind),
            _ => (is_in || *first == byte, behind),
        };
    }
    is_in != is_negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names = ["x1", "a10", "a9", "a09", "a1.5", "x001", "a1.10", "a01", "A2", "x01", "a"];
        names.sort_by(|a, b| natural(a.as_bytes(), b.as_bytes()));
        assert_eq!(names, ["A2", "a", "a01", "a09", "a1.5", "a1.10", "a9", "a10", "x001", "x01", "x1"]);
    }

    #[test]
    fn patterns_of_clients_match_as_in_the_shell() {
        for (pattern, name, expected) in [
            ("c*", "c2.txt", true),
            ("c*", "Ac", false),
            ("*.txt", "a.txt", true),
            ("[ab]?", "bx", true),
            ("[!ab]?", "bx", false),
            ("[a-c]", "b", true),
            ("[", "[", true),
            ("[]", "]", false),
            ("*a*a*a*b", &"a".repeat(200), false),
        ] {
            assert_eq!(is_match(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_query_chooses_order_and_format_up_to_an_unknown_part() {
        let mut listing = Listing::default();
        let query = IndexQuery::of(&mut listing, "C=S;O=D;F=2&V=1;P=a%3c*;X=1;C=N");
        assert_eq!((query.column, query.backwards), (ListingColumn::Size, true));
        assert!(listing.has(ListingOption::HtmlTable) && listing.has(ListingOption::VersionSort));
        assert_eq!(query.link(ListingColumn::Size), b"?C=S;O=A;F=2;V=1;P=a%3c*");
        assert!(query.is_wanted(b"a<b") && !query.is_wanted(b"b"));
        assert!(
            !IndexQuery::of(&mut listing, "P=*").is_wanted(b".a")
                && IndexQuery::of(&mut listing, "P=.*").is_wanted(b".a")
        );
    }
}
