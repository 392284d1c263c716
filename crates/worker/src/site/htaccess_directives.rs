//! Directives of Perl modules in `.htaccess` files. They are passed to the modules when a request first needs their
//! location; the results are retained as long as the location.

use std::cell::Cell;
use std::rc::Rc;

use libperl::{Interpreter, Interrupted, Result};

use super::call_start_up;
use crate::start_up::{self, ModulePosition};
use config::{Applied, Config, Htaccess, Scope, StartUpStep};

/// First number of sections in `.htaccess` files; sections of the server's configuration have lower numbers.
const FIRST: u32 = 1 << 16;
/// Maximum number of sections for which modules retain data. Clients choose locations, and each edit of a file makes
/// new ones.
const MAX_TEXTS: u32 = 4096;

/// The sections that modules know.
pub struct ModuleSections {
    perl: Rc<Interpreter>,
    config: Rc<Config>,
    /// Number of `.htaccess` sections passed to modules.
    given: Cell<u32>,
}

impl ModuleSections {
    pub fn new(perl: Rc<Interpreter>, config: Rc<Config>) -> ModuleSections {
        ModuleSections { perl, config, given: Cell::new(0) }
    }

    /// Passes the directives of a location's `.htaccess` files to the modules. Returns the numbers by which modules
    /// identify the sections of the location.
    pub fn of(&self, host: u16, applied: &Applied) -> Result<Vec<u32>> {
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
        let first = FIRST + self.given.get();
        let count: usize = applied.files.iter().map(|file| file.section_count()).sum();
        // Count the sections before the modules run: after an error, the next location must not reuse these numbers.
        self.given.update(|given| given + count as u32);
        let mut next = first;
        for file in &applied.files {
            self.pass_to_modules(host, file, next)?;
            next += file.section_count() as u32;
        }
        let number = |number: &u16| u32::from(*number).checked_sub(known).map_or((*number).into(), |at| first + at);
        Ok(applied.sections.iter().map(number).collect())
    }

    fn pass_to_modules(&self, host: u16, file: &Htaccess, first: u32) -> Result<()> {
        let server = self.config.hosts.get(usize::from(host)).map_or(1, |host| host.base);
        for step in &file.start_up {
            let StartUpStep::Own { section, .. } = step.step else { continue };
            let scope = file.scope(section);
            let within = ModulePosition {
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

    /// Discards all module data of `.htaccess` files if there is too much; the locations must then be resolved anew.
    /// Returns whether it did. Called only between requests.
    pub fn forget_many(&self) -> bool {
        let is_full = self.given.get() >= MAX_TEXTS;
        if is_full {
            self.given.set(0);
            call_start_up(&self.perl, c"Cameleer::Directives::forget_htaccess", "values of .htaccess files");
        }
        is_full
    }
}
