//! URLs of `<Proxy>` and `ProxyRemote`, in the form in which [`BackendUrl`] has those of requests.

use crate::model::proxy::{BackendAddress, BackendScheme, BackendUrl};
use crate::syntax::wildcard::{self, Slash, is_pattern};

/// The regular expression of `<Proxy url>`: the begin of URLs, or whole URLs if `url` has wildcards.
pub fn regex(url: &str) -> String {
    if let Some(tunnel) = tunnel(url) {
        return format!("^{}$", pcre2::escape(&tunnel));
    }
    let (origin, path, has_wildcards) = match literal(url) {
        // A port that the one form leaves out does not stand for all ports, and 80 not for 8080.
        Some((origin, path, true)) if path.is_empty() => return format!("^{}(?:[/?]|$)", pcre2::escape(&origin)),
        Some((origin, path, _)) => (pcre2::escape(&origin), path, false),
        None => {
            let rest = if url.starts_with("unix:") { url.to_owned() } else { lower_host(url) };
            let (origin, path) = split(url).unwrap_or(("", &rest));
            (
                wildcard::to_regex(&plain_port(&origin.to_ascii_lowercase()), Slash::Ordinary),
                path.to_owned(),
                is_pattern(origin),
            )
        }
    };
    let end = if has_wildcards || is_pattern(&path) { "$" } else { "" };
    format!("^{origin}{}{end}", wildcard::to_regex(&path, Slash::Ordinary))
}

/// The begin of URLs in the form of those of requests.
pub fn canonical(url: &str) -> String {
    if let Some(tunnel) = tunnel(url) {
        return tunnel;
    }
    match literal(url) {
        Some((origin, path, true)) if path.is_empty() => format!("{origin}/"),
        Some((origin, path, _)) => format!("{origin}{path}"),
        None => url.to_ascii_lowercase(),
    }
}

/// Scheme and host with port, and the rest. `None` where there is no host.
fn split(url: &str) -> Option<(&str, &str)> {
    // A `://` behind the first slash is a part of a path.
    let is_before_path = |colon: &usize| url.find('/') == Some(colon + 1) && !url.starts_with("unix:");
    let start = url.find("://").filter(is_before_path)? + 3;
    let end = url.get(start..)?.find('/').map_or(url.len(), |end| start + end);
    url.split_at_checked(end)
}

/// A URL without a scheme whose part before the path is in lower case, as all hosts are. Paths keep their case.
fn lower_host(url: &str) -> String {
    let (host, path) = url.split_at_checked(url.find('/').unwrap_or(url.len())).unwrap_or((url, ""));
    format!("{}{path}", host.to_ascii_lowercase())
}

/// `host:port` of `<Proxy>`, which `CONNECT` names, in its one form.
fn tunnel(url: &str) -> Option<String> {
    let is_literal = !url.contains(['*', '?', '\\']) && !url.contains("://");
    BackendUrl::tunnel(url).filter(|_| is_literal).map(|tunnel| tunnel.authority)
}

/// Scheme and host with port in their one form, the rest, and whether a port is written. `None` with wildcards before
/// the path, and for other URLs than those of servers.
fn literal(url: &str) -> Option<(String, String, bool)> {
    let (origin, path) = split(url)?;
    let parsed = BackendUrl::parse(origin).ok().filter(|parsed| parsed.scheme != BackendScheme::Balancer)?;
    let is_ipv6 = matches!(&parsed.address, BackendAddress::Tcp(host, _) if host.contains(':'));
    let is_literal = !origin.contains(['*', '?', '\\']) && (is_ipv6 || !origin.contains('['));
    let has_port = origin.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    is_literal.then(|| (parsed.origin(), path.to_owned(), has_port))
}

/// An origin with wildcards without the port of its scheme, and without zeros before others.
fn plain_port(origin: &str) -> String {
    let Some((rest, port)) = origin.rsplit_once(':') else { return origin.to_owned() };
    let scheme = origin.split("://").next().and_then(BackendScheme::named);
    match port.parse::<u16>() {
        Ok(port) if scheme.is_some_and(|scheme| scheme.port() == port) => rest.to_owned(),
        Ok(port) => format!("{rest}:{port}"),
        Err(_) => origin.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::{Budget, Case};

    #[test]
    fn a_section_applies_to_all_forms_of_its_url() {
        let cases = [
            ("http://LocalHost:018499/", "http://localhost:18499/a", true),
            ("http://one.:80/", "http://one/a", true),
            ("http://one:80", "http://one/a", true),
            ("http://one:80", "http://one:8080/a", false),
            ("http://one:80", "http://one", true),
            ("http://one", "http://one.example/a", true),
            ("http://*.One:80/*", "http://a.one/b", true),
            ("http://*.One:80/*", "http://a.one:81/b", false),
            ("http://one/*/B", "http://one/a/B", true),
            ("http://one/*/B", "http://one/a/b", false),
            ("*/Private/*", "http://one/Private/a", true),
            ("*/Private/*", "http://one/private/a", false),
            ("*/Private/http://One/*", "http://one/Private/http://One/a", true),
            ("*.One/Private/*", "http://a.one/Private/b", true),
            ("*.One:443/", "a.one:443/", true),
            ("*", "unix:/A|http://one/B", true),
            ("https://*.one:443/*", "https://a.one/b", true),
            ("h2c://*.one:080/*", "h2c://a.one/b", true),
            ("h2://*.one:443/*", "h2://a.one/b", true),
            ("h2://*.one:80/*", "h2://a.one:80/b", true),
            ("fcgi://*.one:8000/*", "fcgi://a.one/b", true),
            ("ws://*.one:80/*", "ws://a.one/b", true),
            ("wss://*.one:443/*", "wss://a.one/b", true),
            ("http://[0::1]:81/", "http://[::1]:81/a", true),
            ("http://[ab]/", "http://a/", true),
            ("*", "http://one/", true),
            ("*", "one:443", true),
            ("One.:0443", "one:443", true),
            ("one:44", "one:443", false),
            ("*.One:443", "a.one:443", true),
            ("One", "one:443", true),
            ("https://one/", "one:443", false),
            ("balancer://one", "balancer://one/a", true),
            ("unix:/A|http://one/", "unix:/A|http://one/a", true),
        ];
        for (written, url, applies) in cases {
            let pattern = Budget::of_the_administrator().compile(&regex(written), Case::Exact).expect("a pattern");
            assert_eq!(pattern.find(url).is_some(), applies, "{written} {url} {}", regex(written));
        }
        assert_eq!(canonical("http://One:80"), "http://one/");
    }
}
