//! `CookieTracking`: a cookie by which a client is recognised (httpd manual, mod_usertrack).

use std::time::Duration;

use crate::model::merge::{keep, settings};

settings! {
    /// Settings of the cookie.
    #[derive(Clone, Default)]
    place struct Tracking {
        /// `CookieTracking`; default off.
        pub on: Option<bool>, keep;
        /// `CookieName`; default `Apache`.
        pub name: Option<String>, keep;
        /// `CookieDomain`
        pub domain: Option<String>, keep;
        /// `CookieExpires`; default: the cookie ends with the browser.
        pub expires: Option<Duration>, keep;
        /// `CookieStyle`; default Netscape.
        pub style: Option<CookieStyle>, keep;
        /// `CookieHTTPOnly`
        pub http_only: Option<bool>, keep;
        /// `CookieSecure`
        pub secure: Option<bool>, keep;
        /// `CookieSameSite`
        pub same_site: Option<String>, keep;
    }
}

/// The format of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum CookieStyle {
    #[default]
    Netscape,
    Cookie,
    Cookie2,
}

impl CookieStyle {
    /// Parses the argument of `CookieStyle`, in any case.
    pub fn named(name: &str) -> Option<CookieStyle> {
        Some(match name.to_ascii_lowercase().as_str() {
            "netscape" => CookieStyle::Netscape,
            "cookie" | "rfc2109" => CookieStyle::Cookie,
            "cookie2" | "rfc2965" => CookieStyle::Cookie2,
            _ => return None,
        })
    }
}

/// Units of `CookieExpires` and their seconds. As in httpd, a unit may be shortened to the letters before the bar.
const UNITS: [(&str, u64); 7] = [
    ("y|ears", 365 * 86_400),
    ("mo|nths", 30 * 86_400),
    ("w|eeks", 7 * 86_400),
    ("d|ays", 86_400),
    ("h|ours", 3600),
    ("mi|nutes", 60),
    ("s|econds", 1),
];

/// Parses a number of seconds, or `2 weeks 3 days 7 hours`.
pub fn period(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let mut words = text.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("plus")).peekable();
    let mut seconds = 0_u64;
    let invalid =
        || format!("expected a number of seconds, or numbers with units as in \"2 weeks 3 days\", got \"{text}\"");
    if words.peek().is_none() {
        return Err(invalid());
    }
    while let Some(number) = words.next() {
        let number: u64 = number.parse().map_err(|_| invalid())?;
        let unit = words.next().ok_or_else(invalid)?.to_ascii_lowercase();
        let is_meant = |name: &str| name.split('|').next().is_some_and(|start| unit.starts_with(start));
        let (_, length) = UNITS.iter().find(|(name, _)| is_meant(name)).ok_or_else(invalid)?;
        seconds = seconds.saturating_add(number.saturating_mul(*length));
    }
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_have_units() {
        for (text, seconds) in [
            ("3600", Some(3600)),
            ("3 weeks", Some(1_814_400)),
            ("1 years 2 months 5 minutes 6 seconds", Some(36_720_306)),
            ("plus 1 day", Some(86_400)),
            ("3", Some(3)),
            ("3 fortnights", None),
            ("weeks", None),
            ("", None),
        ] {
            assert_eq!(period(text).ok().map(|period| period.as_secs()), seconds, "{text}");
        }
    }
}
