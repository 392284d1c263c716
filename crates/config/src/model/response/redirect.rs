//! `Redirect`, `RedirectMatch`, `RedirectTemp`, `RedirectPermanent`.

use percent_encoding::percent_encode;

use super::expr::ExprText;
use crate::model::context::rest_below;
use crate::syntax::pattern::{Groups, Pattern};
use base::path::{NOT_IN_URL, PATH, QUERY_VALUE, Text};

/// Maximum length of a redirection's URL in bytes; browsers do not follow longer ones.
const MAX_BYTES: usize = 64 << 10;

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
    /// The response for a decoded path.
    pub fn answer(&self, path: &str) -> Option<RedirectResponse> {
        let to = self.to.as_deref().unwrap_or_default();
        let location = match &self.from {
            RedirectFrom::Everything | RedirectFrom::Location => to.to_owned(),
            RedirectFrom::Prefix(prefix) => format!("{to}{}", escaped(rest_below(prefix, path)?, to.contains('?'))),
            RedirectFrom::Match(regex) => match expanded(&regex.find(path)?, to) {
                Ok(location) => location,
                Err(_) => return Some(RedirectResponse { status: 500, location: None, expr: None, of_host: false }),
            },
        };
        let location = self.to.is_some().then_some(location);
        Some(RedirectResponse { status: self.status, location, expr: self.expr.clone(), of_host: false })
    }
}

/// A part of the request's path, encoded for the path of a URL or for its query.
fn escaped(part: &str, is_in_query: bool) -> String {
    percent_encode(&Text::bytes_in(part), if is_in_query { QUERY_VALUE } else { PATH }).to_string()
}

/// The URL of a `RedirectMatch`. As in httpd, its path is encoded, too; its query stays as written.
fn expanded(found: &Groups<'_>, to: &str) -> Result<String, String> {
    let (path, rest) = to.split_at(to.find(['?', '#']).unwrap_or(to.len()));
    let path = found.expand(path, &|part| escaped(part, false), MAX_BYTES)?;
    // The brackets of an IPv6 address stay.
    let of_server = path.find("://").map_or(0, |at| at + 3);
    let of_server =
        if of_server == 0 { 0 } else { path[of_server..].find('/').map_or(path.len(), |at| of_server + at) };
    let (server, path) = path.split_at(of_server);
    let rest = found.expand(rest, &|part| escaped(part, true), MAX_BYTES)?;
    Ok(format!("{server}{}{rest}", percent_encode(&Text::bytes_in(path), NOT_IN_URL)))
}
