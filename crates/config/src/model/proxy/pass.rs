//! `ProxyPass`, `ProxyPassMatch`: which paths lead to which backend.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_encode;

use super::forward::Forwarding;
use super::url::{BackendAddress, BackendUrl};
use crate::model::context::rest_below;
use crate::syntax::pattern::{Groups, Pattern};
use crate::syntax::tree::At;
use crate::syntax::work;
use base::path::{CANONICAL, Text};

/// Maximum length in bytes of a backend's path with replaced groups.
const MAX_BYTES: usize = 64 << 10;

/// The lines of a server or a virtual host.
#[derive(Debug, Clone, Default)]
pub struct PassLines {
    /// The lines, in the order in which they are tried.
    pub lines: Vec<ProxyPass>,
    /// `ProxyPassInherit Off`: the lines of the main server do not apply.
    pub alone: bool,
}

impl PassLines {
    /// Appends the lines of an inner section, or replaces the outer ones by them.
    pub fn merge(outer: &mut PassLines, inner: &PassLines) {
        if inner.alone {
            outer.lines.clear();
        }
        outer.lines.extend_from_slice(&inner.lines);
    }
}

/// A line of `ProxyPass` or `ProxyPassMatch`.
#[derive(Debug, Clone)]
pub struct ProxyPass {
    /// Paths that the line applies to.
    pub from: PassFrom,
    /// The backend, as written, perhaps with `$1` in its path. `None` for `!`: these paths are not passed on.
    pub to: Option<BackendUrl>,
    /// Parameters of the line, such as `timeout=5`.
    pub parameters: Arc<BackendParameters>,
    /// Position of the line.
    pub at: At,
}

/// Paths of a `ProxyPass`.
#[derive(Debug, Clone)]
pub enum PassFrom {
    /// A path and everything below it.
    Prefix(String),
    /// Paths that match the expression.
    Match(Pattern),
}

/// Parameters of a `ProxyPass`, as `retry=5`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackendParameters {
    /// `nocanon`: the backend gets the path as the client sent it.
    pub nocanon: bool,
    /// `noquery`: the backend gets no query.
    pub noquery: bool,
    /// `timeout`: wait for each piece; `None` for `ProxyTimeout`.
    pub timeout: Option<Duration>,
    /// `connectiontimeout`: wait for a connection; `None` for `timeout`.
    pub connection_timeout: Option<Duration>,
    /// `retry`: time without requests after a connection could not be made; `None` for 60 s.
    pub retry: Option<Duration>,
    /// `disablereuse`: each request has a connection of its own.
    pub disable_reuse: bool,
    /// `enablereuse=On`: a FastCGI application is asked to keep its connections.
    pub enable_reuse: bool,
    /// `ttl`: idle connections are closed after this time.
    pub ttl: Option<Duration>,
    /// `upgrade`: protocols to which a client may switch; `None`: those of the scheme.
    pub upgrade: Option<Upgrade>,
    /// `interpolate`: `${NAME}` in the path is a variable of the request.
    pub interpolate: bool,
    /// Set where the client has named the backend: `ProxyRequests`.
    pub forwarding: Option<Forwarding>,
    /// The server that the client has named, if another proxy gets the request unless `NoProxy` has its addresses.
    pub named: Option<BackendAddress>,
    /// The addresses that `NoProxy` was compared with; empty: those of the name.
    pub addresses: Vec<SocketAddr>,
    /// Addresses to which no connection is made: `ProxyBlock`.
    pub blocked: Vec<IpAddr>,
    /// The local address of connections: `ProxySourceAddress`.
    pub source: Option<IpAddr>,
}

/// `upgrade`: protocols to which a client may switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upgrade {
    /// Any protocol.
    Any,
    /// No protocol.
    None,
    /// The protocol of this name.
    To(String),
}

/// The backend of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The backend, with the whole path for it; without the request's query.
    pub url: BackendUrl,
    /// The parameters of the line.
    pub parameters: Arc<BackendParameters>,
    /// The position of the line.
    pub at: At,
}

impl Passed {
    /// Whether a client may switch to `protocol` over a connection to this backend.
    pub fn may_become(&self, protocol: &str) -> bool {
        match &self.parameters.upgrade {
            None => self.url.scheme.is_websocket() && protocol.eq_ignore_ascii_case("websocket"),
            Some(Upgrade::Any) => true,
            Some(Upgrade::None) => false,
            Some(Upgrade::To(one)) => protocol.eq_ignore_ascii_case(one),
        }
    }
}

