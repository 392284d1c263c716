//! Saves the state of a request while a look-ahead of a rule runs: `-U`, `-F` and `%{LA-U:…}`.

use std::rc::Rc;

use super::RequestContext;
use super::rules::RuleEffects;
use super::variables::Environment;
use crate::routing::Route;
use access::User;
use config::response::expr::{ExprAnswer, ExprQuestion};

/// The state of a request that was set aside.
pub struct SetAside {
    route: Option<Rc<Route>>,
    environment: Environment,
    effects: RuleEffects,
    name: Option<Rc<str>>,
    user: Option<User>,
    answers: Vec<(ExprQuestion, ExprAnswer)>,
}

impl RequestContext {
    /// Saves route, variables, effects of rules and the user, until [`RequestContext::restore`].
    pub fn set_aside(&self) -> SetAside {
        let visitor = self.visitor();
        SetAside {
            route: self.route.borrow().clone(),
            environment: self.environment.borrow().clone(),
            effects: self.keep_effects(),
            name: visitor.name().cloned(),
            user: visitor.user().cloned(),
            answers: self.expressions.set_aside(),
        }
    }

    /// Restores the saved state.
    pub fn restore(&self, kept: SetAside) {
        let SetAside { route, environment, effects, name, user, answers } = kept;
        self.expressions.restore(answers);
        self.route.replace(route);
        self.environment.replace(environment);
        self.restore_effects(effects);
        self.visitor_mut().restore(name, user);
    }
}
