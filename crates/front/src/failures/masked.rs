//! Secrets of recorded requests are replaced: a recording may be read by people who may not log in as the client.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// What stands in place of a secret.
pub const MASK: &str = "masked";

/// Parts of names of secrets, in lower case.
const PARTS: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "otp",
    "cvv",
    "cvc",
    "card",
    "iban",
    "ssn",
    "apikey",
    "api_key",
    "api-key",
    "auth",
    "session",
    "signature",
    "credential",
    "private",
];
/// Whole names of secrets.
const NAMES: &[&str] = &["pin", "sid", "key", "code", "sig"];

/// Whether a header or a field with this name has a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || PARTS.iter().any(|part| name.contains(part))
}

/// The value of a header without its secrets.
pub fn header<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    match name {
        "cookie" => cookies(value).into(),
        "referer" => target(value).into(),
        _ if is_secret(name) => MASK.into(),
        _ => value.into(),
    }
}

/// Names of cookies tell which path a program takes; their values may be sessions.
fn cookies(value: &str) -> String {
    let masked = |cookie: &str| format!("{}={MASK}", cookie.split('=').next().unwrap_or_default().trim());
    value.split(';').map(masked).collect::<Vec<_>>().join("; ")
}

/// A target or URL without the secrets in its query.
pub fn target(target: &str) -> String {
    match target.split_once('?') {
        Some((path, query)) => format!("{path}?{}", form(query)),
        None => target.to_owned(),
    }
}

/// A form of `application/x-www-form-urlencoded` without its secrets.
pub fn form(form: &str) -> String {
    form.split_inclusive(['&', ';']).map(field).collect()
}

fn field(field: &str) -> Cow<'_, str> {
    let pair = field.trim_end_matches(['&', ';']);
    let end = field.get(pair.len()..).unwrap_or_default();
    match pair.split_once('=') {
        Some((name, _)) if is_secret(&percent_decode_str(name).decode_utf8_lossy()) => {
            format!("{name}={MASK}{end}").into()
        }
        _ => field.into(),
    }
}

/// JSON without its secrets; `None` if it is not JSON.
pub fn json(text: &str) -> Option<String> {
    let mut value = serde_json::from_str(text).ok()?;
    mask(&mut value);
    serde_json::to_string(&value).ok()
}

/// serde_json limits the depth of what it parses, and so the depth of these calls.
fn mask(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(mask),
        Value::Object(fields) => {
            for (name, value) in fields {
                match is_secret(name) {
                    true => *value = MASK.into(),
                    false => mask(value),
                }
            }
        }
        _ => {}
    }
}

/// Whether a text of another kind may have secrets.
pub fn mentions_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    PARTS.iter().any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_cookies_are_masked_and_their_names_are_not() {
        assert_eq!(header("cookie", "a=1; session=x=y;b"), "a=masked; session=masked; b=masked");
        assert_eq!(header("authorization", "Basic abc"), "masked");
        assert_eq!(header("x-api-key", "abc"), "masked");
        assert_eq!(header("accept", "text/html"), "text/html");
        assert_eq!(header("referer", "http://a/b?token=1&c=2"), "http://a/b?token=masked&c=2");
    }

    #[test]
    fn fields_with_names_of_secrets_are_masked() {
        assert_eq!(form("user=ada&Password=x%20y&new_p%61ss=z;a=b"), "user=ada&Password=masked&new_p%61ss=masked;a=b");
        assert_eq!(target("/login?user=a"), "/login?user=a");
        assert_eq!(
            json(r#"{"a":[{"password":{"x":1}}],"b":2}"#).as_deref(),
            Some(r#"{"a":[{"password":"masked"}],"b":2}"#)
        );
        assert_eq!(json("{"), None);
    }
}
