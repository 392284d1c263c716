//! `Redirect`, `RedirectMatch`, `RedirectTemp`, `RedirectPermanent`.

use super::expr::ExprText;
use crate::model::context::rest_below;
use crate::syntax::pattern::Pattern;

/// Maximum length of a redirection's URL in bytes; browsers do not follow longer ones.
const LONGEST: usize = 64 << 10;

/// A line of `Redirect` or `RedirectMatch`.
#[derive(Debug, Clone)]
pub struct Redirect {
    /// Paths that are redirected.
    pub from: RedirectFrom,
    /// Target URL. `None` for a status that is no redirection.
    pub to: Option<String>,
    /// `to`, if it has expressions.
    pub expr: Option<ExprText>,
    /// 302, 410, …
    pub status: u16,
}

/// Paths that are redirected.
#[derive(Debug, Clone)]
pub enum RedirectFrom {
    /// Everything in the container, for a directive without a path.
    Everything,
    /// Everything in the `<Location>`, which takes precedence over redirects of the host.
    Location,
    /// A prefix of the path that ends at the end of a segment.
    Prefix(String),
    /// Paths that match the pattern.
    Match(Pattern),
}

/// Response of a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectResponse {
    /// 301, 410, …
    pub status: u16,
    /// URL without the request's query. `None` for a status that is no redirection.
    pub location: Option<String>,
    /// The URL, if it has expressions.
    pub expr: Option<ExprText>,
    /// Whether the redirect is one of a host, which precede rewrite rules of folders.
    pub of_host: bool,
}

impl Redirect {
    /// The response for a decoded path. `escape` encodes a part of the path for a URL.
    pub fn answer(&self, path: &str, escape: &dyn Fn(&str) -> String) -> Option<RedirectResponse> {
        let to = self.to.as_deref().unwrap_or_default();
        let location = match &self.from {
            RedirectFrom::Everything | RedirectFrom::Location => to.to_owned(),
            RedirectFrom::Prefix(prefix) => format!("{to}{}", escape(rest_below(prefix, path)?)),
            RedirectFrom::Match(regex) => match regex.find(path)?.expand(to, escape, LONGEST) {
                Ok(location) => location,
                Err(_) => return Some(RedirectResponse { status: 500, location: None, expr: None, of_host: false }),
            },
        };
        let location = self.to.is_some().then_some(location);
        Some(RedirectResponse { status: self.status, location, expr: self.expr.clone(), of_host: false })
    }
}