impl ProxyPass {
    /// The backend of a decoded path; `raw` is the path as sent. `None`: the line is for other paths. `Some(None)`: the
    /// path is not passed on.
    pub fn answer(&self, path: &str, raw: &str) -> Option<Option<Passed>> {
        let canonical = |part: &str| percent_encode(&Text::bytes_in(part), CANONICAL).to_string();
        let groups = match &self.from {
            PassFrom::Prefix(prefix) => {
                rest_below(prefix, path)?;
                None
            }
            PassFrom::Match(pattern) => Some(pattern.find(path)?),
        };
        let Some(to) = &self.to else { return Some(None) };
        let raw = Some(raw).filter(|_| self.parameters.nocanon);
        let path = match (&self.from, groups) {
            (PassFrom::Prefix(prefix), _) => match raw.and_then(|raw| rest_below(prefix, raw)) {
                Some(rest) => format!("{}{rest}", to.path),
                None => format!("{}{}", to.path, canonical(rest_below(prefix, path)?)),
            },
            // Without a group in the backend's path, httpd appends the whole path.
            (PassFrom::Match(_), Some(_)) if !to.path.contains('$') => {
                format!("{}{}", to.path.trim_end_matches('/'), raw.map_or_else(|| canonical(path), str::to_owned))
            }
            (PassFrom::Match(_), Some(groups)) => expanded(groups, &to.path, &canonical)?,
            (PassFrom::Match(_), None) => return None,
        };
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        // As in httpd, a question mark of the line is a part of the path: the query is the client's.
        let path = if self.parameters.nocanon { path } else { path.replace('?', "%3F") };
        Some(Some(Passed { url: to.at(path), parameters: self.parameters.clone(), at: self.at.clone() }))
    }
}

/// The path with the groups of a match. `None`, and the request is refused, if it would be too long: it must not lead
/// to another line.
fn expanded(groups: Groups<'_>, path: &str, escape: &dyn Fn(&str) -> String) -> Option<String> {
    let expanded = groups.expand(path, escape, MAX_BYTES);
    expanded
        .inspect_err(|_| work::fail(|| format!("ProxyPassMatch: a path of more than {MAX_BYTES} bytes is refused")))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::{Budget, Case};

    fn pass(from: &str, to: &str, nocanon: bool) -> ProxyPass {
        let from = match from.strip_prefix('~') {
            Some(regex) => {
                PassFrom::Match(Budget::of_the_administrator().compile(regex, Case::Exact).expect("a pattern"))
            }
            None => PassFrom::Prefix(from.to_owned()),
        };
        let to = (to != "!").then(|| BackendUrl::parse(to).expect("a backend"));
        let parameters = Arc::new(BackendParameters { nocanon, ..Default::default() });
        ProxyPass { from, to, parameters, at: At { file: "httpd.conf".into(), line: 1 } }
    }

    fn led(pass: &ProxyPass, path: &str) -> Option<Option<String>> {
        Some(pass.answer(path, &path.replace(' ', "%20"))?.map(|passed| passed.url.to_string()))
    }

    #[test]
    fn a_prefix_is_replaced_by_the_path_of_the_backend() {
        let line = pass("/a/", "http://one:81/b/", false);
        assert_eq!(led(&line, "/a/c d/?"), Some(Some("http://one:81/b/c%20d/%3F".to_owned())));
        assert_eq!(led(&line, "/b"), None);
        assert_eq!(led(&pass("/a", "http://one", false), "/ab"), None);
        assert_eq!(led(&pass("/a", "http://one", false), "/a/b"), Some(Some("http://one/b".to_owned())));
        assert_eq!(led(&pass("/a", "http://one", false), "/a"), Some(Some("http://one/".to_owned())));
        assert_eq!(led(&pass("/a", "!", false), "/ab"), None);
        assert_eq!(led(&pass("/a", "!", false), "/a/b"), Some(None));
    }

    #[test]
    fn nocanon_passes_the_path_unchanged() {
        let line = pass("/", "http://one/", true);
        assert_eq!(line.answer("/a/b", "/a%2Fb").flatten().map(|passed| passed.url.path), Some("/a%2Fb".to_owned()));
    }

    #[test]
    fn groups_of_a_match_become_part_of_the_backends_path() {
        assert_eq!(
            led(&pass("~^/x/(.*)$", "http://one/y/$1", false), "/x/a b"),
            Some(Some("http://one/y/a%20b".to_owned()))
        );
    }
}
