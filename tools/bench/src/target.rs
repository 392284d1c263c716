//! A URL, parsed for the load tester.

use std::path::PathBuf;

use http::Uri;

/// `http:`, `https:` and `unix:` URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTarget {
    /// Whether the scheme is https.
    pub tls: bool,
    /// Host name or address, without the brackets of an IPv6 address.
    pub host: String,
    /// Port; 80 or 443 if the URL has none.
    pub port: u16,
    /// The value of the `Host` header.
    pub authority: String,
    /// Path and query.
    pub path: String,
    /// The unix socket of a URL such as `unix:/run/site.sock:/page`.
    pub socket: Option<PathBuf>,
}

impl RequestTarget {
    /// Parses a URL; `http://` may be omitted.
    pub fn parse(url: &str) -> Result<RequestTarget, String> {
        if let Some(rest) = url.strip_prefix("unix:") {
            return RequestTarget::of_socket(rest)
                .map_err(|why| format!("{url}: {why}; expected unix:/path/of.sock:/page"));
        }
        let full = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let wrong = |why: &str| format!("{url}: {why}; expected a URL such as http://localhost:8080/");
        let uri: Uri = full.parse().map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("neither http nor https")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("user names and passwords are not supported in URLs; use -H 'Authorization: Basic …'"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("no host"));
        }
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(RequestTarget { tls, host, port, authority: authority.as_str().to_owned(), path, socket: None })
    }

    /// Parses `/run/site.sock:/page`; the host is localhost.
    fn of_socket(text: &str) -> Result<RequestTarget, String> {
        let (socket, path) =
            text.split_once(":/").map_or((text, "/"), |(socket, _)| (socket, &text[socket.len() + 1..]));
        if socket.is_empty() {
            return Err("no socket".to_owned());
        }
        let target = RequestTarget::parse(&format!("http://localhost{path}"))?;
        Ok(RequestTarget { socket: Some(socket.into()), ..target })
    }

    /// The same server with another path and query.
    pub fn with_path(&self, path: &str) -> RequestTarget {
        RequestTarget { path: path.to_owned(), ..self.clone() }
    }

    /// Whether one connection can serve both targets.
    pub fn is_of_the_same_server(&self, other: &RequestTarget) -> bool {
        (self.tls, self.port, &self.socket) == (other.tls, other.port, &other.socket)
            && self.host.eq_ignore_ascii_case(&other.host)
    }

    /// The URL in the form that users type.
    pub fn url(&self) -> String {
        match &self.socket {
            Some(socket) => format!("unix:{}:{}", socket.display(), self.path),
            None => self.uri(),
        }
    }

    /// The absolute URI.
    pub fn uri(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_parsed_into_scheme_host_port_and_path() {
        for (url, expected) in [
            ("http://localhost/", "false localhost 80 localhost /"),
            ("localhost:8080/a?b=c#d", "false localhost 8080 localhost:8080 /a?b=c"),
            ("https://example.org", "true example.org 443 example.org /"),
            ("http://[::1]:81/x", "false ::1 81 [::1]:81 /x"),
            ("http://localhost?a", "false localhost 80 localhost /?a"),
        ] {
            let RequestTarget { tls, host, port, authority, path, .. } = RequestTarget::parse(url).expect(url);
            assert_eq!(format!("{tls} {host} {port} {authority} {path}"), expected, "{url}");
        }
        for (url, expected) in [
            ("unix:/run/a.sock:/b?c", "/run/a.sock /b?c"),
            ("unix:a.sock", "a.sock /"),
            ("unix:a:b.sock:/c:/d", "a:b.sock /c:/d"),
        ] {
            let target = RequestTarget::parse(url).expect(url);
            let socket = target.socket.as_ref().expect("a socket").display();
            assert_eq!(format!("{socket} {}", target.path), expected);
            assert_eq!(
                (target.authority.as_str(), target.uri()),
                ("localhost", format!("http://localhost{}", target.path))
            );
        }
        for wrong in ["unix:", "unix::/x", "ftp://x/", "http://", "http://a:b@c/", "http://x y/", "", "http://:80/"] {
            assert!(RequestTarget::parse(wrong).is_err(), "{wrong}");
        }
    }
}
