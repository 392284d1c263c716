//! The shape of a row of the table: name, contexts, arguments, default, texts.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use crate::draft::{Draft, OpenedSection};
use crate::model::context::SectionContext;
use crate::model::overrides::Class;
use crate::syntax::source::{LineSyntax, Replacing, Splitting, ValueFile};
use crate::syntax::tree::Directive;

/// A directive.
pub struct Row {
    /// Spelling in the reference.
    pub name: &'static str,
    /// Source file of the module of httpd that has the directive: `mod_headers.c`, `core.c`, or `cameleer.c` where none
    /// has.
    pub owner: &'static str,
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
    /// Moment at which a change takes effect.
    pub effect: Effect,
    /// Whether `<Limit>` may contain the directive, which then holds for the methods listed there.
    pub per_method: bool,
    /// Whether an argument is Perl code, or names a Perl file or module: `.htaccess` files need further permission for
    /// these.
    pub is_code: bool,
    /// Whether an argument may contain a password. The page `server-info` hides the arguments.
    pub is_secret: bool,
    /// How the parser reads the line.
    pub line: LineSyntax,
    /// Whether a list in `<Perl>`, `@Alias = ('/a', '/srv/a', …)`, has pairs: only in `<Location>` a path stands alone.
    pub has_pairs: bool,
    /// Description for the reference and the help, about two lines.
    pub about: &'static str,
}

/// A table of rows: `rows!["mod_headers.c", word("Name", SERVER, "argument", setter).because("reason"), "Description.",
/// …]`. The module is that of all rows that name no other one by [`Row::of`].
macro_rules! rows {
    ($owner:expr, $($row:expr, $about:expr),* $(,)?) => { &[$($row.described($owner, $about)),*] };
}
pub(crate) use rows;

const fn row(name: &'static str, contexts: Contexts, takes: Takes) -> Row {
    Row {
        name,
        owner: "",
        aliases: &[],
        contexts,
        takes,
        default: None,
        because: "",
        effect: Effect::Reload,
        per_method: false,
        is_code: false,
        is_secret: false,
        line: LineSyntax::PLAIN,
        has_pairs: false,
        about: "",
    }
}

/// `Name On|Off`
pub const fn flag(name: &'static str, contexts: Contexts, set: fn(&mut Draft, bool)) -> Row {
    row(name, contexts, Takes::Flag(set))
}

/// `Name number`
pub const fn number(
    name: &'static str,
    contexts: Contexts,
    bounds: RangeInclusive<u64>,
    set: fn(&mut Draft, u64),
) -> Row {
    row(name, contexts, Takes::Number(bounds, set))
}

/// `Name size`
pub const fn size(name: &'static str, contexts: Contexts, set: fn(&mut Draft, u64)) -> Row {
    row(name, contexts, Takes::Size(set))
}

/// `Name duration`
pub const fn duration(name: &'static str, contexts: Contexts, set: fn(&mut Draft, Duration)) -> Row {
    row(name, contexts, Takes::Duration(set))
}

/// `Name path`
pub const fn path(name: &'static str, contexts: Contexts, set: fn(&mut Draft, PathBuf)) -> Row {
    row(name, contexts, Takes::Path(set))
}

/// A directive with one argument.
pub const fn word(name: &'static str, contexts: Contexts, argument: &'static str, set: SetWord) -> Row {
    row(name, contexts, Takes::Word(argument, set))
}

/// A directive with `count` arguments.
pub const fn words(
    name: &'static str,
    contexts: Contexts,
    arguments: &'static str,
    count: Count,
    set: SetWords,
) -> Row {
    row(name, contexts, Takes::Words(arguments, count, set))
}

/// A section with `count` arguments.
pub const fn section(
    name: &'static str,
    contexts: Contexts,
    arguments: &'static str,
    count: Count,
    enter: Enter,
) -> Row {
    row(name, contexts, Takes::Section(arguments, count, enter))
}

/// A directive that `parse` handles while files are read.
pub const fn reading(name: &'static str, contexts: Contexts, arguments: &'static str, form: Form) -> Row {
    row(name, contexts, Takes::Reading(arguments, form))
}

/// A set of [`SectionContext`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contexts {
    /// The bits of [`SectionContext`].
    pub places: u8,
    /// `AllowOverride` classes of which one must be allowed for use in `.htaccess` files.
    pub htaccess: Class,
}

pub const SERVER: Contexts = places(SectionContext::Server as u8);

/// Settings that each pool of workers has separately.
pub const POOLS: Contexts = places(SERVER.places | SectionContext::WorkerPool as u8);

pub const HOSTS: Contexts = places(SERVER.places | SectionContext::VirtualHost as u8);

pub const DIRECTORY: Contexts = places(SectionContext::Directory as u8);

pub const CONTAINERS: Contexts =
    places(SectionContext::Directory as u8 | SectionContext::Location as u8 | SectionContext::Files as u8);

pub const ANYWHERE: Contexts = places(HOSTS.places | CONTAINERS.places);

pub const FILE_INFO: Contexts = ANYWHERE.and_htaccess(Class::FILE_INFO);

