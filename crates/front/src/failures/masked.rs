//! Secrets of recorded requests are replaced: a recording may be read by people who may not log in as the client.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::secrets::{contains_secret, is_secret};

/// The text in place of a secret.
pub const MASK: &str = "masked";

/// Headers whose values are recorded, unless they contain the name of a secret.
const PLAIN: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-type",
    "dnt",
    "expect",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "pragma",
    "priority",
    "range",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "te",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "x-requested-with",
];
/// Headers with a host.
const HOSTS: &[&str] = &["host", "x-forwarded-host", "x-forwarded-server"];
/// Headers with a URL or a part of one.
const URLS: &[&str] = &[
    "content-location",
    "forwarded",
    "location",
    "origin",
    "referer",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-original-url",
    "x-rewrite-url",
];

/// The value of a header without its secrets.
pub fn header<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    match name {
        "cookie" => cookies(value).into(),
        // A boundary is random, and may look like anything.
        "content-type" if value.starts_with("multipart/") => value.into(),
        _ if HOSTS.contains(&name) => url(&format!("//{value}")).split_off(2).into(),
        _ if URLS.contains(&name) => url(value).into(),
        _ if PLAIN.contains(&name) && !contains_secret(value) => value.into(),
        _ => MASK.into(),
    }
}

/// Names of cookies tell which path a program takes; their values may be sessions.
fn cookies(value: &str) -> String {
    // A `;` between quotation marks would end the value too early.
    if value.contains('"') {
        return MASK.to_owned();
    }
    value.split(';').map(cookie).collect::<Vec<_>>().join("; ")
}

fn cookie(cookie: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.[]$".contains(c);
    match cookie.split_once('=') {
        Some((name, _)) if name.trim().chars().all(is_plain) => format!("{}={MASK}", name.trim()),
        _ => MASK.to_owned(),
    }
}

/// A target or URL without user information, fragment, and secrets in path and query.
pub fn url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let path = match path.split_once("//") {
        Some((scheme, rest)) if scheme.is_empty() || scheme.ends_with(':') => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{}//{}{}", segments(scheme), authority(host), segments(path))
        }
        _ => segments(path),
    };
    match query {
        Some(query) => format!("{path}?{}", form(query).as_deref().unwrap_or(MASK)),
        None => path,
    }
}

/// Host and port. What is no port may be the beginning of a password that has a `/`.
fn authority(text: &str) -> &str {
    let host = text.rsplit('@').next().unwrap_or_default();
    let port = host.rsplit(']').next().and_then(|rest| rest.split_once(':'));
    match port {
        Some((_, port)) if !port.bytes().all(|byte| byte.is_ascii_digit()) => MASK,
        _ if host.contains(['=', '>', '%']) => MASK,
        _ => host,
    }
}

fn segments(path: &str) -> String {
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// A segment of a path, which may have parameters: `a;jsessionid=x`.
fn segment(segment: &str) -> Cow<'_, str> {
    let has_user = |text: &str| text.split_once('@').is_some_and(|(user, _)| !user.is_empty());
    let is_wrong = |text: &str| contains_secret(text) || has_user(text);
    match segment.split_once(';') {
        _ if !is_wrong(segment) => segment.into(),
        Some((name, _)) if !is_wrong(name) => format!("{name};{MASK}").into(),
        _ => MASK.into(),
    }
}

/// A form of `application/x-www-form-urlencoded` without its secrets. `None`: it is no form, but contains the name of a
/// secret where a form has the name of a field.
pub fn form(form: &str) -> Option<String> {
    let mut fields = Vec::new();
    let mut is_in_secret = false;
    for field in form.split('&') {
        let (name, value) = field.split_once('=').map_or((field, None), |(name, value)| (name, Some(value)));
        if contains_secret(name) {
            return None;
        }
        // A field without `=` may belong to the value before it, which had an `&`.
        is_in_secret = match value {
            Some(value) => is_secret(name) || contains_secret(value),
            None => is_in_secret && !field.is_empty(),
        };
        fields.push(match value {
            Some(_) if is_in_secret => format!("{name}={MASK}"),
            None if is_in_secret => MASK.to_owned(),
            _ => field.to_owned(),
        });
    }
    Some(fields.join("&"))
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
        Value::Object(fields) => *fields = std::mem::take(fields).into_iter().map(masked_field).collect::<Map<_, _>>(),
        Value::String(text) if contains_secret(text) => *value = MASK.into(),
        _ => {}
    }
}

