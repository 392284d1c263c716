//! Allowance of the rules of a request's locations, and their effects so far.

use std::cell::RefCell;

use http::{HeaderName, HeaderValue, StatusCode};

use super::RequestContext;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::response::rewrite::ForcedByRule;
use config::{meter, work};

/// The state of a request's rules.
#[derive(Default)]
pub struct RuleState {
    /// Allowance of work for the rules, in the units of [`work`].
    allowance: work::Allowance,
    effects: RefCell<RuleEffects>,
}

/// Effects of the rules so far.
#[derive(Clone, Default)]
pub(super) struct RuleEffects {
    /// Whether a rewrite rule with the flag `END` has stopped rewriting.
    have_ended: bool,
    /// Whether the log already reports that the rules exceeded their allowance.
    is_complained: bool,
    /// Headers that rewrite rules add to the response.
    fields: Vec<(HeaderName, HeaderValue)>,
    /// A number for the variants among which the file was chosen, if the client may know them.
    variants: Option<u64>,
    /// Handler and media type by rewrite rules of the current path.
    forced: ForcedByRule,
    /// Whether the request is the lookup of a rule (`-U`, `-F`), or is for the index of a folder.
    is_subrequest: bool,
    /// Whether the request is the lookup of a rule (`-U`, `-F`).
    is_looked_at: bool,
    /// See [`RequestContext::is_judged`].
    is_judged: bool,
}

impl RequestContext {
    /// The allowance of the request, which those of its parts share.
    fn allowance(&self) -> &work::Allowance {
        self.page().map_or(&self.rules.allowance, |page| page.allowance())
    }

    /// Runs rules of the configuration and of `.htaccess` files, and counts their work and time.
    pub fn apply_rules<T>(&self, work: impl FnOnce() -> T) -> T {
        meter::stretch(|| self.allowance().count(work))
    }

    /// Counts work that rules cause. False: the request's allowance is used up.
    pub fn spend_work(&self, work: usize) -> bool {
        self.allowance().count(|| work::spend(work))
    }

    /// An error if the rules of `route` exceeded their work or time limit; their effect is then incomplete.
    pub fn within_limits(&self, route: &Route) -> Result<(), Refusal> {
        route.in_time()?;
        if !self.allowance().is_used_up() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.rules.effects.borrow_mut().is_complained, true) {
            let of_place = || {
                let file = route.files.last().map(|file| format!("{}: ", file.path().display())).unwrap_or_default();
                format!("{file}{}", work::Allowance::total())
            };
            self.log_error(route, &work::failure().unwrap_or_else(of_place));
        }
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
    }

    /// Whether a rewrite rule with the flag `END` has stopped rewriting.
    pub fn rules_have_ended(&self) -> bool {
        self.rules.effects.borrow().have_ended
    }

    /// Stops rewriting.
    pub fn end_rules(&self) {
        self.rules.effects.borrow_mut().have_ended = true;
    }

    /// Adds a header to the later response, unless a rule has added the same one.
    pub fn add_field(&self, name: HeaderName, value: HeaderValue) {
        let (mut effects, field) = (self.rules.effects.borrow_mut(), (name, value));
        if !effects.fields.contains(&field) {
            effects.fields.push(field);
        }
    }

    /// Notes a number for the variants among which the response was chosen.
    pub fn negotiated_among(&self, variants: Option<u64>) {
        self.rules.effects.borrow_mut().variants = variants;
    }

    /// See [`RequestContext::negotiated_among`].
    pub fn variants(&self) -> Option<u64> {
        self.rules.effects.borrow().variants
    }

    /// Takes the headers that rules have added.
    pub fn take_fields(&self) -> Vec<(HeaderName, HeaderValue)> {
        std::mem::take(&mut self.rules.effects.borrow_mut().fields)
    }

    /// Runs `work`, and then puts back the fields that it has taken or added: the later response needs them.
    pub fn with_fields_restored<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.rules.effects.borrow().fields.clone();
        let result = work();
        self.rules.effects.borrow_mut().fields = before;
        result
    }

    /// Adds handler and media type that a rewrite rule has named.
    pub fn force(&self, by: ForcedByRule) {
        self.rules.effects.borrow_mut().forced.and(by);
    }

    /// Takes handler and media type that rewrite rules have named.
    pub fn take_forced(&self) -> ForcedByRule {
        std::mem::take(&mut self.rules.effects.borrow_mut().forced)
    }

    /// Whether the request is a look-ahead of a rule, or is for the index of a folder: as in httpd, rules with the
    /// flags R and NS do not apply then.
    pub fn is_subrequest(&self) -> bool {
        self.rules.effects.borrow().is_subrequest
    }

    /// Whether the request is looked at for a rule.
    pub fn is_looked_at(&self) -> bool {
        self.rules.effects.borrow().is_looked_at
    }

    /// Whether only the access to a place is judged: nothing is recorded about its user.
    pub fn is_judged(&self) -> bool {
        self.rules.effects.borrow().is_judged
    }

    /// Sets [`RequestContext::is_judged`].
    pub fn be_judged(&self) {
        self.rules.effects.borrow_mut().is_judged = true;
    }

    /// Sets [`RequestContext::is_subrequest`].
    pub fn be_subrequest(&self, is_one: bool) {
        self.rules.effects.borrow_mut().is_subrequest = is_one;
    }

    /// Begins to look at another request for a rule. The result is for [`RequestContext::restore_effects`].
    pub(super) fn keep_effects(&self) -> RuleEffects {
        let mut effects = self.rules.effects.borrow_mut();
        let kept = effects.clone();
        (effects.is_subrequest, effects.is_looked_at, effects.is_judged) = (true, true, true);
        kept
    }

    /// Ends [`RequestContext::keep_effects`]. Log lines that were written stay.
    pub(super) fn restore_effects(&self, kept: RuleEffects) {
        let mut effects = self.rules.effects.borrow_mut();
        let is_complained = effects.is_complained;
        *effects = RuleEffects { is_complained, ..kept };
    }
}
