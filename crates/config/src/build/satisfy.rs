//! Warnings about `Order`, `Allow` or `Deny` that reset an outer `Satisfy Any`, as in httpd 2.4; httpd 1.3 and 2.2 kept it.

use crate::draft::Draft;
use crate::model::access::Satisfy;
use crate::model::context::{Scope, rest_below};
use crate::model::settings::Section;
use crate::syntax::tree::ConfigError;

/// Adds a warning for each such section.
pub(super) fn check(draft: &mut Draft) {
    let sections = &draft.config.sections;
    let asks_for_one = |outer: &&Section| outer.said.access.satisfy == Some(Some(Satisfy::Any));
    let anew = sections.iter().filter(|section| section.said.access.satisfy == Some(None));
    let warning = |inner: &Section| {
        let outer = sections.iter().filter(asks_for_one).rfind(|outer| is_inside(inner, outer, sections))?;
        let message = format!(
            "{}: Order, Allow and Deny here reset the Satisfy Any of line {}, as in httpd 2.4, so both address and user must be permitted: \
             write Satisfy All, or Satisfy Any where one is enough",
            inner.scope.name(),
            outer.at.line,
        );
        Some(ConfigError::at(&inner.at, message))
    };
    let warnings: Vec<ConfigError> = anew.filter_map(warning).collect();
    draft.config.warnings.extend(warnings);
}

/// Whether `outer` contains `inner`, as far as their scopes show it.
fn is_inside(inner: &Section, outer: &Section, sections: &[Section]) -> bool {
    let folder = inner.inside.and_then(|folder| sections.get(usize::from(folder))).unwrap_or(inner);
    if std::ptr::eq(inner, outer) {
        return false;
    }
    match (&outer.scope, &folder.scope) {
        (Scope::Directory(outer), Scope::Directory(inner)) => inner.starts_with(outer),
        (Scope::Location(outer), Scope::Location(inner)) => rest_below(outer, inner).is_some(),
        _ => false,
    }
}
