//! `WebSocketOrigin`: the pages that may open WebSockets (RFC 6455, section 10.2).

/// The origins whose pages may open WebSockets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebSocketOrigins(Vec<AllowedOrigin>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum AllowedOrigin {
    /// `any`
    Any,
    /// `same-host`: the host and port of the request.
    SameHost,
    /// `null`: a page without an origin.
    Null,
    /// `https://app.example.com`
    One(Origin),
    /// `https://*.example.com`: all hosts below this one.
    Below(Origin),
}

/// An origin in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    /// The scheme's own, where none is written.
    port: Option<u16>,
}

impl WebSocketOrigins {
    /// Parses the words of a line.
    ///
    /// # Errors
    /// If one of them is no origin, or stands beside `any`.
    pub fn parse(words: &[String]) -> Result<WebSocketOrigins, String> {
        let origins: Vec<_> = words.iter().map(|word| AllowedOrigin::parse(word)).collect::<Result<_, _>>()?;
        if origins.len() > 1 && origins.contains(&AllowedOrigin::Any) {
            return Err("\"any\" allows all origins; write it alone, or remove it".to_owned());
        }
        Ok(WebSocketOrigins(origins))
    }

    /// Whether every page may open WebSockets.
    pub fn is_any(&self) -> bool {
        self.0.contains(&AllowedOrigin::Any)
    }

    /// Whether pages with this `Origin` may, in a request with this `Host`.
    pub fn contain(&self, origin: &str, host: &str) -> bool {
        let sent = Origin::parse(origin);
        self.0.iter().any(|allowed| match (allowed, &sent) {
            (AllowedOrigin::Any, _) => true,
            (AllowedOrigin::Null, _) => origin == "null",
            (AllowedOrigin::SameHost, Some(sent)) => sent.is_at(host),
            (AllowedOrigin::One(one), Some(sent)) => one == sent,
            (AllowedOrigin::Below(above), Some(sent)) => sent.is_below(above),
            (_, None) => false,
        })
    }
}

impl AllowedOrigin {
    fn parse(word: &str) -> Result<AllowedOrigin, String> {
        match word.to_ascii_lowercase().as_str() {
            "any" => return Ok(AllowedOrigin::Any),
            "same-host" => return Ok(AllowedOrigin::SameHost),
            "null" => return Ok(AllowedOrigin::Null),
            _ => {}
        }
        let wrong = || format!("expected any, same-host, null or an origin as https://app.example.com, got \"{word}\"");
        let origin = Origin::parse(word).ok_or_else(wrong)?;
        match origin.host.strip_prefix("*.").map(str::to_owned) {
            Some(host) if !host.is_empty() && !host.contains('*') => {
                Ok(AllowedOrigin::Below(Origin { host, ..origin }))
            }
            None if !origin.host.contains('*') => Ok(AllowedOrigin::One(origin)),
            _ => Err(wrong()),
        }
    }
}

impl Origin {
    /// The origin of a text without a path. Its host is empty for `file://`.
    fn parse(text: &str) -> Option<Origin> {
        let text = text.to_ascii_lowercase();
        let (scheme, authority) = text.split_once("://")?;
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_part = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\\",".contains(&byte);
        if scheme.is_empty() || !scheme.bytes().all(is_scheme) || !authority.bytes().all(is_part) {
            return None;
        }
        if authority.is_empty() && scheme != "file" {
            return None;
        }
        let (host, port) = split_port(authority)?;
        Some(Origin { port: port.or(usual_port(scheme)), scheme: scheme.to_owned(), host: host.to_owned() })
    }

    /// Whether a request with this `Host` is for the origin's host and port. A proxy may have ended TLS, so the schemes
    /// are not compared.
    fn is_at(&self, host: &str) -> bool {
        let Some((name, port)) = split_port(host) else { return false };
        !name.is_empty() && name.eq_ignore_ascii_case(&self.host) && port.or(usual_port(&self.scheme)) == self.port
    }

    fn is_below(&self, above: &Origin) -> bool {
        let name = self.host.strip_suffix(&above.host).and_then(|rest| rest.strip_suffix('.'));
        name.is_some_and(|name| !name.is_empty()) && self.scheme == above.scheme && self.port == above.port
    }
}

/// Host and port. `None`: the port is no number.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => Some((host, Some(port.parse().ok()?))),
        _ => Some((authority, None)),
    }
}

fn usual_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(line: &str) -> Result<WebSocketOrigins, String> {
        WebSocketOrigins::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(line: &str, host: &str, allowed: &[&str], foreign: &[&str]) {
        let origins = origins(line).expect("a valid line");
        allowed.iter().for_each(|origin| assert!(origins.contain(origin, host), "{line}: {origin}"));
        foreign.iter().for_each(|origin| assert!(!origins.contain(origin, host), "{line}: {origin}"));
    }

    #[test]
    fn the_own_host_is_that_of_the_request_with_its_port() {
        let allowed = ["http://example.com", "https://EXAMPLE.com", "https://example.com:443"];
        let foreign = [
            "https://example.com:8443",
            "https://www.example.com",
            "https://example.com.evil.example",
            "https://evil.example/example.com",
            "https://user@example.com",
            "null",
            "",
            "example.com",
            "https://example.com, https://evil.example",
        ];
        check("same-host", "example.com", &allowed, &foreign);
        check("same-host", "Example.com:443", &["https://example.com"], &["http://example.com"]);
        check("same-host", "[::1]:8080", &["http://[::1]:8080"], &["http://[::1]", "http://[::2]:8080"]);
        check("same-host", "", &[], &["http://example.com", "file://"]);
    }

    #[test]
    fn listed_origins_have_scheme_host_and_port() {
        let line = "https://app.example.com http://localhost:3000 capacitor://localhost null file://";
        let allowed = ["https://app.example.com", "http://localhost:3000", "capacitor://localhost", "null", "file://"];
        let foreign =
            ["http://app.example.com", "https://app.example.com:444", "https://localhost", "http://localhost"];
        check(line, "other.example", &allowed, &foreign);
        let below = ["https://a.example.com", "https://a.b.example.com"];
        let foreign = ["https://example.com", "https://.example.com", "https://aexample.com", "http://a.example.com"];
        check("https://*.example.com", "x", &below, &foreign);
        check("any", "x", &["null", "https://evil.example", "nonsense"], &[]);
    }

    #[test]
    fn other_words_are_errors() {
        for line in [
            "all",
            "example.com",
            "https://example.com/path",
            "https://",
            "https://*",
            "https://*.",
            "https://a.*.com",
            "https://a:b",
            "://a",
            "any same-host",
        ] {
            assert!(origins(line).is_err(), "{line}");
        }
    }
}