fn masked_field(field: (String, Value)) -> (String, Value) {
    let (name, mut value) = field;
    match is_secret(&name) {
        true => value = MASK.into(),
        false => mask(&mut value),
    }
    let name = if contains_secret(&name) { MASK.to_owned() } else { name };
    (name, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_cookies_are_masked_and_their_names_are_not() {
        assert_eq!(header("cookie", "a=1; session=x=y;b"), "a=masked; session=masked; masked");
        assert_eq!(header("cookie", "a=\"1;LEAK=2\""), "masked");
    }

    #[test]
    fn values_of_unknown_headers_are_masked() {
        for name in ["authorization", "x-api-key", "x-jwt", "x-csrf", "x-anything", "x-forwarded-for"] {
            assert_eq!(header(name, "abc"), "masked", "{name}");
        }
        assert_eq!(header("accept", "text/html"), "text/html");
        assert_eq!(header("host", "auth.example:8080"), "auth.example:8080");
        assert_eq!(header("host", "a:b@c"), "c");
        assert_eq!(header("content-type", "text/plain; token=x"), "masked");
        assert_eq!(header("user-agent", "a (token=x)"), "masked");
        assert_eq!(header("user-agent", "Mozilla/5.0 (X11; rv:109.0)"), "Mozilla/5.0 (X11; rv:109.0)");
        assert_eq!(header("content-type", "multipart/form-data; boundary=xKey"), "multipart/form-data; boundary=xKey");
    }

    #[test]
    fn urls_have_no_user_no_fragment_and_no_secret() {
        let urls = [
            ("http://a:PW@b/#access_token=x", "http://b/"),
            ("//a:PW@b:80/c", "//b:80/c"),
            ("http://a:P/W@b/", "http://masked/masked/"),
            ("http:\\\\a:PW@b/", "masked/"),
            ("http://[::1]:80/a", "http://[::1]:80/a"),
            ("http://a/b?token=1&c=2", "http://a/b?token=masked&c=2"),
            ("/a;jsessionid=x/b", "/a;masked/b"),
            ("/a%3Ftoken=x", "/masked"),
            ("/@scope/page:1", "/@scope/page:1"),
            ("/login?user=a", "/login?user=a"),
            ("/a?PHPSESSID=x&jwt=y", "/a?PHPSESSID=masked&jwt=masked"),
            ("/a?next=%2Fx%3Ftoken%3Dy", "/a?next=masked"),
            ("/a?password=x;LEAKD", "/a?password=masked"),
            ("/a?b=1;password=x", "/a?b=masked"),
            ("/token=x/http://a:b@c/", "/masked/http://c/"),
        ];
        for (given, expected) in urls {
            assert_eq!(url(given), expected, "{given}");
            assert_eq!(header("x-original-url", given), expected, "{given}");
        }
    }

    #[test]
    fn fields_with_names_of_secrets_are_masked() {
        let form = |text: &str| form(text);
        assert_eq!(
            form("user=ada&Password=x%20y&new_p%61ss=z;a=b").as_deref(),
            Some("user=ada&Password=masked&new_p%61ss=masked")
        );
        assert_eq!(form("password=abc;LEAK&user[pin]=1&a").as_deref(), Some("password=masked&user[pin]=masked&masked"));
        assert_eq!(form("a&b=c&").as_deref(), Some("a&b=c&"));
        assert_eq!(form("a={\"password\":\"x&LEAK\"}").as_deref(), Some("a=masked&masked"));
        assert_eq!(form("{\"password\":\"x&LEAK\"}"), None);
    }

    #[test]
    fn fields_and_strings_of_json_are_masked() {
        let check = |given: &str, expected: &str| assert_eq!(json(given).as_deref(), Some(expected));
        check(r#"{"a":[{"password":{"x":1}}],"b":2}"#, r#"{"a":[{"password":"masked"}],"b":2}"#);
        check(r#"{"p\u0061ssword":"x","pin":1}"#, r#"{"password":"masked","pin":"masked"}"#);
        check(r#"{"query":"mutation { login(password: \"x\") }"}"#, r#"{"query":"masked"}"#);
        check(r#"["a","b=1","code=1"]"#, r#"["a","b=1","masked"]"#);
        check(r#"{"password=LEAK":"x"}"#, r#"{"masked":"masked"}"#);
        assert_eq!(json("{"), None);
        assert_eq!(json("{\"a\":1}\n{\"a\":2}"), None);
    }
}
