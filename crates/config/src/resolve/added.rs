//! Lines that Perl code adds to the settings of a request (`$r->add_config`; mod_perl's manual, Apache2::RequestUtil),
//! and sections that it merges into them (`$r->location_merge`).

use std::path::Path;
use std::sync::Arc;

use super::htaccess::{Applied, Htaccess};
use crate::model::config::Config;
use crate::model::context::Scope;
use crate::model::overrides::{HtaccessRules, Overrides, PerlHtaccess};
use crate::syntax::tree::ConfigError;

/// Name of the lines in error messages.
const NAME: &str = "$r->add_config";

impl Config {
    /// Parses the lines as a `.htaccess` file with the permissions `allowed`. Perl is always permitted, because the
    /// program could run it itself. With a directive of mod_perl among the lines, `$r->location` becomes `path`.
    pub fn added(&self, text: &str, allowed: Overrides, path: Option<&str>) -> Result<Htaccess, ConfigError> {
        let rules = HtaccessRules { allowed, perl: PerlHtaccess::On, ends_at_first_error: true };
        let mut read = self.rules_in(Path::new("/"), Path::new(NAME), text, rules)?;
        let path = path.filter(|_| text.lines().any(is_about_perl));
        read.set_scope(path.map_or(Scope::Host, |path| Scope::Directory(path.into())));
        Ok(read)
    }

    /// Merges the lines over all other settings.
    pub fn add(&self, to: &mut Applied, lines: Htaccess) {
        let first = self.sections.len() + to.files.iter().map(|file| file.section_count()).sum::<usize>();
        // Section numbers are 16 bits wide; sections beyond are ignored.
        to.sections.extend(u16::try_from(first));
        to.files.push(Arc::new(lines));
    }

    /// The sections of a `<Location>` with exactly this path.
    pub fn sections_of_location(&self, host: u16, path: &str) -> Vec<u16> {
        let is_it = |number: &u16| match self.sections.get(usize::from(*number)).map(|section| &section.scope) {
            Some(Scope::Location(known)) => known.trim_end_matches('/') == path.trim_end_matches('/'),
            _ => false,
        };
        self.sections_without_file(host, path).into_iter().filter(is_it).collect()
    }
}

fn is_about_perl(line: &str) -> bool {
    line.trim_start().get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("Perl"))
}
