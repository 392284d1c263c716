//! The `Range` header (RFC 9110, section 14), with httpd's limits on it (`MaxRanges`, `MaxRangeOverlaps`,
//! `MaxRangeReversals`).
//! Without limits, a request of a few hundred bytes could ask for a large file many times over (CVE-2011-3192).

use config::response::ranges::Ranges;

/// The result of a `Range` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedRanges {
    /// The whole file: the header is absent, ignored, or asks for more than is allowed.
    Whole,
    /// The requested parts; each from its first byte to one past its last.
    Parts(Vec<(u64, u64)>),
    /// All parts are beyond the end of the file: a 416.
    Nothing,
}

/// Parses the header's value for a file of `size` bytes. An invalid value is ignored (RFC 9110, section 14.2).
/// More parts than `allowed` are answered with the whole file, which costs less.
pub fn parse(value: &[u8], size: u64, allowed: Ranges) -> RequestedRanges {
    let specs = std::str::from_utf8(value).ok().and_then(|text| text.split_once('='));
    let Some((unit, specs)) = specs else { return RequestedRanges::Whole };
    if size == 0 || !unit.trim().eq_ignore_ascii_case("bytes") || specs.split(',').count() > allowed.most() {
        return RequestedRanges::Whole;
    }
    let mut parts = Vec::new();
    for spec in specs.split(',').map(str::trim).filter(|spec| !spec.is_empty()) {
        match part(spec, size) {
            Err(NotARange) => return RequestedRanges::Whole,
            Ok(Some(part)) => parts.push(part),
            Ok(None) => {}
        }
    }
    match parts.len() {
        0 => RequestedRanges::Nothing,
        2.. if !is_in_order(&parts, allowed) => RequestedRanges::Whole,
        _ => match merged(parts) {
            // Parts that do not overlap their neighbours can still overlap others and add up to more than the file.
            parts if parts.len() > 1 && length(&parts) > u128::from(size) => RequestedRanges::Whole,
            parts => RequestedRanges::Parts(parts),
        },
    }
}

fn length(parts: &[(u64, u64)]) -> u128 {
    parts.iter().map(|(from, to)| u128::from(to - from)).sum()
}

/// Joins each part with its predecessor where both overlap or touch, as httpd does.
fn merged(parts: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(parts.len());
    for part in parts {
        match merged.last_mut() {
            Some(last) if part.0 <= last.1 && last.0 <= part.1 => *last = (last.0.min(part.0), last.1.max(part.1)),
            _ => merged.push(part),
        }
    }
    merged
}

/// Whether overlaps and reversals stay within `allowed`. Each part is compared with its predecessor, as in httpd.
fn is_in_order(parts: &[(u64, u64)], allowed: Ranges) -> bool {
    let pairs = || parts.iter().zip(parts.iter().skip(1));
    let overlaps = pairs().filter(|(before, part)| part.0 < before.1 && before.0 < part.1).count();
    let reversals = pairs().filter(|(before, part)| part.0 < before.0).count();
    overlaps <= allowed.overlaps() && reversals <= allowed.reversals()
}

struct NotARange;

/// The part for `first-last`, `first-` or `-suffix`; `None` if it lies beyond the end of the file.
fn part(spec: &str, size: u64) -> Result<Option<(u64, u64)>, NotARange> {
    let (first, last) = spec.split_once('-').ok_or(NotARange)?;
    let (first, last) = (number(first)?, number(last)?);
    match (first, last) {
        // `-` has no number, and `-0` asks for the last 0 bytes: both are invalid in httpd.
        (None, None | Some(0)) => Err(NotARange),
        (None, Some(suffix)) => Ok(Some((size - suffix.min(size), size))),
        (Some(first), Some(last)) if last < first => Err(NotARange),
        (Some(first), _) if first >= size => Ok(None),
        (Some(first), last) => Ok(Some((first, last.map_or(size, |last| last.saturating_add(1).min(size))))),
    }
}

