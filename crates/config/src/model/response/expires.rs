//! `ExpiresActive`, `ExpiresByType`, `ExpiresDefault`

use crate::model::merge::{keep, settings};
settings! {
    /// Freshness lifetimes of responses.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct Expires {
        /// `ExpiresActive`
        pub active: Option<bool>, keep;
        /// `ExpiresByType`: MIME type, or `image/*`.
        pub by_type: Vec<(String, ExpirySpan)>, last_of_type;
        /// `ExpiresDefault`
        pub default: Option<ExpirySpan>, keep;
    }
}

/// A lifetime and its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpirySpan {
    /// Whether the lifetime starts at the file's last change, rather than now.
    pub from_change: bool,
    /// Length in seconds.
    pub seconds: i64,
}

impl Expires {
    /// Lifetime for a MIME type without parameters.
    pub fn of(&self, mime: &str) -> Option<ExpirySpan> {
        if self.active != Some(true) {
            return None;
        }
        let mime = mime.to_ascii_lowercase();
        let family = mime.split_once('/').map(|(family, _)| format!("{family}/*"));
        let named = |name: &str| self.by_type.iter().find(|(known, _)| known == name).map(|(_, span)| *span);
        named(&mime).or_else(|| named(&family?)).or(self.default)
    }
}

impl ExpirySpan {
    /// Parses `A3600`, `M86400`, `access plus 1 month 2 days`.
    pub fn parse(text: &str) -> Result<ExpirySpan, String> {
        let wrong = || format!("expected a time like A3600 or \"access plus 1 month 2 days\", got \"{text}\"");
        if let Some((from_change, seconds)) = code(text) {
            return Ok(ExpirySpan { from_change, seconds });
        }
        let mut words = text.split_whitespace().peekable();
        let from_change = match words.next().map(str::to_ascii_lowercase).as_deref() {
            Some("access" | "now") => false,
            Some("modification") => true,
            _ => return Err(wrong()),
        };
        words.next_if(|word| word.eq_ignore_ascii_case("plus"));
        let mut seconds: i64 = 0;
        while let Some(number) = words.next() {
            let number: i64 = number.parse().map_err(|_| wrong())?;
            let unit = words.next().and_then(unit).ok_or_else(wrong)?;
            seconds = number.checked_mul(unit).and_then(|part| seconds.checked_add(part)).ok_or_else(wrong)?;
        }
        Ok(ExpirySpan { from_change, seconds })
    }
}

fn code(text: &str) -> Option<(bool, i64)> {
    let (letter, number) = text.split_at_checked(1)?;
    let from_change = match letter {
        "A" | "a" => false,
        "M" | "m" => true,
        _ => return None,
    };
    Some((from_change, number.parse().ok()?))
}

/// Length of a unit in seconds. As in httpd, a month has 30 days and a year 365.
fn unit(word: &str) -> Option<i64> {
    const DAY: i64 = 24 * 60 * 60;
    Some(match word.to_ascii_lowercase().trim_end_matches('s') {
        "year" => 365 * DAY,
        "month" => 30 * DAY,
        "week" => 7 * DAY,
        "day" => DAY,
        "hour" => 60 * 60,
        "minute" | "min" => 60,
        "second" | "sec" => 1,
        _ => return None,
    })
}

/// Appends the inner lifetimes, which replace those of the same type.
fn last_of_type(outer: &mut Vec<(String, ExpirySpan)>, inner: &[(String, ExpirySpan)]) {
    for (kind, span) in inner {
        outer.retain(|(known, _)| known != kind);
        outer.push((kind.clone(), *span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_code_or_a_sentence() {
        let seconds = |text: &str| ExpirySpan::parse(text).map(|span| (span.from_change, span.seconds)).ok();
        for (text, expected) in [
            ("A3600", (false, 3600)),
            ("M-60", (true, -60)),
            ("access plus 1 month 2 days", (false, 32 * 86400)),
            ("now plus 1 year", (false, 365 * 86400)),
            ("Modification 2 Hours 1 minute 5 seconds", (true, 7265)),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for wrong in ["", "A", "3600", "access plus month", "access plus 1", "access plus 1 fortnight", "ü1"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_type_takes_precedence_over_its_family_and_the_default() {
        let span = |seconds| ExpirySpan { from_change: false, seconds };
        let by_type = vec![("image/*".to_owned(), span(1)), ("image/gif".to_owned(), span(2))];
        let expires = Expires { active: Some(true), by_type, default: Some(span(3)) };
        assert_eq!(expires.of("image/gif"), Some(span(2)));
        assert_eq!(expires.of("IMAGE/png"), Some(span(1)));
        assert_eq!(expires.of("text/html"), Some(span(3)));
        assert_eq!(Expires { active: None, ..expires }.of("image/gif"), None);
    }
}
