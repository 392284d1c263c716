//! Timing of `SetEnv` and `PassEnv` in mod_perl 2: set in the Fixup phase, as httpd's mod_env does.

use std::collections::HashMap;

use crate::location::ResolvedLocation;
use config::Phase;
use config::response::variables::Variables;

/// Removes the variables before the phases begin, if a handler before Fixup could see them.
pub fn postpone(request: u64, location: &ResolvedLocation) {
    let rules = &location.settings.response;
    let is_seen = || Phase::Fixup.before().any(|phase| !location.names(phase).is_empty());
    if apache::api() == apache::Api::One || rules.env.is_empty() || !is_seen() {
        return;
    }
    let configured: HashMap<&str, Option<&str>> =
        rules.env.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
    let is_said = |(name, value): &(String, String)| configured.get(name.as_str()) == Some(&Some(value.as_str()));
    let gone = apache::variables(request).into_iter().filter(is_said).map(|(name, _)| (name, None));
    apache::change_variables(request, &gone.collect::<Vec<_>>());
}

/// Sets the variables at the beginning of the Fixup phase.
pub fn make_up(request: u64, location: &ResolvedLocation) {
    let rules = &location.settings.response;
    if apache::api() == apache::Api::One || rules.env.is_empty() {
        return;
    }
    let mut before = Variables::default();
    apache::variables(request).into_iter().for_each(|(name, value)| before.set(&name, Some(value)));
    let mut variables = before.clone();
    variables.set_all(&rules.env);
    apache::change_variables(request, &variables.changes_since(&before));
}

/// Whether a phase before Fixup runs, in mod_perl 2.
pub fn is_before_fixup(request: u64) -> bool {
    let running = apache::running_phase(request);
    apache::api() == apache::Api::Two && Phase::Fixup.before().any(|phase| running == Some(phase as u32))
}
