//! Application of directives by the rows of the table. All errors are collected.

use crate::draft::{Draft, Position};
use crate::model::access::Methods;
use crate::model::context::SectionContext;
use crate::model::overrides::HtaccessRules;
use crate::model::pools::{CODE_ELSEWHERE, DEFAULT};
use crate::model::start_up::StartUpStep;
use crate::syntax::source::Replacing;
use crate::syntax::tree::{ConfigError, Directive};
use crate::syntax::{defines, value, words};
use crate::table::httpd_only::{self, Unsupported};
use crate::table::row::{Row, Takes};
use crate::table::{self, unknown};

impl Draft {
    /// Applies the defaults of the table as if they were read from a file. Their settings are section 0.
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
    pub(crate) fn walk(&mut self, tree: &[Directive]) {
        for directive in tree {
            self.at = directive.at.clone();
            self.patterns.at = directive.at.clone();
            self.patterns.directive.clone_from(&directive.name);
            self.name.clone_from(&directive.name);
            if let Err(message) = self.apply(directive) {
                let bracketed = directive.section.as_ref().map(|_| format!("<{}>", directive.name));
                let name = bracketed.as_deref().unwrap_or(&directive.name);
                self.errors.push(ConfigError::at(&directive.at, format!("{name}: {message}")));
            }
            // The first error in a .htaccess file disables its folder, so the remaining directives need no time.
            if self.htaccess.is_some_and(|rules| rules.ends_at_first_error) && !self.errors.is_empty() {
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
        self.warn_of_names(row, &directive.args);
        if !self.may_use_either_api
            && let Some(message) = table::contradiction(directive, self.config.perl_of(self.position.pool).generation)
        {
            return Err(self.of_pool(message));
        }
        if let Some(rules) = self.htaccess
            && let Err(message) = rules.check(row.contexts.htaccess, row.is_code, directive)
        {
            return self.forbidden(message);
        }
        if self.position.context != SectionContext::Htaccess {
            row.check_context(self.position.context)?;
        }
        if self.position.methods != Methods::ALL && !row.per_method && !matches!(row.takes, Takes::Reading(..)) {
            self.warn("applies to all methods, as in httpd, although it is in <Limit>; move it out of the section");
        }
        if matches!(self.position.context, SectionContext::Server | SectionContext::WorkerPool) {
            self.positions.insert((self.position.pool, row.name), directive.at.clone());
        }
        self.call(row, &directive.args, directive.section.as_deref())
    }

    /// Warns about `${NAME}` without a value, which stays as in httpd. The parser refuses it where it would be a
    /// mistake.
    fn warn_of_names(&mut self, row: &Row, args: &[String]) {
        if row.keeps_names()
            && let Some(name) = unknown_name(row, args)
        {
            self.warn(&format!("{}; as in httpd, it stays as it is", defines::without_value(name)));
        }
    }

    /// Names the pool in the message, unless it is the default pool.
    fn of_pool(&self, message: String) -> String {
        match self.position.pool {
            DEFAULT => message,
            pool => message.replace("this server", &format!("pool {}", self.config.pool_name(pool))),
        }
    }

    /// Applies the directives of a section's contents.
    pub(super) fn walk_in(&mut self, position: Position, inside: &[Directive]) {
        let outer = std::mem::replace(&mut self.position, position);
        self.walk(inside);
        self.position = outer;
    }

    /// Whether a Perl module of the site defines the directive.
    fn is_own(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let expanded = self.facts.expanded.as_ref();
        expanded.is_some_and(|it| if self.htaccess.is_some() { &it.defined } else { &it.own }.contains(&name))
    }

    /// Records a directive of a Perl module. The module processes it at the start, or for `.htaccess` files in a
    /// request.
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

    /// Handles a directive of httpd that is not supported: ignored with a warning, or refused.
    fn foreign(&mut self, directive: &Directive) -> Result<(), String> {
        match httpd_only::find(&directive.name, &directive.args) {
            Some((Unsupported::Ignored, message)) => {
                match httpd_only::is_needless(&directive.name, &directive.args) {
                    true => self.without_effect(&message),
                    false => self.warn(&message),
                }
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
        self.refuse_or_warn(HtaccessRules::ignores_unknown, message)
    }

    fn call(&mut self, row: &Row, args: &[String], inside: Option<&[Directive]>) -> Result<(), String> {
        let args = self.without_comment(row, args);
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

impl Draft {
    /// The arguments without a comment behind `On` or `Off`. httpd reads one word of such a line and ignores the rest.
    fn without_comment<'a>(&mut self, row: &Row, args: &'a [String]) -> &'a [String] {
        match (&row.takes, args) {
            (Takes::Flag(_), [value, comment, ..]) if comment.starts_with('#') => {
                let ignored = args[1..].join(" ");
                self.warn(&format!("ignores \"{ignored}\", as httpd does; comments stand on lines of their own"));
                std::slice::from_ref(value)
            }
            _ => args,
        }
    }
}

/// The first name of the arguments that has no value, if the parser replaces names in this line.
fn unknown_name<'a>(row: &Row, args: &'a [String]) -> Option<&'a str> {
    let is_of_request = match row.line.variables {
        Replacing::Always => false,
        Replacing::Code | Replacing::UnlessSub => true,
        Replacing::UnlessInterpolated => args.iter().any(|word| word.eq_ignore_ascii_case("interpolate")),
    };
    // Behind the two arguments of a file of values are the lines of that file.
    let written = if row.line.file.is_some() { 2 } else { args.len() };
    let written = if is_of_request { 0 } else { written };
    args.iter().take(written).find_map(|arg| defines::unknown_name(arg))
}
