//! Lines that Perl code adds to the place of a request (`$r->add_config`; mod_perl's manual, Apache2::RequestUtil), and
//! places that it merges into it (`$r->location_merge`).

use std::path::Path;
use std::sync::Arc;

use super::htaccess::{Applied, Htaccess};
use crate::config::model::config::Config;
use crate::config::model::context::Scope;
use crate::config::model::overrides::{HtaccessRules, Overrides, PerlHtaccess};
use crate::config::syntax::tree::ConfigError;

/// How errors call the lines.
const NAME: &str = "$r->add_config";

impl Config {
    /// Reads them as a `.htaccess` file in which that is allowed, and Perl anyway: the program could do it itself. `path` is
    /// what `$r->location` says behind them, if one of them is mod_perl's own.
    pub fn added(&self, text: &str, allowed: Overrides, path: Option<&str>) -> Result<Htaccess, ConfigError> {
        let rules = HtaccessRules { allowed, perl: PerlHtaccess::On };
        let mut read = self.rules_in(Path::new("/"), Path::new(NAME), text, rules)?;
        let path = path.filter(|_| text.lines().any(is_about_perl));
        read.stands_in(path.map_or(Scope::Host, |path| Scope::Directory(path.into())));
        Ok(read)
    }

    /// Merges them over all that applies so far.
    pub fn add(&self, to: &mut Applied, lines: Htaccess) {
        let first = self.sections.len() + to.files.iter().map(|file| file.section_count()).sum::<usize>();
        // What a number cannot name any more is the 65536th section.
        to.sections.extend(u16::try_from(first));
        to.files.push(Arc::new(lines));
    }

    /// The sections of the `<Location>` of exactly that path.
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
