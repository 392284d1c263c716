//! What the rules of a place may cost for one request: work, values and time.

use http::StatusCode;

use super::RequestContext;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::{meter, work};

impl RequestContext {
    /// Applies rules of the configuration and of `.htaccess` files: their work counts and their time is measured.
    pub fn apply_rules<T>(&self, work: impl FnOnce() -> T) -> T {
        meter::stretch(|| self.allowance.count(work))
    }

    /// An error when the rules of `route` wanted too much or took too long: what they were to do is not done.
    pub fn within_limits(&self, route: &Route) -> Result<(), Refusal> {
        route.in_time()?;
        if !self.allowance.is_used_up() {
            return Ok(());
        }
        if !self.is_complained.replace(true) {
            let file = route.files.last().map(|file| format!("{}: ", file.path().display())).unwrap_or_default();
            self.complain(route, &format_args!("{file}{}", work::Allowance::complaint()));
        }
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
    }
}
