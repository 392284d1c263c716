//! Every directive goes through its row of the table, and all errors are kept.

use crate::config::draft::{Draft, Position};
use crate::config::model::access::Methods;
use crate::config::model::context::Context;
use crate::config::model::overrides::HtaccessRules;
use crate::config::model::pools::{CODE_ELSEWHERE, DEFAULT};
use crate::config::model::start_up::StartUpStep;
use crate::config::syntax::tree::{ConfigError, Directive};
use crate::config::syntax::{value, words};
use crate::config::table::httpd_only::{self, Unsupported};
use crate::config::table::row::{Row, Takes};
use crate::config::table::{self, unknown};

impl Draft {
    /// Applies the table's defaults as if they stood in a file; what they say about settings is section 0.
    pub(super) fn defaults(&mut self) {
        for row in table::all() {
            let Some(default) = row.default else { continue };
            let applied = words::split(default).and_then(|args| self.call(row, &args, None));
            if let Err(message) = applied {
                self.errors.push(ConfigError::at(&self.at, format!("{}: default: {message}", row.name)));
            }
        }
    }

    /// Applies the directives of one context.
    pub(super) fn walk(&mut self, tree: &[Directive]) {
        for directive in tree {
            self.at = directive.at.clone();
            self.patterns.line = directive.at.line;
            self.name.clone_from(&directive.name);
            if let Err(message) = self.apply(directive) {
                let bracketed = directive.section.as_ref().map(|_| format!("<{}>", directive.name));
                let name = bracketed.as_deref().unwrap_or(&directive.name);
                self.errors.push(ConfigError::at(&directive.at, format!("{name}: {message}")));
            }
            // The first mistake closes the folder of a .htaccess file: the others, which take time, nobody is told.
            if self.htaccess.is_some() && !self.errors.is_empty() {
                return;
            }
        }
    }

    fn apply(&mut self, directive: &Directive) -> Result<(), String> {
        let row = match table::find(&directive.name) {
            Some(row) => row,
            None if self.is_own(&directive.name) => return self.own(directive),
            None => return self.foreign(directive),
        };
        row.check_form(directive)?;
        if !self.may_speak_any
            && let Some(message) = table::contradiction(directive, self.config.perl_of(self.position.pool).generation)
        {
            return Err(self.of_pool(message));
        }
        if let Some(rules) = self.htaccess
            && let Err(message) = rules.check(row.contexts.htaccess, row.is_code, directive)
        {
            return self.forbidden(message);
        }
        if self.position.context != Context::Htaccess {
            row.check_context(self.position.context)?;
        }
        if self.position.methods != Methods::ALL && !row.per_method && !matches!(row.takes, Takes::Reading(..)) {
            self.warn("stands in <Limit>, but holds for all methods, as in httpd: move it out");
        }
        if self.position.context == Context::Server {
            self.said_at.insert(row.name, directive.at.clone());
        }
        self.call(row, &directive.args, directive.section.as_deref())
    }

    /// Says which pool it is about, where that is not the server's own.
    fn of_pool(&self, message: String) -> String {
        match self.position.pool {
            DEFAULT => message,
            pool => message.replace("this server", &format!("pool {}", self.config.pool_name(pool))),
        }
    }

    /// The same for the contents of a section.
    pub(super) fn walk_in(&mut self, position: Position, inside: &[Directive]) {
        let outer = std::mem::replace(&mut self.position, position);
        self.walk(inside);
        self.position = outer;
    }

    /// Whether a Perl module of the site defines it.
    fn is_own(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let expanded = self.facts.expanded.as_ref();
        expanded.is_some_and(|it| if self.htaccess.is_some() { &it.defined } else { &it.own }.contains(&name))
    }

    /// Its module is told at the start, of a `.htaccess` file when a request comes to it; here it is only noted where.
    fn own(&mut self, directive: &Directive) -> Result<(), String> {
        if let Some(rules) = self.htaccess
            && let Err(message) = rules.check_own()
        {
            return self.forbidden(message);
        }
        if !self.config.may_configure(self.position.pool) {
            return Err(CODE_ELSEWHERE.to_owned());
        }
        let [args, inside @ ..] = directive.args.as_slice() else { return Ok(()) };
        self.start_up(StartUpStep::Own {
            name: directive.name.clone(),
            args: args.clone(),
            inside: inside.first().cloned(),
            section: self.position.section,
            host: self.position.host,
        });
        Ok(())
    }

    /// httpd's directives that we do not have are passed over when nothing depends on them.
    fn foreign(&mut self, directive: &Directive) -> Result<(), String> {
        match httpd_only::find(&directive.name, &directive.args) {
            Some((Unsupported::Ignored, message)) => {
                self.warn(&message);
                Ok(())
            }
            Some((Unsupported::Refused, message)) => self.unknown(message),
            None => {
                let message = unknown::message(&directive.name, &mut self.guesses);
                self.unknown(message)
            }
        }
    }

    fn unknown(&mut self, message: String) -> Result<(), String> {
        self.pass_over(HtaccessRules::passes_over_unknown, message)
    }

    fn call(&mut self, row: &Row, args: &[String], inside: Option<&[Directive]>) -> Result<(), String> {
        let count = args.len();
        if !row.takes.count().contains(&count) {
            return Err(row.wrong_count(args));
        }
        match &row.takes {
            Takes::Flag(set) => set(self, value::flag(&args[0])?),
            Takes::Number(bounds, set) => set(self, value::number(&args[0], bounds)?),
            Takes::Size(set) => set(self, value::size(&args[0])?),
            Takes::Duration(set) => set(self, value::duration(&args[0])?),
            Takes::Path(set) => set(self, self.path(&args[0])),
            Takes::Word(_, set) => set(self, &args[0])?,
            Takes::Words(_, _, set) => set(self, args)?,
            Takes::Section(_, _, open) => {
                let inside = inside.unwrap_or_default();
                let pool = self.pool_within(self.position.pool, inside);
                let outer = std::mem::replace(&mut self.position.pool, pool);
                let opened = open(self, args, inside);
                self.position.pool = outer;
                if let Some(position) = opened? {
                    self.walk_in(position, inside);
                }
            }
            Takes::Reading(..) => {}
        }
        Ok(())
    }
}
