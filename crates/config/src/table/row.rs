//! The shape of a row of the table: name, contexts, arguments, default, texts.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use crate::draft::{Draft, Opened};
use crate::model::context::Context;
use crate::model::overrides::Class;
use crate::syntax::tree::Directive;

/// A directive.
pub struct Row {
    /// Spelling in the reference.
    pub name: &'static str,
    /// Other spellings with the same meaning.
    pub aliases: &'static [&'static str],
    /// Contexts in which the directive is allowed.
    pub contexts: Contexts,
    /// Arguments, and the function that applies them.
    pub takes: Takes,
    /// Default value, in the syntax of the configuration file.
    pub default: Option<&'static str>,
    /// Reason for the default, or for having none.
    pub because: &'static str,
    /// When a change takes effect.
    pub effect: Effect,
    /// Whether `<Limit>` may contain the directive, which then holds for the methods listed there.
    pub per_method: bool,
    /// Whether an argument is Perl code, or names a Perl file or module: `.htaccess` files need further permission for these.
    pub is_code: bool,
    /// Description for the reference and the help, about two lines.
    pub about: &'static str,
}

/// Defaults for the fields that a row omits.
pub const ROW: Row = Row {
    name: "",
    aliases: &[],
    contexts: SERVER,
    takes: Takes::Reading("", Form::Line),
    default: None,
    because: "",
    effect: Effect::Reload,
    per_method: false,
    is_code: false,
    about: "",
};

/// A set of `Context`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contexts {
    /// The bits of [`Context`].
    pub places: u8,
    /// `AllowOverride` classes of which one must be allowed for use in `.htaccess` files.
    pub htaccess: Class,
}

pub const SERVER: Contexts = places(Context::Server as u8);

/// Settings that each pool of workers has separately.
pub const POOLS: Contexts = places(SERVER.places | Context::WorkerPool as u8);

pub const HOSTS: Contexts = places(SERVER.places | Context::VirtualHost as u8);

pub const DIRECTORY: Contexts = places(Context::Directory as u8);

pub const CONTAINERS: Contexts = places(Context::Directory as u8 | Context::Location as u8 | Context::Files as u8);

pub const ANYWHERE: Contexts = places(HOSTS.places | CONTAINERS.places);

pub const NOT_LOCATION: Contexts = places(HOSTS.places | Context::Directory as u8);

pub const fn places(places: u8) -> Contexts {
    Contexts { places, htaccess: Class::NEVER }
}

/// When a change takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// At `cameleer restart`, because the setting belongs to the master.
    Start,
    /// At `cameleer reload`, from the next connection or request on.
    Reload,
    /// At `cameleer reload`, with the first worker of the new generation.
    Generation,
}

