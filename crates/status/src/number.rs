//! Number formats of httpd's `server-status?auto`, which monitoring programs parse.

/// Formats like `%g` of APR's printf, which mod_status uses: six significant digits, no zero before the point:
/// `.333333`, `27.1515`, `1.5e+06`.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-5..6).contains(&exponent) {
        let text = format!("{value:.5e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        return format!("{}e{sign}{digits:0>2}", plain(mantissa));
    }
    let decimals = (5 - exponent).max(0) as usize;
    plain(&format!("{value:.decimals$}")).to_owned()
}

/// Removes trailing zeros of the decimals, and the zero before the point.
fn plain(text: &str) -> &str {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    match text.strip_prefix('0') {
        Some(rest) if rest.starts_with('.') => rest,
        _ => text,
    }
}

/// Formats a duration, with a space before each part: ` 1 day 2 hours 3 minutes 4 seconds`.
pub fn span(seconds: u64) -> String {
    let parts = [
        (seconds / 86400, "day"),
        (seconds / 3600 % 24, "hour"),
        (seconds / 60 % 60, "minute"),
        (seconds % 60, "second"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, unit)| format!(" {count} {unit}{}", if count == 1 { "" } else { "s" })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_httpd() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0 / 3.0, ".333333"),
            (0.0416667, ".0416667"),
            (27.151515, "27.1515"),
            (651.636363, "651.636"),
            (568.0, "568"),
            (1_500_000.0, "1.5e+06"),
            (123_456.0, "123456"),
            (0.000001, "1e-06"),
        ] {
            assert_eq!(short(value), expected);
        }
        assert_eq!(
            (span(264).as_str(), span(90061).as_str(), span(0).as_str()),
            (" 4 minutes 24 seconds", " 1 day 1 hour 1 minute 1 second", "")
        );
    }
}
