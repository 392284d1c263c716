//! Warm-up requests of the mold, before it forks: `PerlWarmup`, `PerlWarmupLog`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::syntax::tree::At;

/// A warm-up directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUp {
    /// Position of the directive.
    pub at: At,
    /// Index of its virtual host; 0: the main server.
    pub host: u16,
    /// URLs that are requested.
    pub source: WarmUpSource,
}

/// URLs of a warm-up directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WarmUpSource {
    /// `PerlWarmup /path`, `PerlWarmup http://name/path`
    Url(WarmUpUrl),
    /// `PerlWarmupLog file number`: the most frequent paths of this access log.
    Log {
        /// Path of the log, in common or combined format.
        file: PathBuf,
        /// Maximum number of paths.
        most: usize,
    },
}

/// `/path?query` or `https://host/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUpUrl {
    /// Scheme and host with port, for a URL that is more than a path.
    pub site: Option<(Scheme, String)>,
    /// Path and query.
    pub target: String,
}

/// Scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `http:`
    Http,
    /// `https:`
    Https,
}

/// Connection properties of a host's warm-up requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUpSite {
    /// Index of the virtual host.
    pub host: u16,
    /// Address of the listener; `None`: a unix socket.
    pub local: Option<SocketAddr>,
    /// Whether the request appears to come over TLS.
    pub https: bool,
    /// Value of the `Host` header.
    pub name: String,
}

impl WarmUpSite {
    /// Local address of the connection. For a listener on all addresses it is the loopback address.
    pub fn ip(&self) -> IpAddr {
        let ip = self.local.map(|local| local.ip()).filter(|ip| !ip.is_unspecified());
        ip.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ip| ip.to_canonical())
    }

    /// Local port; 0 for a unix socket.
    pub fn port(&self) -> u16 {
        self.local.map_or(0, |local| local.port())
    }
}

impl WarmUpUrl {
    /// Parses an argument of `PerlWarmup`.
    pub fn parse(text: &str) -> Result<WarmUpUrl, String> {
        let (scheme, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (Some(Scheme::Http), rest),
            (_, Some(rest)) => (Some(Scheme::Https), rest),
            _ => (None, text),
        };
        let Some(scheme) = scheme else { return Ok(WarmUpUrl { site: None, target: target(text, rest)? }) };
        let (name, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        if name.is_empty() || name.contains(['@', '?', '#']) {
            return Err(format!("expected a host in \"{text}\"; write http://name/path"));
        }
        Ok(WarmUpUrl { site: Some((scheme, name.to_owned())), target: target(text, path)? })
    }
}

fn target(text: &str, path: &str) -> Result<String, String> {
    let is_sendable = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    match base::path::normalise(path.split('?').next().unwrap_or_default().as_bytes()) {
        Ok(_) if is_sendable => Ok(path.to_owned()),
        _ => {
            Err(format!("expected a URL path, got \"{text}\"; begin it with /, and write non-ASCII characters as %xx"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_path_or_names_its_host() {
        let url = |text: &str| WarmUpUrl::parse(text).expect("a URL");
        assert_eq!(url("/a?b=c"), WarmUpUrl { site: None, target: "/a?b=c".to_owned() });
        assert_eq!(url("http://x:81").site, Some((Scheme::Http, "x:81".to_owned())));
        assert_eq!(url("http://x:81").target, "/");
        assert_eq!(
            url("https://x/y"),
            WarmUpUrl { site: Some((Scheme::Https, "x".to_owned())), target: "/y".to_owned() }
        );
    }

    #[test]
    fn a_url_that_no_client_can_send_is_refused() {
        for text in ["a", "", "ftp://x/", "http:///x", "http://u@x/", "/a b", "/a#b", "/ä", "/%zz", "/../a", "/a%2fb"]
        {
            assert!(WarmUpUrl::parse(text).is_err(), "{text}");
        }
    }
}
