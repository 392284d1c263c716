//! The variables of a request after an internal redirect: those before it as `REDIRECT_…`, and those that httpd adds.
//!
//! Those of a redirect by rules are computed when they are read. Most requests for files end before that.

use http::StatusCode;
use http::request::Parts;

use super::RequestContext;
use super::unique_id::UNIQUE_ID;
use super::variables::{Environment, RedirectFacts};
use crate::routing::Route;
use config::response::variables::Variables;

impl Environment {
    /// Adds the variables of a redirect by rules. `id` makes the request's `UNIQUE_ID`.
    fn complete(&mut self, id: impl FnOnce() -> String) {
        let Some(facts) = self.lacks.take() else { return };
        let RedirectFacts { mut variables, lacks_id, route, query } = *facts;
        if lacks_id {
            variables.set(UNIQUE_ID, Some(id()));
        }
        let redirected = redirected(&variables, route.as_deref(), StatusCode::OK, query);
        for variables in [&mut self.inherited, &mut self.current] {
            let own = std::mem::replace(variables, redirected.clone());
            own.iter().for_each(|(name, value)| variables.set(name, Some(value.to_owned())));
        }
    }
}

impl RequestContext {
    /// Adds the variables of a redirect by rules, which few requests need.
    pub(super) fn complete_variables(&self) {
        if self.environment.borrow().lacks.is_some() {
            self.environment.borrow_mut().complete(|| self.unique_id());
        }
    }

    /// Begins an internal redirect by rules: its initial variables are the current ones as `REDIRECT_…`.
    pub fn inherit_redirect(&self, query: Option<String>) {
        self.complete_variables();
        let mut environment = self.environment.borrow_mut();
        let (variables, lacks_id) = (environment.current.clone(), environment.lacks_id);
        environment.inherited = Variables::default();
        let facts = RedirectFacts { variables, lacks_id, route: self.route().clone(), query };
        environment.lacks = Some(Box::new(facts));
    }
}

/// The variables of an internal redirect: the current ones as `REDIRECT_…`, and those that httpd adds.
pub fn pass_on(context: &RequestContext, head: &Parts, status: StatusCode) -> Variables {
    redirected(&context.variables(), context.route().as_deref(), status, head.uri.query().map(str::to_owned))
}

fn redirected(before: &Variables, route: Option<&Route>, status: StatusCode, query: Option<String>) -> Variables {
    let mut variables = before.redirected();
    variables.set("REDIRECT_STATUS", Some(status.as_str().to_owned()));
    variables.set("REDIRECT_URL", route.map(|route| String::from_utf8_lossy(&route.path).into_owned()));
    variables.set("REDIRECT_QUERY_STRING", query);
    variables
}
