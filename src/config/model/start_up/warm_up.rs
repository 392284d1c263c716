//! What the mold asks of itself before it forks: `PerlWarmup`, `PerlWarmupLog`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::config::syntax::tree::At;

/// A directive that asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUp {
    /// Where it stands.
    pub at: At,
    /// The virtual host in which it stands; 0: outside of any.
    pub host: u16,
    /// What is asked.
    pub source: WarmUpSource,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WarmUpSource {
    /// `PerlWarmup /path`, `PerlWarmup http://name/path`
    Url(WarmUpUrl),
    /// `PerlWarmupLog file number`: the paths that this access log has most often.
    Log {
        /// In common or combined format.
        file: PathBuf,
        /// How many paths.
        most: usize,
    },
}

/// A URL of a warm-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUpUrl {
    /// Scheme and host, with the port that the URL names, where it is more than a path.
    pub site: Option<(Scheme, String)>,
    /// The path with its query.
    pub target: String,
}

/// How a URL begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `http:`
    Http,
    /// `https:`
    Https,
}

/// Where warm-up requests of a host seem to arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUpSite {
    /// Index of the virtual host.
    pub host: u16,
    /// A listener; `None`: a unix socket.
    pub local: Option<SocketAddr>,
    /// Over TLS.
    pub https: bool,
    /// What stands in the `Host` header.
    pub name: String,
}

impl WarmUpSite {
    /// The address that the client seems to have connected to: where a listener has all addresses, that of this machine to itself.
    pub fn ip(&self) -> IpAddr {
        let ip = self.local.map(|local| local.ip()).filter(|ip| !ip.is_unspecified());
        ip.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ip| ip.to_canonical())
    }

    /// Its port; 0 of a unix socket.
    pub fn port(&self) -> u16 {
        self.local.map_or(0, |local| local.port())
    }
}

impl WarmUpUrl {
    /// As an administrator writes it, or what is wrong with it.
    pub fn parse(text: &str) -> Result<WarmUpUrl, String> {
        let (scheme, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (Some(Scheme::Http), rest),
            (_, Some(rest)) => (Some(Scheme::Https), rest),
            _ => (None, text),
        };
        let Some(scheme) = scheme else { return Ok(WarmUpUrl { site: None, target: target(text, rest)? }) };
        let (name, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        if name.is_empty() || name.contains(['@', '?', '#']) {
            return Err(format!("\"{text}\" names no host: write http://name/path"));
        }
        Ok(WarmUpUrl { site: Some((scheme, name.to_owned())), target: target(text, path)? })
    }
}

fn target(text: &str, path: &str) -> Result<String, String> {
    let is_sendable = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    match crate::path::normalise(path.split('?').next().unwrap_or_default().as_bytes()) {
        Ok(_) if is_sendable => Ok(path.to_owned()),
        _ => Err(format!(
            "\"{text}\" is no path that a GET can ask for: it begins with /, and other than ASCII stands as %xx in it"
        )),
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
    fn what_no_client_can_send_is_refused() {
        for text in ["a", "", "ftp://x/", "http:///x", "http://u@x/", "/a b", "/a#b", "/ä", "/%zz", "/../a", "/a%2fb"]
        {
            assert!(WarmUpUrl::parse(text).is_err(), "{text}");
        }
    }
}
