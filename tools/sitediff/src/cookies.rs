//! Cookies in a form in which two servers can be compared.

use std::time::SystemTime;

/// A cookie without its value and its times, which differ from visit to visit. Whether it outlives the browser, or is
/// removed, remains. `now`: the time of the response.
pub fn cookie(text: &str, now: SystemTime) -> String {
    let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let attributes = attributes.split(';').map(|attribute| attribute.trim().to_ascii_lowercase());
    let (times, mut kept): (Vec<String>, Vec<String>) = attributes
        .filter(|attribute| !attribute.is_empty())
        .partition(|attribute| attribute.starts_with("expires=") || attribute.starts_with("max-age="));
    let is_removed = value.trim().trim_matches('"').is_empty() || is_over(&times, now);
    if is_removed || !times.is_empty() {
        kept.push(if is_removed { "removed" } else { "kept for a time" }.to_owned());
    }
    std::iter::once(format!("{name}=…")).chain(kept).collect::<Vec<_>>().join("; ")
}

/// Whether the times remove the cookie. As in browsers, `Max-Age` takes precedence (RFC 6265, 5.3).
fn is_over(times: &[String], now: SystemTime) -> bool {
    let of = |name: &str| times.iter().rev().find_map(|time| time.strip_prefix(name));
    match of("max-age=").and_then(|seconds| seconds.trim().parse::<i64>().ok()) {
        Some(seconds) => seconds <= 0,
        None => of("expires=").and_then(date).is_some_and(|end| end <= now),
    }
}

/// The time of a date in lower case, with blanks or hyphens: `thu, 01-jan-1970 00:00:00 gmt`. Years of two digits are
/// those of RFC 6265, 5.1.1.
fn date(text: &str) -> Option<SystemTime> {
    let words: Vec<&str> = text.split([' ', '-', ',']).filter(|word| !word.is_empty()).collect();
    let &[_, day, month, year, time, ..] = words.as_slice() else { return None };
    let (day, year): (u8, u16) = (day.parse().ok()?, year.parse().ok()?);
    let year = match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    };
    let month = month.get(..1)?.to_ascii_uppercase() + month.get(1..)?;
    // The parser wants the right name of the day, which programs may spell in other ways.
    let of = |name| httpdate::parse_http_date(&format!("{name}, {day:02} {month} {year:04} {time} GMT")).ok();
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].into_iter().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_cookie_ends_before_the_response_or_is_empty() {
        let now = httpdate::parse_http_date("Fri, 27 Nov 2026 12:00:00 GMT").expect("a date");
        for (text, end) in [
            ("id=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "removed"),
            ("id=1; Expires=Fri, 27 Nov 2026 11:59:59 GMT", "removed"),
            ("id=1; Expires=Friday, 27-Nov-98 12:00:00 GMT", "removed"),
            ("id=1; Max-Age=0", "removed"),
            ("id=1; Max-Age=-1; Expires=Fri, 27 Nov 2099 12:00:00 GMT", "removed"),
            ("id=", "removed"),
            ("id=\"\"; Expires=Fri, 27 Nov 2099 12:00:00 GMT", "removed"),
            ("id=1; Expires=Fri, 27-Nov-2026 12:00:01 GMT", "kept for a time"),
            ("id=1; Max-Age=60; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "kept for a time"),
            ("id=1; Expires=Fri, 1 Jan 2038 00:00:00 GMT", "kept for a time"),
            ("id=1; Expires=soon", "kept for a time"),
            ("id=1; Expires=é, é é é é", "kept for a time"),
        ] {
            assert_eq!(cookie(text, now), format!("id=…; {end}"), "{text}");
        }
        assert_eq!(cookie("id=1", now), "id=…");
    }
}
