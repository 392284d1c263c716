//! The table of directives: one row for each. `check`, the help and the reference page are generated from the table. To
//! add a directive, add a row to the file of its topic.

mod access;
mod branches;
mod budget;
mod checks;
mod client;
mod content;
mod failures;
mod fixed;
pub(crate) use content::user_dirs;
pub mod foreign_modules;
pub(super) mod httpd_only;
mod identity;
mod logs;
mod memory;
mod monitor;
mod old;
mod perl;
mod pool;
pub(super) mod row;
mod scheduling;
mod sections;
mod server;
mod traces;
pub(super) mod unknown;

use std::collections::HashMap;
use std::sync::LazyLock;

use row::{Form, MANY, Row};

pub use perl::mod_perl_2::{contradiction, speaks_of};
pub use perl::pools::{SectionPool, belongs, has_option, is_default, is_elsewhere};

use crate::model::context::SectionContext;
use crate::syntax::source::LineSyntax;

/// Rows by their names and aliases in lower case.
static BY_NAME: LazyLock<HashMap<String, &Row>> =
    LazyLock::new(|| all().flat_map(|row| row.names().map(move |name| (name.to_ascii_lowercase(), row))).collect());

/// The row with this name or alias, in any case.
pub(super) fn find(name: &str) -> Option<&'static Row> {
    BY_NAME.get(&name.to_ascii_lowercase()).copied()
}

/// Whether `name` is a directive or an alias of one.
pub fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// How the parser reads the line of a directive of the table.
pub(super) fn syntax_of(name: &str) -> Option<LineSyntax> {
    find(name).map(|row| LineSyntax {
        is_section: row.takes.form() == Form::Section,
        keeps_names: row.keeps_names(),
        ..row.line
    })
}

/// Whether the directive may differ between virtual hosts or places. Directives defined by Perl modules may.
pub fn is_about_requests(name: &str) -> bool {
    find(name).is_none_or(|row| row.contexts.has(SectionContext::VirtualHost))
}

/// Whether the arguments of a directive may contain a password.
pub fn is_secret(name: &str) -> bool {
    find(name).is_some_and(|row| row.is_secret)
}

/// Every name and alias of the table.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().flat_map(Row::names)
}

/// Lines for the Perl side: name, `section` or `line`, minimum and maximum number of arguments (-1: no maximum).
pub fn for_perl() -> String {
    let line = |row: &Row, name: &str| {
        let form = if row.takes.form() == Form::Section { "section" } else { "line" };
        let count = row.takes.count();
        let least = if row.has_pairs { 2 } else { *count.start() };
        let most = if *count.end() == MANY { "-1".to_owned() } else { count.end().to_string() };
        format!("{name} {form} {least} {most}\n")
    };
    all().flat_map(|row| row.names().map(move |name| line(row, name))).collect()
}

/// Every directive, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Row> {
    let topics = [
        server::ROWS,
        identity::ROWS,
        pool::ROWS,
        budget::ROWS,
        memory::ROWS,
        monitor::ROWS,
        client::node::ROWS,
        traces::ROWS,
        failures::ROWS,
        perl::pools::ROWS,
        perl::program::ROWS,
        scheduling::ROWS,
        client::limits::ROWS,
        client::strictness::ROWS,
        client::tls::ROWS,
        client::client_certificates::ROWS,
        client::managed::ROWS,
        client::http2::ROWS,
        client::remote_ip::ROWS,
        client::connections::ROWS,
        client::stores::ROWS,
        content::files::ROWS,
        content::types::ROWS,
        content::negotiation::ROWS,
        content::image_maps::ROWS,
        content::tracking::ROWS,
        content::user_dirs::ROWS,
        content::virtual_folders::ROWS,
        content::actions::ROWS,
        content::folders::ROWS,
        content::listings::ROWS,
        content::redirects::ROWS,
        content::rewriting::ROWS,
        content::proxy::pass::ROWS,
        content::proxy::fastcgi::ROWS,
        content::proxy::fcgid::ROWS,
        content::proxy::mod_fastcgi::ROWS,
        content::proxy::balancer::ROWS,
        content::proxy::forward::ROWS,
        content::proxy::tls::ROWS,
        content::headers::ROWS,
        content::filters::ROWS,
        content::filter_chain::ROWS,
        content::includes::ROWS,
        content::caching::ROWS,
        access::databases::ROWS,
        access::hosts::ROWS,
        access::users::ROWS,
        access::digest::ROWS,
        access::directory::ROWS,
        content::variables::ROWS,
        perl::handlers::ROWS,
        perl::switches::ROWS,
        perl::phases::ROWS,
        perl::phases::FURTHER,
        perl::mod_perl_2::ROWS,
        perl::libapreq::ROWS,
        logs::ROWS,
        old::ROWS,
        sections::ROWS,
        branches::ROWS,
    ];
    topics.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::modules::is_embodied;
    use crate::syntax::source::Replacing;

    #[test]
    fn each_directive_name_has_one_row() {
        let mut names: Vec<_> = names().collect();
        names.sort_by_key(|name| name.to_ascii_lowercase());
        assert!(names.windows(2).all(|pair| !pair[0].eq_ignore_ascii_case(pair[1])));
    }

    /// Skipping a block whose directives would work could drop its access control.
    #[test]
    fn the_module_of_each_directive_counts_as_present_for_ifmodule() {
        for row in all() {
            assert!(is_embodied(row.owner), "<IfModule {}> is skipped, and with it {}", row.owner, row.name);
        }
    }

    #[test]
    fn every_directive_has_prose_and_a_reason_for_its_default() {
        for row in all() {
            assert!(row.about.ends_with('.') && row.about.len() > 20, "{}", row.name);
            assert!(!row.because.is_empty() && !row.because.ends_with('.'), "{}", row.name);
            assert!(!row.contexts.names().is_empty(), "{}", row.name);
            assert!(row.default.is_none_or(|default| !default.is_empty()), "{}", row.name);
        }
    }

    #[test]
    fn the_handler_of_every_phase_may_be_a_sub_with_variables_of_perl() {
        let is_handler = |row: &&Row| row.name.starts_with("Perl") && row.name.ends_with("Handler");
        let handlers: Vec<&Row> = all().filter(is_handler).collect();
        assert!(handlers.len() > 20, "{}", handlers.len());
        for row in handlers {
            assert_eq!(row.line.variables, Replacing::UnlessSub, "{}", row.name);
        }
    }

    #[test]
    fn names_are_written_as_apache_writes_them() {
        for row in all() {
            assert!(row.name.starts_with(|c: char| c.is_ascii_uppercase()), "{}", row.name);
            let name = row.name.strip_prefix("APREQ2_").unwrap_or(row.name);
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{}", row.name);
        }
    }
}
