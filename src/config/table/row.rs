//! A row of the table: all that is to be said about a directive.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::draft::{Draft, Opened};
use crate::config::model::context::Context;
use crate::config::model::overrides::Class;
use crate::config::syntax::tree::Directive;

/// A directive.
pub struct Row {
    /// As it is spelt in the reference.
    pub name: &'static str,
    /// Other spellings, equal in every respect.
    pub aliases: &'static [&'static str],
    /// Where it may stand.
    pub contexts: Contexts,
    /// What it takes, and what it does with it.
    pub takes: Takes,
    /// Its value when it is not written, as it would be written.
    pub default: Option<&'static str>,
    /// Why this default, or why none.
    pub because: &'static str,
    /// When a change of it is felt.
    pub effect: Effect,
    /// Whether it may stand in `<Limit>`: what it says holds for the methods that are named there.
    pub per_method: bool,
    /// Whether it takes Perl code, or names a file or module of it: in `.htaccess` files more is asked for that.
    pub is_code: bool,
    /// Two lines of prose.
    pub about: &'static str,
}

/// What rows leave out.
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
    /// What `AllowOverride` must allow for it to stand in a `.htaccess` file, too.
    pub htaccess: Class,
}

pub const SERVER: Contexts = places(Context::Server as u8);

/// What each pool of workers has for itself.
pub const POOLS: Contexts = places(SERVER.places | Context::WorkerPool as u8);

pub const HOSTS: Contexts = places(SERVER.places | Context::VirtualHost as u8);

pub const DIRECTORY: Contexts = places(Context::Directory as u8);

pub const CONTAINERS: Contexts = places(Context::Directory as u8 | Context::Location as u8 | Context::Files as u8);

pub const ANYWHERE: Contexts = places(HOSTS.places | CONTAINERS.places);

pub const NOT_LOCATION: Contexts = places(HOSTS.places | Context::Directory as u8);

pub const fn places(places: u8) -> Contexts {
    Contexts { places, htaccess: Class::NEVER }
}

/// When a change is felt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// `cameleer restart`: it belongs to the master.
    Start,
    /// `cameleer reload`: from the next connection or request on.
    Reload,
    /// `cameleer reload`: with the first worker of the new generation.
    Generation,
}

/// What a directive takes, and the function that puts it into the [`Draft`].
pub enum Takes {
    Flag(fn(&mut Draft, bool)),
    Number(RangeInclusive<u64>, fn(&mut Draft, u64)),
    Size(fn(&mut Draft, u64)),
    Duration(fn(&mut Draft, Duration)),
    Path(fn(&mut Draft, PathBuf)),
    Word(&'static str, fn(&mut Draft, &str) -> Result<(), String>),
    /// Their names, how many they may be.
    Words(&'static str, RangeInclusive<usize>, fn(&mut Draft, &[String]) -> Result<(), String>),
    Section(&'static str, RangeInclusive<usize>, Enter),
    /// `parse` has done it already; whether it is a section.
    Reading(&'static str, Form),
}

/// Opens a section by its arguments; `None`: it has read its contents itself.
pub type Enter = fn(&mut Draft, &[String], &[Directive]) -> Opened;

/// With or without angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Line,
    Section,
}

pub const MANY: usize = usize::MAX;

impl Row {
    /// All its spellings.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// `MaxClients a number from 1 to 20000`, `<Location path>`
    pub fn syntax(&self) -> String {
        let words = self.takes.words();
        let line = if words.is_empty() { self.name.to_owned() } else { format!("{} {words}", self.name) };
        if self.takes.form() == Form::Section { format!("<{line}>") } else { line }
    }

    /// The sentence for too few or too many arguments.
    pub fn wrong_count(&self, args: &[String]) -> String {
        let advice = match args.iter().any(|arg| arg.starts_with('#')) {
            true => ": comments stand on lines of their own",
            false if args.len() > *self.takes.count().end() => ": put values with spaces in quotation marks",
            false => "",
        };
        format!("expected `{}`, got {} arguments{advice}", self.syntax(), args.len())
            .replace(" 1 arguments", " 1 argument")
    }

    /// Whether it stands with or without angle brackets, as it should.
    pub fn check_form(&self, directive: &Directive) -> Result<(), String> {
        match (self.takes.form(), &directive.section) {
            (Form::Section, None) => Err(format!("is a section: write {} … </{}>", self.syntax(), self.name)),
            (Form::Line, Some(_)) => Err(format!("is not a section: write `{}`", self.syntax())),
            _ => Ok(()),
        }
    }

    /// Whether it may stand there.
    pub fn check_context(&self, context: Context) -> Result<(), String> {
        if self.contexts.has(context) {
            return Ok(());
        }
        Err(format!("is not allowed in {}: move it to {}", context.name(), self.contexts.names().join(" or ")))
    }
}

impl Contexts {
    /// In `<WorkerPool>` as well.
    pub const fn and_pools(self) -> Contexts {
        Contexts { places: self.places | Context::WorkerPool as u8, ..self }
    }

    /// In `.htaccess` files as well, where `AllowOverride` has one of `class`.
    pub const fn and_htaccess(self, class: Class) -> Contexts {
        Contexts { htaccess: class, ..self }
    }

    pub fn has(self, context: Context) -> bool {
        self.places & context as u8 != 0
    }

    /// The words of `AllowOverride` of which `.htaccess` files need one; empty: it never stands in them.
    pub fn override_words(self) -> String {
        self.htaccess.words()
    }

    /// As a user calls them.
    pub fn names(self) -> Vec<&'static str> {
        use Context::{Directory, Files, Location, Server, VirtualHost, WorkerPool};
        let all = [Server, VirtualHost, Directory, Location, Files, WorkerPool];
        all.into_iter().filter(|context| self.has(*context)).map(Context::name).collect()
    }
}

impl Effect {
    /// In a sentence: "A change takes effect …".
    pub fn words(self) -> &'static str {
        match self {
            Effect::Start => "at the next start",
            Effect::Reload => "at the next reload",
            Effect::Generation => "at the next reload, in the new generation of workers",
        }
    }
}

impl Takes {
    /// How many arguments.
    pub fn count(&self) -> RangeInclusive<usize> {
        match self {
            Takes::Words(_, count, _) | Takes::Section(_, count, _) => count.clone(),
            Takes::Reading(..) => 0..=MANY,
            _ => 1..=1,
        }
    }

    /// The arguments, for a reader.
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

    /// With or without angle brackets.
    pub fn form(&self) -> Form {
        match self {
            Takes::Section(..) => Form::Section,
            Takes::Reading(_, form) => *form,
            _ => Form::Line,
        }
    }
}
