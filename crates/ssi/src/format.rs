//! Sizes and times as `config sizefmt` and `config timefmt` print them.

use std::fmt::Write as _;

use chrono::{DateTime, Datelike as _, FixedOffset, Timelike as _};

/// Longest formatted time, in bytes.
pub const MAX_TIME: usize = 4096;

/// A size in at most four characters, as `ls -h`: `sizefmt="abbrev"`.
pub fn abbreviated(size: u64) -> String {
    let (mut size, mut units) = (size, "KMGTPE".chars());
    if size < 973 {
        return format!("{size:3} ");
    }
    loop {
        let remainder = size & 1023;
        size >>= 10;
        let unit = units.next().unwrap_or('E');
        if size >= 973 {
            continue;
        }
        if size < 9 || (size == 9 && remainder < 973) {
            let tenths = (remainder * 5 + 256) / 512;
            let (whole, tenths) = if tenths >= 10 { (size + 1, 0) } else { (size, tenths) };
            return format!("{whole}.{tenths}{unit}");
        }
        return format!("{:3}{unit}", size + u64::from(remainder >= 512));
    }
}

/// A size with a comma before each group of three digits: `sizefmt="bytes"`.
pub fn in_bytes(size: u64) -> String {
    let digits = size.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time in a zone with this name, in the format of strftime(3) in the C locale. Unknown conversions stay as written.
pub fn time(at: &DateTime<FixedOffset>, zone: &str, format: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(format.len() * 2);
    let mut rest = format;
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            text.push(*first);
            rest = after;
        } else {
            let modifier = usize::from(matches!(after.first(), Some(b'E' | b'O' | b'-' | b'_' | b'0' | b'^' | b'#')));
            let written = rest.get(..2 + modifier).unwrap_or(rest);
            match written.get(1 + modifier) {
                Some(conversion) => text.extend(converted(at, zone, *conversion).unwrap_or_else(|| written.to_vec())),
                None => text.extend_from_slice(written),
            }
            rest = rest.get(written.len()..).unwrap_or_default();
        }
        if text.len() > MAX_TIME {
            text.truncate(MAX_TIME);
            break;
        }
    }
    text
}

/// Conversions that chrono prints as strftime(3) does.
const SHARED: &[u8] = b"aAbBCdeFgGhHIjklmMpPrRsSTuUVwWyYD";

fn converted(at: &DateTime<FixedOffset>, zone: &str, conversion: u8) -> Option<Vec<u8>> {
    let mut text = String::new();
    match conversion {
        b'%' => text.push('%'),
        b'n' => text.push('\n'),
        b't' => text.push('\t'),
        b'Z' => text.push_str(zone),
        b'z' => write!(text, "{}", at.format("%z")).ok()?,
        b'c' => write!(text, "{}", at.format("%a %b %e %H:%M:%S %Y")).ok()?,
        b'x' => write!(text, "{}", at.format("%m/%d/%y")).ok()?,
        b'X' => write!(text, "{}", at.format("%H:%M:%S")).ok()?,
        b'y' => write!(text, "{:02}", at.year().rem_euclid(100)).ok()?,
        b'k' => write!(text, "{:2}", at.hour()).ok()?,
        known if SHARED.contains(&known) => write!(text, "{}", at.format(&format!("%{}", char::from(known)))).ok()?,
        _ => return None,
    }
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_four_characters_or_commas() {
        for (size, expected) in
            [(0, "  0 "), (14, " 14 "), (1024, "1.0K"), (5_500_000, "5.2M"), (20_000, " 20K"), (u64::MAX, " 16E")]
        {
            assert_eq!(abbreviated(size), expected, "{size}");
        }
        assert_eq!([100, 1024, 5_500_000].map(in_bytes), ["100", "1,024", "5,500,000"]);
    }

    #[test]
    fn times_have_the_conversions_of_strftime() {
        let at = DateTime::from_timestamp(1_024_093_565, 0).expect("a time").fixed_offset();
        let shown = |format: &str| String::from_utf8(time(&at, "UTC", format.as_bytes())).expect("text");
        assert_eq!(
            shown("%a %A %b %B %d %e %H %I %j %m %M %p %S %U %w %W %y %Y %Z %% %D %T %F %s"),
            "Fri Friday Jun June 14 14 22 10 165 06 26 PM 05 23 5 23 02 2002 UTC % 06/14/02 22:26:05 2002-06-14 \
             1024093565"
        );
        assert_eq!(shown("%R, %B %d, %Y %Q %"), "22:26, June 14, 2002 %Q %");
        assert_eq!(shown(&"%A".repeat(10_000)).len(), MAX_TIME);
    }
}