fn number(text: &str) -> Result<Option<u64>, NotARange> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotARange);
    }
    // A number of more than 64 bits exceeds any file size, and so does the largest 64-bit number.
    Ok(Some(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::RequestedRanges::*;
    use super::*;
    use config::response::ranges::RangeBound;

    #[test]
    fn ranges_are_parsed_by_the_rfc() {
        let cases: &[(&str, u64, RequestedRanges)] = &[
            ("bytes=0-0", 10, Parts(vec![(0, 1)])),
            ("bytes=0-", 10, Parts(vec![(0, 10)])),
            ("bytes=5-100", 10, Parts(vec![(5, 10)])),
            ("bytes=-3", 10, Parts(vec![(7, 10)])),
            ("bytes=-30", 10, Parts(vec![(0, 10)])),
            ("Bytes = 1-2 , 4-5", 10, Parts(vec![(1, 3), (4, 6)])),
            ("bytes=0-1,,8-", 10, Parts(vec![(0, 2), (8, 10)])),
            ("bytes=10-", 10, Nothing),
            ("bytes=-0", 10, Whole),
            ("bytes=20-30,-0", 10, Whole),
            ("bytes=20-30,5-2", 10, Whole),
            ("bytes=0-5,3-8", 10, Parts(vec![(0, 9)])),
            ("bytes=0-3,4-5", 10, Parts(vec![(0, 6)])),
            ("bytes=2-5,0-3", 10, Parts(vec![(0, 6)])),
            ("bytes=0-3,2-5,9-", 10, Parts(vec![(0, 6), (9, 10)])),
            ("bytes=5-6,0-1", 10, Parts(vec![(5, 7), (0, 2)])),
            ("bytes=99999999999999999999999-", 10, Nothing),
            ("bytes=0-18446744073709551615", 10, Parts(vec![(0, 10)])),
            ("bytes=0-5,20-30", 10, Parts(vec![(0, 6)])),
            ("bytes=0-9,0-9", 10, Parts(vec![(0, 10)])),
            ("bytes=5-2", 10, Whole),
            ("bytes=a-b", 10, Whole),
            ("bytes=-", 10, Whole),
            ("bytes=+1-2", 10, Whole),
            ("bytes", 10, Whole),
            ("lines=1-2", 10, Whole),
            ("bytes=0-", 0, Whole),
            ("bytes=0-,-5", u64::MAX, Parts(vec![(0, u64::MAX)])),
        ];
        for (value, size, expected) in cases {
            assert_eq!(parse(value.as_bytes(), *size, Ranges::default()), *expected, "{value}");
        }
        assert_eq!(parse(b"bytes=\xff-", 10, Ranges::default()), Whole);
    }

    #[test]
    fn many_parts_and_parts_in_disorder_are_the_whole() {
        let count = |specs: Vec<String>, allowed: Ranges| match parse(
            format!("bytes={}", specs.join(",")).as_bytes(),
            10_000,
            allowed,
        ) {
            Parts(parts) => Some(parts.len()),
            _ => None,
        };
        let ordered = |n: usize| (0..n).map(|n| format!("{}-{}", n * 10, n * 10)).collect::<Vec<_>>();
        let reversed = |n: usize| ordered(n).into_iter().rev().collect::<Vec<_>>();
        let overlapping = |n: usize| (0..n).map(|n| format!("{}-{}", n, n + 1)).collect::<Vec<_>>();
        let usual = Ranges::default();
        assert_eq!((count(ordered(200), usual), count(ordered(201), usual)), (Some(200), None));
        assert_eq!((count(reversed(21), usual), count(reversed(22), usual)), (Some(21), None));
        assert_eq!((count(overlapping(21), usual), count(overlapping(22), usual)), (Some(1), None));
        let mut wide = Ranges::default();
        for bound in [RangeBound::Most, RangeBound::Overlaps, RangeBound::Reversals] {
            wide.set(bound, "Unlimited").expect("a word");
        }
        assert_eq!((count(ordered(999), wide), count(reversed(999), wide)), (Some(999), Some(999)));
        assert_eq!(count(overlapping(999), wide), Some(1));
        let far = |n: usize| if n.is_multiple_of(2) { "0-9000" } else { "9500-" }.to_owned();
        assert_eq!(count((0..99).map(far).collect(), wide), None, "more than the file");
    }
}