pub const ANY: Contexts = ANYWHERE.and_htaccess(Class::ANY);

pub const INDEXES: Contexts = ANYWHERE.and_htaccess(Class::INDEXES);

pub const AUTH_CONFIG: Contexts = CONTAINERS.and_htaccess(Class::AUTH_CONFIG);

pub const NOT_LOCATION: Contexts = places(HOSTS.places | SectionContext::Directory as u8);

pub const fn places(places: u8) -> Contexts {
    Contexts { places, htaccess: Class::NEVER }
}

/// Moment at which a change takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The change needs `cameleer restart`, because the setting belongs to the master.
    Start,
    /// The change needs `cameleer reload`, and holds from the next connection or request on.
    Reload,
    /// The change needs `cameleer reload`, and holds from the first worker of the new generation on.
    Generation,
}

/// The arguments of a directive, and the function that stores them in the [`Draft`].
pub enum Takes {
    Flag(fn(&mut Draft, bool)),
    Number(RangeInclusive<u64>, fn(&mut Draft, u64)),
    Size(fn(&mut Draft, u64)),
    Duration(fn(&mut Draft, Duration)),
    Path(fn(&mut Draft, PathBuf)),
    Word(&'static str, SetWord),
    /// Argument names for the syntax line, allowed number of arguments, setter.
    Words(&'static str, Count, SetWords),
    Section(&'static str, Count, Enter),
    /// Handled by `parse` while files are read. Argument names, and whether this is a section.
    Reading(&'static str, Form),
}

/// Allowed number of arguments.
pub type Count = RangeInclusive<usize>;

/// Applies one argument.
pub type SetWord = fn(&mut Draft, &str) -> Result<(), String>;

/// Applies all arguments.
pub type SetWords = fn(&mut Draft, &[String]) -> Result<(), String>;

/// Opens a section by its arguments. The result `None` means that the function has processed the contents itself.
pub type Enter = fn(&mut Draft, &[String], &[Directive]) -> OpenedSection;

/// Whether a directive is written with angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Line,
    Section,
}

pub const MANY: usize = usize::MAX;

/// The optional columns of a row.
impl Row {
    /// The directive belongs to another module than the rows around it.
    pub const fn of(self, owner: &'static str) -> Row {
        Row { owner, ..self }
    }

    /// Completes a row, for [`rows`].
    pub const fn described(self, owner: &'static str, about: &'static str) -> Row {
        Row { owner: if self.owner.is_empty() { owner } else { self.owner }, about, ..self }
    }

    pub const fn aliases(self, aliases: &'static [&'static str]) -> Row {
        Row { aliases, ..self }
    }

    pub const fn per_method(self) -> Row {
        Row { per_method: true, ..self }
    }

    pub const fn code(self) -> Row {
        Row { is_code: true, ..self }
    }

    pub const fn secret(self) -> Row {
        Row { is_secret: true, ..self }
    }

    pub const fn split(self, words: Splitting) -> Row {
        Row { line: LineSyntax { words, ..self.line }, ..self }
    }

    pub const fn replacing(self, variables: Replacing) -> Row {
        Row { line: LineSyntax { variables, ..self.line }, ..self }
    }

    pub const fn file_of_values(self, kind: ValueFile) -> Row {
        Row { line: LineSyntax { file: Some(kind), ..self.line }, ..self }
    }

    pub const fn pairs(self) -> Row {
        Row { has_pairs: true, ..self }
    }

    pub const fn effect(self, effect: Effect) -> Row {
        Row { effect, ..self }
    }

    /// The default, in the syntax of the configuration file, and the reason for it.
    pub const fn default(self, value: &'static str, because: &'static str) -> Row {
        Row { default: Some(value), because, ..self }
    }

    /// The reason for having no default.
    pub const fn because(self, because: &'static str) -> Row {
        Row { because, ..self }
    }
}

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
}

impl Contexts {
    /// Allows `<WorkerPool>` too.
    pub const fn and_pools(self) -> Contexts {
        Contexts { places: self.places | SectionContext::WorkerPool as u8, ..self }
    }

    /// Allows `.htaccess` files too, where `AllowOverride` has one of `class`.
    pub const fn and_htaccess(self, class: Class) -> Contexts {
        Contexts { htaccess: class, ..self }
    }

    pub fn has(self, context: SectionContext) -> bool {
        self.places & context as u8 != 0
    }

    /// Whether a context is allowed by both.
    pub fn overlaps(self, other: Contexts) -> bool {
        self.places & other.places != 0
    }

    /// `AllowOverride` words of which `.htaccess` files need one. Empty: never allowed there.
    pub fn override_words(self) -> String {
        self.htaccess.words()
    }

    /// Names of the contexts, as users know them.
    pub fn names(self) -> Vec<&'static str> {
        use SectionContext::{Directory, Files, Location, Server, VirtualHost, WorkerPool};
        let all = [Server, VirtualHost, Directory, Location, Files, WorkerPool];
        all.into_iter().filter(|context| self.has(*context)).map(SectionContext::name).collect()
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
    pub fn count(&self) -> Count {
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
