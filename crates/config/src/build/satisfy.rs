//! Warnings about nested sections that httpd versions merge differently. mod_access_compat of httpd 2.4 merges nothing:
//! a section with `Order`, `Allow`, `Deny` or `Satisfy` drops all four of the outer sections. Here `Satisfy` alone
//! drops no `Deny`, which would open the place; an `Order`, `Allow` or `Deny` resets `Satisfy`.

use crate::draft::Draft;
use crate::model::access::Satisfy;
use crate::model::context::{Scope, rest_below};
use crate::model::settings::Section;
use crate::syntax::tree::ConfigError;

/// Adds a warning for each nested section that httpd would merge differently.
pub(super) fn check(draft: &mut Draft) {
    let warnings: Vec<ConfigError> = [anew(&draft.config.sections), alone(&draft.config.sections)].concat();
    draft.config.warnings.extend(warnings);
}

/// Sections whose `Order`, `Allow` or `Deny` reset an outer `Satisfy Any`; httpd 1.3 and 2.2 kept it.
fn anew(sections: &[Section]) -> Vec<ConfigError> {
    let asks_for_one = |outer: &&Section| outer.own.access.satisfy == Some(Some(Satisfy::Any));
    let anew = sections.iter().filter(|section| section.own.access.satisfy == Some(None));
    let warning = |inner: &Section| {
        let outer = sections.iter().filter(asks_for_one).rfind(|outer| is_inside(inner, outer, sections))?;
        let message = format!(
            "{}: Order, Allow and Deny here reset the Satisfy Any of line {}, as in httpd 2.4, so both address and user must be permitted; \
             write Satisfy All, or Satisfy Any where one is enough",
            section_of(inner),
            outer.at.line,
        );
        Some(ConfigError::at(&inner.at, message))
    };
    anew.filter_map(warning).collect()
}

/// Sections with only `Satisfy` inside of one with `Order`, `Allow` or `Deny`, which httpd 2.4 drops.
fn alone(sections: &[Section]) -> Vec<ConfigError> {
    let with_hosts = |outer: &&Section| outer.own.access.hosts.is_some();
    let alone = sections
        .iter()
        .filter(|section| matches!(section.own.access.satisfy, Some(Some(_))) && section.own.access.hosts.is_none());
    let warning = |inner: &Section| {
        let outer = sections.iter().filter(with_hosts).rfind(|outer| is_inside(inner, outer, sections))?;
        let message = format!(
            "{}: Satisfy: Order, Allow and Deny of line {} hold here as well; httpd 2.4 drops them here and permits every address; \
             write Order, Allow and Deny beside Satisfy",
            section_of(inner),
            outer.at.line,
        );
        Some(ConfigError::at(&inner.at, message))
    };
    alone.filter_map(warning).collect()
}

/// `Directory "/srv/site"`, for a message.
fn section_of(section: &Section) -> String {
    match section.scope.named() {
        Some(argument) => format!("{} \"{argument}\"", section.scope.name()),
        None => section.scope.name().to_owned(),
    }
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
