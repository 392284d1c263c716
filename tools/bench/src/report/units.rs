//! Times, sizes and rates with three significant digits.

/// `85.2 µs`, `3.41 ms`, `12.0 s`
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        ..1e-3 => (seconds * 1e6, "µs"),
        ..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    format!("{} {unit}", three(value))
}

/// `812 B`, `12.3 kB`, `1.04 GB`; a kB has 1000 bytes.
pub fn size(bytes: f64) -> String {
    let (value, unit) = match bytes {
        ..1e3 => return format!("{bytes:.0} B"),
        ..1e6 => (bytes / 1e3, "kB"),
        ..1e9 => (bytes / 1e6, "MB"),
        _ => (bytes / 1e9, "GB"),
    };
    format!("{} {unit}", three(value))
}

/// `85.2`, `852`, `85200`
pub fn three(value: f64) -> String {
    match value {
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_three_digits() {
        let times =
            [(0.0, "0.00 µs"), (85.24e-6, "85.2 µs"), (0.003_412, "3.41 ms"), (0.5, "500 ms"), (12.0, "12.0 s")];
        for (seconds, expected) in times {
            assert_eq!(time(seconds), expected);
        }
        for (bytes, expected) in [(0.0, "0 B"), (999.0, "999 B"), (12_345.0, "12.3 kB"), (1.04e9, "1.04 GB")] {
            assert_eq!(size(bytes), expected);
        }
    }
}
