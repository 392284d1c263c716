//! Redirects of the configuration and of folders: `Redirect`, `DirectorySlash`, `DirectoryIndexRedirect`.
//!
//! As in httpd, a path of this server becomes a whole URL: proxies in front of this server map those, and `//name` at
//! the start of a path would be another server.

use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use http::request::Parts;

use super::context::RequestContext;
use super::context::expressions::ExprOf;
use super::context::known::origin;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use crate::routing::redirect::refusal;
use config::response::redirect::RedirectResponse;

/// Applies `Redirect` of the host or of a location.
pub async fn redirect(
    context: &RequestContext,
    route: &Route,
    head: &Parts,
    is_due: fn(&RedirectResponse) -> bool,
) -> Result<(), Refusal> {
    let Some(answer) = route.redirect.as_ref().filter(|answer| is_due(answer)) else { return Ok(()) };
    route.refused()?;
    let mut url = answer.location.clone();
    if let Some(expr) = &answer.expr {
        url = Some(Box::pin(context.text(&ExprOf::request(context, head, route), expr)).await);
    }
    // Clients take what follows `//` for a host, and a stranger may have chosen it.
    let may_be_relative = |url: &str| route.settings.response.redirect_relative == Some(true) && !url.starts_with("//");
    url = url.map(|url| if may_be_relative(&url) { url } else { absolute(context, head, route, url) });
    Err(refusal(&RedirectResponse { location: url, ..answer.clone() }, head.uri.query()))
}

/// A redirect to a path of this server.
pub struct PathRedirect {
    pub status: StatusCode,
    pub path: String,
}

/// The response that redirects.
pub fn moved(context: &RequestContext, head: &Parts, route: &Route, to: PathRedirect) -> Refusal {
    match HeaderValue::from_str(&absolute(context, head, route, to.path)) {
        Ok(location) => Refusal::with(to.status, LOCATION, location),
        Err(_) => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// The whole URL of a path of this server; any other text stays as it is.
fn absolute(context: &RequestContext, head: &Parts, route: &Route, url: String) -> String {
    if url.starts_with('/') { origin(context, head, route) + &url } else { url }
}
