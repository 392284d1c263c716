//! Places of event pools: their workers run a PSGI application, and no Perl code of another phase.

use crate::draft::Draft;
use crate::model::config::Config;
use crate::model::context::{Scope, rest_below};
use crate::model::handler::Handler;
use crate::model::host::Host;
use crate::model::perl::phases::Phase;
use crate::model::settings::{Section, Settings};
use crate::syntax::tree::ConfigError;

/// Adds an error for each place whose requests an event pool would refuse. Sections with patterns, folders and
/// `.htaccess` files are not checked; there each request is refused.
pub(super) fn check(draft: &mut Draft) {
    let config = &draft.config;
    if !config.pool_numbers().any(|number| config.pool_of(number).is_event()) {
        return;
    }
    let mut errors = Vec::new();
    for host in &config.hosts {
        for number in std::iter::once(&host.base).chain(&host.containers) {
            let Some(section) = config.sections.get(usize::from(*number)) else { continue };
            if let Some(error) = refused(config, host, *number, section).filter(|error| !errors.contains(error)) {
                errors.push(error);
            }
        }
    }
    draft.errors.extend(errors);
}

fn refused(config: &Config, host: &Host, number: u16, section: &Section) -> Option<ConfigError> {
    let main = config.hosts.first()?.base;
    if number != host.base && !matches!(section.scope, Scope::Location(_)) {
        return None;
    }
    let own = &section.own;
    // A section that adds nothing repeats the error of an outer one.
    if own.phases.is_empty() && own.cleanup_handlers.is_none() && own.perl_filters.is_empty() && own.handler.is_none() {
        return None;
    }
    let mut applied = vec![main, host.base];
    applied.extend(host.containers.iter().filter(|outer| contains(config, **outer, section)));
    let settings = config.settings(&applied, false);
    let pool = config.pool_for(&settings);
    if settings.handler != Handler::Psgi || !config.pool_of(pool).is_event() || settings.is_psgi_alone() {
        return None;
    }
    let directive = directive(&settings);
    let message = format!(
        "{directive}: workers with an event loop (PsgiMode event) run only PSGI applications, and no handler of another \
         phase, filter or cleanup; give the place another pool with PerlPool, or remove the handler"
    );
    Some(ConfigError::at(&section.at, message))
}

/// Whether each request of `section` is one of the section with this number, too.
fn contains(config: &Config, outer: u16, section: &Section) -> bool {
    let outer = config.sections.get(usize::from(outer)).map(|outer| &outer.scope);
    match (outer, &section.scope) {
        (Some(Scope::Location(outer)), Scope::Location(inner)) => rest_below(outer, inner).is_some(),
        _ => false,
    }
}

/// The directive that names Perl code, for the message.
fn directive(settings: &Settings) -> &'static str {
    let phase = |(phase, handlers): (Phase, &[String])| (phase.needs_worker() && !handlers.is_empty()).then_some(phase);
    match settings.phases.configured().find_map(phase) {
        Some(phase) => phase.name(),
        None if !settings.cleanup_handlers.is_empty() => Phase::Cleanup.name(),
        None if !settings.perl_filters.is_empty() => "a Perl filter",
        None => "a provider of users or of access",
    }
}
