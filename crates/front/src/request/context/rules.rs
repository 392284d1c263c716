//! Limits on the work and time of a location's rules for one request.

use http::StatusCode;

use super::RequestContext;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::{meter, work};

impl RequestContext {
    /// Runs rules of the configuration and of `.htaccess` files, and counts their work and time.
    pub fn apply_rules<T>(&self, work: impl FnOnce() -> T) -> T {
        meter::stretch(|| self.allowance.count(work))
    }

    /// An error if the rules of `route` exceeded their work or time limit; their effect is then incomplete.
    pub fn within_limits(&self, route: &Route) -> Result<(), Refusal> {
        route.in_time()?;
        if !self.allowance.is_used_up() {
            return Ok(());
        }
        if !self.is_complained.replace(true) {
            let of_place = || {
                let file = route.files.last().map(|file| format!("{}: ", file.path().display())).unwrap_or_default();
                format!("{file}{}", work::Allowance::total())
            };
            self.complain(route, &work::failure().unwrap_or_else(of_place));
        }
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
    }
}
