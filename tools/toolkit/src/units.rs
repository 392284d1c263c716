//! Human-readable sizes and times.

/// Formats a duration: `450 ms`, `12 s`, `5 min`, `3 h`, `9 d`.
pub fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..120 => format!("{s} s"),
        120..7200 => format!("{} min", s / 60),
        7200..172_800 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86400),
    }
}

/// Formats a size: `812 kB`, `12.3 MB`, `214 MB`, `23.1 GB`; at most seven columns up to a terabyte.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 2] = [(1 << 30, "GB"), (1 << 20, "MB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{} kB", bytes / 1024),
        Some((unit, name)) if bytes / unit < 100 => format!("{:.1} {name}", bytes as f64 / unit as f64),
        Some((unit, name)) => format!("{} {name}", bytes / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_at_most_three_digits() {
        for (ms, expected) in [(1, "1 ms"), (999, "999 ms"), (3_400, "3 s"), (119_999, "119 s"), (120_000, "2 min")] {
            assert_eq!(duration(ms), expected);
        }
    }

    #[test]
    fn sizes_have_a_unit_and_at_most_four_digits() {
        for (bytes, expected) in [
            (0, "0 kB"),
            ((1 << 20) - 1, "1023 kB"),
            (1 << 20, "1.0 MB"),
            (214 << 20, "214 MB"),
            ((1 << 30) - 1, "1023 MB"),
            (24 << 30, "24.0 GB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
