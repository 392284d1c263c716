//! THE TABLE: every directive once, with all that is to be said about it. `check`, the help, the reference page and the
//! dashboard are printed from it. To add a directive, add a row to the file of its topic.

mod access;
mod actions;
mod admission;
mod clients;
mod files;
mod folders;
mod headers;
mod http2;
mod identity;
mod limits;
mod logs;
mod old;
mod perl;
mod perl_switches;
mod phases;
mod pool;
mod program;
mod redirects;
mod remote_ip;
mod sections;
mod server;
mod strictness;
mod tls;
mod types;
mod variables;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use super::Directive;
use super::context::Context;
use super::draft::Draft;
use super::overrides::Class;

/// A directive.
pub struct Row {
    /// As it is spelt in the reference.
    pub name: &'static str,
    /// Other spellings, equal in every respect.
    pub aliases: &'static [&'static str],
    /// Where it may stand.
    pub contexts: Contexts,
    /// What it takes, and what it does with it.
    pub(super) takes: Takes,
    /// Its value when it is not written, as it would be written.
    pub default: Option<&'static str>,
    /// Why this default, or why none.
    pub because: &'static str,
    /// When a change of it is felt.
    pub effect: Effect,
    /// Two lines of prose.
    pub about: &'static str,
}

/// A set of `Context`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contexts {
    places: u8,
    /// What `AllowOverride` must allow for it to stand in a `.htaccess` file, too.
    htaccess: Class,
}

const SERVER: Contexts = places(Context::Server as u8);
const HOSTS: Contexts = places(SERVER.places | Context::VirtualHost as u8);
const DIRECTORY: Contexts = places(Context::Directory as u8);
const CONTAINERS: Contexts = places(Context::Directory as u8 | Context::Location as u8 | Context::Files as u8);
const ANYWHERE: Contexts = places(HOSTS.places | CONTAINERS.places);
const NOT_LOCATION: Contexts = places(HOSTS.places | Context::Directory as u8);

const fn places(places: u8) -> Contexts {
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
pub(super) enum Takes {
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

/// What a section does with its arguments and contents.
type Enter = fn(&mut Draft, &[String], &[Directive]) -> Result<(), String>;

/// With or without angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Line,
    Section,
}

const MANY: usize = usize::MAX;

/// Rows by their names and aliases in lower case.
static BY_NAME: LazyLock<HashMap<String, &Row>> =
    LazyLock::new(|| all().flat_map(|row| row.names().map(move |name| (name.to_ascii_lowercase(), row))).collect());

/// The row of a name.
pub(super) fn find(name: &str) -> Option<&'static Row> {
    BY_NAME.get(&name.to_ascii_lowercase()).copied()
}

/// Whether the table has it.
pub fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// Every name and alias.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().flat_map(Row::names)
}

/// For Perl that makes directives, a line a name: name, `section` or `line`, least and most arguments, -1 for any number.
pub fn for_perl() -> String {
    let line = |row: &Row, name: &str| {
        let form = if row.takes.form() == Form::Section { "section" } else { "line" };
        let count = row.takes.count();
        let most = if *count.end() == MANY { "-1".to_owned() } else { count.end().to_string() };
        format!("{name} {form} {} {most}\n", count.start())
    };
    all().flat_map(|row| row.names().map(move |name| line(row, name))).collect()
}

/// The sentence for too few or too many arguments.
pub(super) fn wrong_count(row: &Row, args: &[String]) -> String {
    let advice = match args.iter().any(|arg| arg.starts_with('#')) {
        true => ": comments stand on lines of their own",
        false if args.len() > *row.takes.count().end() => ": put values with spaces in quotation marks",
        false => "",
    };
    format!("expected `{}`, got {} arguments{advice}", row.syntax(), args.len()).replace(" 1 arguments", " 1 argument")
}

impl Row {
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether it may stand in `<Limit>`.
    pub(super) fn per_method(&self) -> bool {
        access::PER_METHOD.contains(&self.name) || matches!(self.takes, Takes::Reading(..))
    }

    /// `MaxClients a number from 1 to 20000`, `<Location path>`
    pub fn syntax(&self) -> String {
        let words = self.takes.words();
        let line = if words.is_empty() { self.name.to_owned() } else { format!("{} {words}", self.name) };
        if self.takes.form() == Form::Section { format!("<{line}>") } else { line }
    }

    /// What `AllowOverride` must allow for it to stand in a `.htaccess` file.
    pub(super) fn override_class(&self) -> Class {
        self.contexts.htaccess
    }

    pub(super) fn check_form(&self, directive: &Directive) -> Result<(), String> {
        match (self.takes.form(), &directive.section) {
            (Form::Section, None) => Err(format!("is a section: write {} … </{}>", self.syntax(), self.name)),
            (Form::Line, Some(_)) => Err(format!("is not a section: write `{}`", self.syntax())),
            _ => Ok(()),
        }
    }

    pub(super) fn check_context(&self, context: Context) -> Result<(), String> {
        if self.contexts.has(context) {
            return Ok(());
        }
        Err(format!("is not allowed in {}: move it to {}", context.name(), self.contexts.names().join(" or ")))
    }
}

impl Contexts {
    /// In `.htaccess` files as well, where `AllowOverride` has one of `class`.
    const fn and_htaccess(self, class: Class) -> Contexts {
        Contexts { htaccess: class, ..self }
    }

    pub(super) fn has(self, context: Context) -> bool {
        self.places & context as u8 != 0
    }

    /// The words of `AllowOverride` of which `.htaccess` files need one; empty: it never stands in them.
    pub fn htaccess(self) -> String {
        self.htaccess.words()
    }

    /// As a user calls them.
    pub fn names(self) -> Vec<&'static str> {
        use Context::{Directory, Files, Location, Server, VirtualHost};
        let all = [Server, VirtualHost, Directory, Location, Files];
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
    pub(super) fn count(&self) -> RangeInclusive<usize> {
        match self {
            Takes::Words(_, count, _) | Takes::Section(_, count, _) => count.clone(),
            Takes::Reading(..) => 0..=MANY,
            _ => 1..=1,
        }
    }

    /// The arguments, for a reader.
    pub(super) fn words(&self) -> String {
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

    fn form(&self) -> Form {
        match self {
            Takes::Section(..) => Form::Section,
            Takes::Reading(_, form) => *form,
            _ => Form::Line,
        }
    }
}
/// Every directive, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Row> {
    let topics = [
        server::ROWS,
        identity::ROWS,
        pool::ROWS,
        program::ROWS,
        admission::ROWS,
        limits::ROWS,
        strictness::ROWS,
        tls::ROWS,
        http2::ROWS,
        remote_ip::ROWS,
        clients::ROWS,
        files::ROWS,
        types::ROWS,
        actions::ROWS,
        folders::ROWS,
        redirects::ROWS,
        headers::ROWS,
        access::ROWS,
        variables::ROWS,
        perl::ROWS,
        perl_switches::ROWS,
        phases::ROWS,
        phases::FURTHER,
        logs::ROWS,
        old::ROWS,
        sections::ROWS,
    ];
    topics.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_directives() {
        let mut names: Vec<_> = names().collect();
        names.sort_by_key(|name| name.to_ascii_lowercase());
        assert!(names.windows(2).all(|pair| !pair[0].eq_ignore_ascii_case(pair[1])));
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
    fn names_are_written_as_apache_writes_them() {
        for row in all() {
            assert!(row.name.starts_with(|c: char| c.is_ascii_uppercase()), "{}", row.name);
            assert!(row.name.chars().all(|c| c.is_ascii_alphanumeric()), "{}", row.name);
        }
    }
}
