//! `Redirect`, `RedirectMatch` and their relatives.

use crate::config::model::context::rest_below;
use crate::config::syntax::pattern::Pattern;

/// A longer address is one that no browser follows.
const LONGEST: usize = 64 << 10;

/// A line of `Redirect` or `RedirectMatch`.
#[derive(Debug, Clone)]
pub struct Redirect {
    /// Which paths.
    pub from: RedirectFrom,
    /// `None` for a status that is no redirection.
    pub to: Option<String>,
    /// 302, 410, …
    pub status: u16,
}

/// Which paths a redirection is for.
#[derive(Debug, Clone)]
pub enum RedirectFrom {
    /// Without a path, in a container: all that the container is for.
    Everything,
    /// A prefix that ends at a segment.
    Prefix(String),
    /// Those in which it is found.
    Match(Pattern),
}

/// What a redirected client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectResponse {
    /// 301, 410, …
    pub status: u16,
    /// Where to go, without the request's query; `None` for a status that is no redirection.
    pub location: Option<String>,
    /// A host says it, before rules of folders are followed.
    pub of_host: bool,
}

impl Redirect {
    /// The answer for a decoded path; `escape` makes a part of it fit for a URL again.
    pub fn answer(&self, path: &str, escape: &dyn Fn(&str) -> String) -> Option<RedirectResponse> {
        let to = self.to.as_deref().unwrap_or_default();
        let location = match &self.from {
            RedirectFrom::Everything => to.to_owned(),
            RedirectFrom::Prefix(prefix) => format!("{to}{}", escape(rest_below(prefix, path)?)),
            RedirectFrom::Match(regex) => match regex.find(path)?.expand(to, escape, LONGEST) {
                Ok(location) => location,
                Err(_) => return Some(RedirectResponse { status: 500, location: None, of_host: false }),
            },
        };
        let location = self.to.is_some().then_some(location);
        Some(RedirectResponse { status: self.status, location, of_host: false })
    }
}
