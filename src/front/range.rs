//! The `Range` header (RFC 9110 §14).

/// More ranges than this are an attack or a mistake; the whole file is the cheaper answer.
const MAX_RANGES: usize = 100;

/// What a client wants of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// All of it.
    Whole,
    /// These parts, as (first byte, one after the last).
    Parts(Vec<(u64, u64)>),
    /// Only parts that do not exist: 416.
    Nothing,
}

/// Reads a header's value for a file of `size` bytes. What cannot be understood is ignored, as the RFC says.
pub fn parse(value: &[u8], size: u64) -> Wanted {
    let specs = std::str::from_utf8(value).ok().and_then(|text| text.split_once('='));
    let Some((unit, specs)) = specs else { return Wanted::Whole };
    if size == 0 || !unit.trim().eq_ignore_ascii_case("bytes") || specs.split(',').count() > MAX_RANGES {
        return Wanted::Whole;
    }
    let mut parts = Vec::new();
    for spec in specs.split(',').map(str::trim).filter(|spec| !spec.is_empty()) {
        match part(spec, size) {
            Err(NotARange) => return Wanted::Whole,
            Ok(Some(part)) => parts.push(part),
            Ok(None) => {}
        }
    }
    let total: u128 = parts.iter().map(|(from, to)| u128::from(to - from)).sum();
    match parts.len() {
        0 => Wanted::Nothing,
        // Overlapping ranges can ask for a file many times over.
        2.. if total > u128::from(size) => Wanted::Whole,
        _ => Wanted::Parts(parts),
    }
}

struct NotARange;

/// `None`: outside the file.
fn part(spec: &str, size: u64) -> Result<Option<(u64, u64)>, NotARange> {
    let (first, last) = spec.split_once('-').ok_or(NotARange)?;
    let (first, last) = (number(first)?, number(last)?);
    match (first, last) {
        (None, None) => Err(NotARange),
        (None, Some(0)) => Ok(None),
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
    // A number too large for us is larger than any file.
    Ok(Some(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::Wanted::*;
    use super::*;

    #[test]
    fn ranges_are_read_as_the_rfc_says() {
        let cases: &[(&str, u64, Wanted)] = &[
            ("bytes=0-0", 10, Parts(vec![(0, 1)])),
            ("bytes=0-", 10, Parts(vec![(0, 10)])),
            ("bytes=5-100", 10, Parts(vec![(5, 10)])),
            ("bytes=-3", 10, Parts(vec![(7, 10)])),
            ("bytes=-30", 10, Parts(vec![(0, 10)])),
            ("Bytes = 1-2 , 4-5", 10, Parts(vec![(1, 3), (4, 6)])),
            ("bytes=0-1,,8-", 10, Parts(vec![(0, 2), (8, 10)])),
            ("bytes=10-", 10, Nothing),
            ("bytes=-0", 10, Nothing),
            ("bytes=99999999999999999999999-", 10, Nothing),
            ("bytes=0-18446744073709551615", 10, Parts(vec![(0, 10)])),
            ("bytes=0-5,20-30", 10, Parts(vec![(0, 6)])),
            ("bytes=0-9,0-9", 10, Whole),
            ("bytes=5-2", 10, Whole),
            ("bytes=a-b", 10, Whole),
            ("bytes=-", 10, Whole),
            ("bytes=+1-2", 10, Whole),
            ("bytes", 10, Whole),
            ("lines=1-2", 10, Whole),
            ("bytes=0-", 0, Whole),
            ("bytes=0-,-5", u64::MAX, Whole),
        ];
        for (value, size, expected) in cases {
            assert_eq!(parse(value.as_bytes(), *size), *expected, "{value}");
        }
        let many = format!("bytes={}", vec!["0-0"; 101].join(","));
        assert_eq!(parse(many.as_bytes(), 1000), Whole);
        assert_eq!(parse(b"bytes=\xff-", 10), Whole);
    }
}
