//! Directives of Perl modules in `.htaccess` files. They are passed to the modules when a request first needs their
//! location; the results are retained as long as the location.

use libperl::{Interrupted, Result};

use super::Site;
use crate::start_up::{self, Within};
use config::{Applied, Htaccess, Scope, StartUpStep};

/// First number of sections in `.htaccess` files; sections of the server's configuration have lower numbers.
const FIRST: u32 = 1 << 16;
/// Maximum of sections for which modules retain data. Clients choose locations, and each edit of a file makes new
/// ones.
const MOST: u32 = 4096;

impl Site {
    /// Passes the directives of a location's `.htaccess` files to the modules. Returns the numbers by which modules
    /// identify the sections of the location.
    pub(super) fn sections_for_modules(&self, host: u16, applied: &Applied) -> Result<Vec<u32>> {
        let known = self.config.sections.len() as u32;
        if !applied.files.iter().any(|file| file.has_own_directives()) {
            // Sections without module directives get no number, since the next location would reuse it.
            return Ok(applied
                .sections
                .iter()
                .map(|number| u32::from(*number))
                .filter(|number| *number < known)
                .collect());
        }
        let first = FIRST + self.told_sections.get();
        let count: usize = applied.files.iter().map(|file| file.section_count()).sum();
        // Count the sections before the modules run: after an error, the next location must not reuse these numbers.
        self.told_sections.update(|told| told + count as u32);
        let mut next = first;
        for file in &applied.files {
            self.tell_modules(host, file, next)?;
            next += file.section_count() as u32;
        }
        let number = |number: &u16| u32::from(*number).checked_sub(known).map_or((*number).into(), |at| first + at);
        Ok(applied.sections.iter().map(number).collect())
    }

    fn tell_modules(&self, host: u16, file: &Htaccess, first: u32) -> Result<()> {
        let server = self.config.hosts.get(usize::from(host)).map_or(1, |host| host.base);
        for step in &file.start_up {
            let StartUpStep::Own { section, .. } = step.step else { continue };
            let scope = file.scope(section);
            let within = Within {
                section: first + u32::from(section),
                server,
                host,
                kind: scope.map(Scope::kind).unwrap_or_default().to_owned(),
                path: scope.map(Scope::argument).unwrap_or_default(),
                allowed: Some(file.allowed.numbers()),
            };
            start_up::own(&self.perl, step, &within)
                .map_err(|error| Interrupted::Died(start_up::mistake(step, &error).to_string()))?;
        }
        Ok(())
    }

    /// Discards all module data of `.htaccess` files if there is too much; locations are then rebuilt on demand.
    /// Called only between requests.
    pub(crate) fn forget_told_sections(&self) {
        if self.told_sections.get() < MOST {
            return;
        }
        self.told_sections.set(0);
        self.locations.borrow_mut().clear();
        self.call_start_up(c"Cameleer::Directives::forget_htaccess", "values of .htaccess files");
    }
}
