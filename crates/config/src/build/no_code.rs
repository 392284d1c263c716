//! Warnings about places with `SetHandler perl-script` or `modperl` where no Perl code can respond.

use crate::draft::Draft;
use crate::model::context::{Scope, rest_below};
use crate::model::handler::Handler;
use crate::model::perl::api::PerlGeneration;
use crate::model::settings::Section;
use crate::syntax::tree::ConfigError;

/// Adds the warnings. A place is silent if any section that may hold beside it can bring code.
pub(super) fn check(draft: &mut Draft) {
    let config = &draft.config;
    let may_be_beside =
        |place: &Section| config.sections.iter().any(|other| may_bring_code(other) && may_meet(place, other));
    // Most places name their handler themselves, and need no look at all others.
    let has_code = |place: &Section| may_bring_code(place) || may_be_beside(place);
    let mut warnings = Vec::new();
    for (at, section) in &draft.code_handlers {
        let Some(place) = config.sections.get(usize::from(*section)).filter(|place| !has_code(place)) else { continue };
        let Some(handler @ (Handler::PerlScript | Handler::ModPerl)) = &place.own.handler else { continue };
        let directive = match config.perl_of(place.pool).generation {
            PerlGeneration::One => "PerlHandler",
            PerlGeneration::Two => "PerlResponseHandler",
        };
        let name = handler.name().unwrap_or_default();
        let message = format!(
            "SetHandler: {name} without a {directive}: no Perl code responds, and files are sent as they are; \
             write `{directive} NAME`, or remove this line"
        );
        warnings.push(ConfigError::at(at, message));
    }
    draft.config.warnings.extend(warnings);
}

/// Whether a section names response handlers, or lets a handler of an earlier phase or a `.htaccess` file do so.
fn may_bring_code(section: &Section) -> bool {
    let own = &section.own;
    own.perl_handlers.as_ref().is_some_and(|names| !names.is_empty())
        || !own.phases.is_empty()
        || own.allow_override.is_some_and(|allowed| !allowed.is_none())
}

/// Whether one request can be in both sections. Of patterns that is not known.
fn may_meet(one: &Section, other: &Section) -> bool {
    match (&one.scope, &other.scope) {
        (Scope::Location(one), Scope::Location(other)) => {
            rest_below(one, other).is_some() || rest_below(other, one).is_some()
        }
        (Scope::Directory(one), Scope::Directory(other)) => one.starts_with(other) || other.starts_with(one),
        _ => true,
    }
}
