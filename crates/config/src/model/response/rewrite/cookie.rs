//! The flag `CO`: `name:value:domain[:minutes[:path[:secure[:httponly[:samesite]]]]]`. A leading `;` makes `;` the
//! separator.

use std::time::{Duration, SystemTime};

/// Value of `Set-Cookie`. `None` unless name, value and domain are present.
pub fn line(flag: &str) -> Option<String> {
    let (mark, flag) = flag.strip_prefix(';').map_or((':', flag), |rest| (';', rest));
    let mut parts = flag.split(mark);
    let (name, value, domain) = (parts.next()?, parts.next()?, parts.next()?);
    let mut rest = parts.chain(std::iter::repeat(""));
    let mut next = || rest.next().unwrap_or_default();
    let (minutes, path, secure, http_only, same_site) = (next(), next(), next(), next(), next());
    let path = if path.is_empty() { "/" } else { path };
    let mut line = format!("{name}={value}; path={path}; domain={domain}");
    if let Some(minutes) = minutes.parse::<u32>().ok().filter(|minutes| *minutes > 0) {
        let end = SystemTime::now() + Duration::from_secs(60 * u64::from(minutes));
        line.push_str(&format!("; expires={}", httpdate::fmt_http_date(end)));
    }
    let is_said = |word: &str, own: &str| word == "1" || ["true", own].iter().any(|yes| word.eq_ignore_ascii_case(yes));
    if is_said(secure, "secure") {
        line.push_str("; secure");
    }
    if is_said(http_only, "httponly") {
        line.push_str("; HttpOnly");
    }
    if !matches!(same_site.to_ascii_lowercase().as_str(), "" | "0" | "false") {
        line.push_str(&format!("; SameSite={same_site}"));
    }
    Some(line)
}

/// The name of the cookie in a value of the flag CO.
pub fn name(line: &str) -> &str {
    line.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_cookie_has_the_attributes_of_the_flag() {
        for (flag, expected) in [
            ("a:b:.x.org", "a=b; path=/; domain=.x.org"),
            (";a;b:c;x.org;0;/p;secure;1;lax", "a=b:c; path=/p; domain=x.org; secure; HttpOnly; SameSite=lax"),
            ("a:b:x:0:/:false:0:0", "a=b; path=/; domain=x"),
        ] {
            assert_eq!(line(flag).as_deref(), Some(expected), "{flag}");
        }
        assert!(line("a:b:x:60").is_some_and(|line| line.contains("; expires=") && line.ends_with("GMT")));
        assert_eq!(line("a:b"), None);
    }
}
