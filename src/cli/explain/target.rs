//! The METHOD and URL of the command line, which a client could send.

use std::net::Ipv6Addr;

use toolkit::Misuse;

/// The parts of a URL.
#[derive(Debug, PartialEq, Eq)]
pub struct ExplainTarget {
    /// The host with its port; empty for a path alone.
    pub host: String,
    /// Path without the query.
    pub path: String,
    pub query: Option<String>,
    pub is_secure: bool,
}

/// A method in capitals.
pub fn method(word: &str) -> Result<String, Misuse> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_token) {
        true => Ok(word.to_ascii_uppercase()),
        false => Err(Misuse(format!("{word:?}: expected a method, such as GET"))),
    }
}

impl ExplainTarget {
    /// Parses a URL of http or https, or a path.
    pub fn parse(url: &str) -> Result<ExplainTarget, Misuse> {
        let wrong = |why: String| Misuse(format!("{}: {why}", url.escape_debug()));
        if let Some(odd) = url.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(wrong(format!("{odd:?} is not allowed in a URL; write {}", encoded(odd))));
        }
        let (scheme, rest) = match url.split_once("://") {
            Some((scheme, rest)) if !scheme.contains(['/', '?', '#']) => (Some(scheme.to_ascii_lowercase()), rest),
            _ => (None, url),
        };
        if let Some(scheme) = scheme.as_deref().filter(|scheme| !["http", "https"].contains(scheme)) {
            return Err(wrong(format!("expected http:// or https://, got {scheme}://")));
        }
        let end = if scheme.is_some() { rest.find(['/', '?', '#']).unwrap_or(rest.len()) } else { 0 };
        let (host, target) = rest.split_at(end);
        if scheme.is_some() {
            check_host(host).map_err(wrong)?;
        }
        let target = target.split('#').next().unwrap_or_default();
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query.to_owned())));
        let path = if path.is_empty() && scheme.is_some() { "/" } else { path };
        if !path.starts_with('/') {
            return Err(wrong("expected a path that begins with /, or a URL that begins with http://".to_owned()));
        }
        let is_secure = scheme.as_deref() == Some("https");
        Ok(ExplainTarget { host: host.to_owned(), path: path.to_owned(), query, is_secure })
    }
}

/// Checks `name`, `name:port` or `[address]:port`.
fn check_host(host: &str) -> Result<(), String> {
    if host.contains('@') {
        return Err("has a user before the host, which no client sends; leave it out".to_owned());
    }
    let port_at = host.rfind(':').filter(|at| *at > host.rfind(']').unwrap_or(0));
    let (name, port) = port_at.map_or((host, None), |at| (&host[..at], Some(&host[at + 1..])));
    if let Some(port) = port.filter(|port| port.parse::<u16>().map_or(true, |number| number == 0)) {
        return Err(format!("expected a port from 1 to 65535, got \"{port}\""));
    }
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b));
    match address.map_or_else(|| is_name(name), |address| address.parse::<Ipv6Addr>().is_ok()) {
        true => Ok(()),
        false => Err(format!("expected a host name or address, got \"{name}\"")),
    }
}

/// The bytes of a character as a URL has them.
fn encoded(c: char) -> String {
    c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(url: &str) -> (String, String, Option<String>, bool) {
        let target = ExplainTarget::parse(url).unwrap_or_else(|wrong| panic!("{url}: {wrong}"));
        (target.host, target.path, target.query, target.is_secure)
    }

    #[test]
    fn urls_and_paths_have_these_parts() {
        for (url, host, path, query, is_secure) in [
            ("/a?b#c", "", "/a", Some("b"), false),
            ("/go?to=http://other/x", "", "/go", Some("to=http://other/x"), false),
            ("//a/b", "", "//a/b", None, false),
            ("HTTPS://a.example", "a.example", "/", None, true),
            ("http://a:8080?x", "a:8080", "/", Some("x"), false),
            ("http://[::1]:80/%00", "[::1]:80", "/%00", None, false),
            ("http://[::1]", "[::1]", "/", None, false),
        ] {
            assert_eq!(parts(url), (host.to_owned(), path.to_owned(), query.map(str::to_owned), is_secure), "{url}");
        }
    }

    #[test]
    fn a_url_that_no_client_sends_is_refused_with_the_reason() {
        for (url, why) in [
            ("a.html", "expected a path that begins with /"),
            ("", "expected a path that begins with /"),
            ("/a\nb", r"'\n' is not allowed in a URL; write %0A"),
            ("/a b", "' ' is not allowed in a URL; write %20"),
            ("/é", "'é' is not allowed in a URL; write %C3%A9"),
            ("ftp://a/", "expected http:// or https://, got ftp://"),
            ("http:///a", "expected a host name or address, got \"\""),
            ("http://u:p@a/", "has a user before the host"),
            ("http://a:0/", "expected a port from 1 to 65535, got \"0\""),
            ("http://a:99999/", "got \"99999\""),
            ("http://a:/", "got \"\""),
            ("http://[::g]/", "got \"[::g]\""),
            ("http://a<b/", "got \"a<b\""),
        ] {
            let message = ExplainTarget::parse(url).expect_err(url).to_string();
            assert!(message.contains(why), "{url}: {message}");
        }
        assert!(method("GE T").is_err() && method("").is_err());
        assert_eq!(method("propfind").expect("a method"), "PROPFIND");
    }
}