/// The arguments of a directive, and the function that stores them in the [`Draft`].
pub enum Takes {
    Flag(fn(&mut Draft, bool)),
    Number(RangeInclusive<u64>, fn(&mut Draft, u64)),
    Size(fn(&mut Draft, u64)),
    Duration(fn(&mut Draft, Duration)),
    Path(fn(&mut Draft, PathBuf)),
    Word(&'static str, fn(&mut Draft, &str) -> Result<(), String>),
    /// Argument names for the syntax line, allowed number of arguments, setter.
    Words(&'static str, RangeInclusive<usize>, fn(&mut Draft, &[String]) -> Result<(), String>),
    Section(&'static str, RangeInclusive<usize>, Enter),
    /// Handled by `parse` while files are read. Argument names, and whether this is a section.
    Reading(&'static str, Form),
}

/// Opens a section by its arguments. The result `None` means that the function has processed the contents itself.
pub type Enter = fn(&mut Draft, &[String], &[Directive]) -> Opened;

/// Whether a directive is written with angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Line,
    Section,
}

pub const MANY: usize = usize::MAX;

impl Row {
    /// The name, then the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Syntax line, such as `MaxClients number|auto` or `<Location /url-path>`.
    pub fn syntax(&self) -> String {
        let words = self.takes.words();
        let line = if words.is_empty() { self.name.to_owned() } else { format!("{} {words}", self.name) };
        if self.takes.form() == Form::Section { format!("<{line}>") } else { line }
    }

    /// Error message for a wrong number of arguments.
    pub fn wrong_count(&self, args: &[String]) -> String {
        let advice = match args.iter().any(|arg| arg.starts_with('#')) {
            true => ": comments stand on lines of their own",
            false if args.len() > *self.takes.count().end() => ": put values with spaces in quotation marks",
            false => "",
        };
        format!("expected `{}`, got {} arguments{advice}", self.syntax(), args.len())
            .replace(" 1 arguments", " 1 argument")
    }

    /// Checks that a section is written as a section, and a line as a line.
    pub fn check_form(&self, directive: &Directive) -> Result<(), String> {
        match (self.takes.form(), &directive.section) {
            (Form::Section, None) => Err(format!("is a section: write {} … </{}>", self.syntax(), self.name)),
            (Form::Line, Some(_)) => Err(format!("is not a section: write `{}`", self.syntax())),
            _ => Ok(()),
        }
    }

    /// Checks that the directive is allowed in `context`.
    pub fn check_context(&self, context: Context) -> Result<(), String> {
        if self.contexts.has(context) {
            return Ok(());
        }
        Err(format!("is not allowed in {}: move it to {}", context.name(), self.contexts.names().join(" or ")))
    }
}

impl Contexts {
    /// Allows `<WorkerPool>` too.
    pub const fn and_pools(self) -> Contexts {
        Contexts { places: self.places | Context::WorkerPool as u8, ..self }
    }

    /// Allows `.htaccess` files too, where `AllowOverride` has one of `class`.
    pub const fn and_htaccess(self, class: Class) -> Contexts {
        Contexts { htaccess: class, ..self }
    }

    pub fn has(self, context: Context) -> bool {
        self.places & context as u8 != 0
    }

    /// `AllowOverride` words of which `.htaccess` files need one. Empty: never allowed there.
    pub fn override_words(self) -> String {
        self.htaccess.words()
    }

    /// Names of the contexts, as users know them.
    pub fn names(self) -> Vec<&'static str> {
        use Context::{Directory, Files, Location, Server, VirtualHost, WorkerPool};
        let all = [Server, VirtualHost, Directory, Location, Files, WorkerPool];
        all.into_iter().filter(|context| self.has(*context)).map(Context::name).collect()
    }
}

impl Effect {
    /// Completes the sentence "A change takes effect …".
    pub fn words(self) -> &'static str {
        match self {
            Effect::Start => "at the next start",
            Effect::Reload => "at the next reload",
            Effect::Generation => "at the next reload, in the new generation of workers",
        }
    }
}

impl Takes {
    /// Allowed number of arguments.
    pub fn count(&self) -> RangeInclusive<usize> {
        match self {
            Takes::Words(_, count, _) | Takes::Section(_, count, _) => count.clone(),
            Takes::Reading(..) => 0..=MANY,
            _ => 1..=1,
        }
    }

    /// Argument names for the syntax line.
    pub fn words(&self) -> String {
        match self {
            Takes::Flag(_) => "On|Off".to_owned(),
            Takes::Number(bounds, _) => format!("number ({} to {})", bounds.start(), bounds.end()),
            Takes::Size(_) => "size".to_owned(),
            Takes::Duration(_) => "duration".to_owned(),
            Takes::Path(_) => "path".to_owned(),
            Takes::Word(words, _) | Takes::Words(words, ..) => (*words).to_owned(),
            Takes::Section(words, ..) | Takes::Reading(words, _) => (*words).to_owned(),
        }
    }

    /// Whether the directive is written with angle brackets.
    pub fn form(&self) -> Form {
        match self {
            Takes::Section(..) => Form::Section,
            Takes::Reading(_, form) => *form,
            _ => Form::Line,
        }
    }
}
