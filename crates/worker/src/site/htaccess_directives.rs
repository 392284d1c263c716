//! Directives of Perl modules in `.htaccess` files. Their modules are told when a request first comes to a place that such files make, and
//! what they make of it is kept as long as the place.

use libperl::{Interrupted, Result};

use super::Site;
use crate::start_up::{self, Within};
use config::{Applied, Htaccess, Scope, StartUpStep};

/// Their sections are numbered from here on: the server's own files have fewer.
const FIRST: u32 = 1 << 16;
/// Of how many sections modules keep something: strangers' words choose among places, and each edit of a file makes new ones.
const MOST: u32 = 4096;

impl Site {
    /// The numbers by which modules know the sections of a place. They are told what its `.htaccess` files say.
    pub(super) fn sections_for_modules(&self, host: u16, applied: &Applied) -> Result<Vec<u32>> {
        let known = self.config.sections.len() as u32;
        if !applied.files.iter().any(|file| file.has_own_directives()) {
            // The numbers that their sections would get are those of the next place that modules are told of.
            return Ok(applied
                .sections
                .iter()
                .map(|number| u32::from(*number))
                .filter(|number| *number < known)
                .collect());
        }
        let first = FIRST + self.told_sections.get();
        let count: usize = applied.files.iter().map(|file| file.section_count()).sum();
        // Also when a module dies: what it has made of these numbers is not the next place's.
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

    /// No request is under way. When modules keep something of too many places, all are made anew as they are needed.
    pub(crate) fn forget_told_sections(&self) {
        if self.told_sections.get() < MOST {
            return;
        }
        self.told_sections.set(0);
        self.locations.borrow_mut().clear();
        self.call_start_up(c"Cameleer::Directives::forget_htaccess", "values of .htaccess files");
    }
}
