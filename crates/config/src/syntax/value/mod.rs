//! Parsers of values: numbers, sizes, durations, switches. Error messages state what was expected.

pub mod network;

use std::ops::RangeInclusive;
use std::time::Duration;

/// Parses `On` or `Off`.
pub fn flag(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("expected On or Off, got \"{text}\"")),
    }
}

/// Parses a whole number within bounds.
pub fn number(text: &str, bounds: &RangeInclusive<u64>) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| format!("expected {}, got \"{text}\"", number_words(bounds)))
}

/// Formats bounds: `a number from 1 to 20000`.
pub fn number_words(bounds: &RangeInclusive<u64>) -> String {
    format!("a number from {} to {}", bounds.start(), bounds.end())
}

/// Parses `1000` or `1000-1500`.
pub fn range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let wrong = || format!("expected a number, or a range like 1000-1500, got \"{text}\"");
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let low: u64 = low.parse().map_err(|_| wrong())?;
    let high: u64 = high.parse().map_err(|_| wrong())?;
    if low > high || (low == 0 && high > 0) {
        return Err(format!("expected a range from 1 up whose second number is greater, got \"{text}\""));
    }
    Ok(low..=high)
}

/// Parses `64K`, `512M`, `2G`; a bare number is bytes.
pub fn size(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, u64)] = &[("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];
    with_unit(text, UNITS).ok_or_else(|| format!("expected a size like 64K, 512M or 2G, got \"{text}\""))
}

/// Parses `500ms`, `2s`, `5m`, `1h`; a bare number is seconds. `mi` and `min` are httpd's spellings of minutes.
pub fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: &[(&str, u64)] =
        &[("", 1000), ("ms", 1), ("s", 1000), ("m", 60_000), ("mi", 60_000), ("min", 60_000), ("h", 3_600_000)];
    match with_unit(text, UNITS) {
        Some(millis) => Ok(Duration::from_millis(millis)),
        None => Err(format!("expected a duration like 500ms, 2s, 5m or 1h, got \"{text}\"")),
    }
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_bare_numbers_are_seconds() {
        let millis = |text: &str| duration(text).map(|d| d.as_millis()).ok();
        assert_eq!(millis("500ms"), Some(500));
        assert_eq!(millis("2"), Some(2000));
        assert_eq!(millis("5m"), millis("5min"));
        assert_eq!(millis("1H"), Some(3_600_000));
        for wrong in ["", "s", "-1", "1.5s", "2 s", "9999999999999999999h"] {
            assert_eq!(millis(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units_and_bare_numbers_are_bytes() {
        assert_eq!(size("64K"), Ok(65536));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert_eq!(size("0"), Ok(0));
        assert!(size("2T").is_err());
    }

    #[test]
    fn a_range_begins_at_one_and_does_not_run_backwards() {
        assert_eq!(range("0"), Ok(0..=0));
        assert_eq!(range("1000-1500"), Ok(1000..=1500));
        for wrong in ["1500-1000", "0-10", "a", "-5", "1-2-3"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
