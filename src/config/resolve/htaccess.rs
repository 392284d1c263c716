//! `.htaccess` files: read by the same language as the rest, merged between the sections of the main configuration.
//!
//! Per folder, from the root down: its `<Directory>` sections, then its `.htaccess`. Then `<DirectoryMatch>`, `<Files>`
//! (those in `.htaccess` files in their places), `<Location>`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::draft::Draft;
use crate::config::model::config::Config;
use crate::config::model::context::{Rank, Scope, depth};
use crate::config::model::overrides::{HtaccessRules, Overrides};
use crate::config::model::settings::Section;
use crate::config::model::start_up::{StartUp, StartUpStep};
use crate::config::resolve::translate;
use crate::config::syntax::meter::Meter;
use crate::config::syntax::parse::Reader;
use crate::config::syntax::pattern::{Budget, MEMORY_OF_HTACCESS, OF_HTACCESS, Pattern};
use crate::config::syntax::source::Source;
use crate::config::syntax::tree::ConfigError;

/// A longer `.htaccess` file is refused, in bytes: its text goes to a worker with every request.
pub const LONGEST_HTACCESS: u64 = 64 << 10;

/// How long all files may be that apply to a request, in bytes.
const LONGEST_CHAIN: usize = 2 * LONGEST_HTACCESS as usize;
/// What a byte of a file takes in memory, at most: its text, as it is understood, and as it is sent to workers.
const MEMORY_OF_BYTE: usize = 24;

/// What is wrong with files that each may be, but not all at once.
pub const TOO_HEAVY: &str = "the .htaccess files from the root folder down to here are too much together: they may have 128 KB and take \
    12 MB of memory, their regular expressions 1 MB as automata";

/// A `.htaccess` file, understood.
#[derive(Debug)]
pub struct Htaccess {
    /// The folder that it stands in.
    pub folder: PathBuf,
    /// What it says itself, then its `<Files>` sections.
    sections: Vec<Section>,
    /// Code that it wants loaded (`PerlHtaccess On`), and directives of Perl modules, whose sections are counted from its own on.
    pub start_up: Vec<StartUp>,
    /// What `AllowOverride` lets it say.
    pub allowed: Overrides,
    /// What its regular expressions need; see [`OF_HTACCESS`].
    pub weight: usize,
    /// Its length in bytes.
    pub length: usize,
    /// How much memory it takes, about.
    pub memory: usize,
    /// How long its regular expressions take.
    pub meter: Arc<Meter>,
    /// What was ignored in it.
    pub warnings: Vec<ConfigError>,
}

impl Htaccess {
    /// What it says itself is one, each of its `<Files>` another.
    pub fn section_count(&self) -> usize {
        self.sections.len()
    }

    /// What one of them is about.
    pub fn scope(&self, section: u16) -> Option<&Scope> {
        self.sections.get(usize::from(section)).map(|section| &section.scope)
    }

    /// Its own name.
    pub fn path(&self) -> &Path {
        Path::new(self.meter.file())
    }

    /// Whether directives of Perl modules stand in it.
    pub fn has_own_directives(&self) -> bool {
        self.start_up.iter().any(|it| matches!(it.step, StartUpStep::Own { .. }))
    }

    /// What it says itself is about that part of the site.
    pub(super) fn stands_in(&mut self, scope: Scope) {
        if let Some(own) = self.sections.first_mut() {
            own.scope = scope;
        }
    }
}

/// What the files that apply to a request come to.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChainLoad {
    length: usize,
    weight: usize,
    memory: usize,
}

impl ChainLoad {
    /// Adds a file; `false`: they are too much together.
    pub fn bears(&mut self, file: &Htaccess) -> bool {
        self.length += file.length;
        self.weight += file.weight;
        self.memory += file.memory;
        self.length <= LONGEST_CHAIN && self.weight <= OF_HTACCESS && self.memory <= MEMORY_OF_HTACCESS
    }
}

/// Sections and the `.htaccess` files that some of their numbers mean.
#[derive(Debug, Clone, Default)]
pub struct Applied {
    /// In merge order. Numbers from [`Config::sections`]' length on count through the sections of `files`.
    pub sections: Vec<u16>,
    /// Outermost first.
    pub files: Vec<Arc<Htaccess>>,
}

impl Config {
    /// Whether any folder's `.htaccess` is to be looked for.
    pub fn allows_overrides(&self) -> bool {
        self.sections.iter().any(|section| section.said.allow_override.is_some_and(|allowed| !allowed.is_none()))
    }

    /// What the folders around a file allow, by how many parts their paths have; `sections` are those of the file.
    pub fn overrides(&self, sections: &[u16], depth: usize) -> Overrides {
        let said = |number: &u16| {
            let section = self.sections.get(usize::from(*number))?;
            if section.rank <= Rank::directory(depth) { section.said.allow_override } else { None }
        };
        [0].iter().chain(sections).filter_map(said).next_back().unwrap_or_default()
    }

    /// The names of `.htaccess` files of a host, the first that exists in a folder counts.
    pub fn access_file_names(&self, host: u16) -> &[String] {
        let own = self.hosts.get(usize::from(host)).map_or(&[][..], |host| &host.access_file_names);
        match (own, self.hosts.first()) {
            ([], Some(main)) => &main.access_file_names,
            _ => own,
        }
    }

    /// Whether a file holds passwords or rules, so that nobody may have it.
    pub fn hides(&self, host: u16, filename: &Path) -> bool {
        self.hides_name(host, filename.file_name().unwrap_or_default())
    }

    /// The same of a file of this name.
    pub fn hides_name(&self, host: u16, name: &OsStr) -> bool {
        name.as_bytes().starts_with(b".ht") || self.access_file_names(host).iter().any(|known| name == known.as_str())
    }

    /// Reads the text of `file` in `folder`, where `allowed` is allowed.
    pub fn htaccess(
        &self,
        folder: &Path,
        file: &Path,
        text: &str,
        allowed: Overrides,
    ) -> Result<Htaccess, ConfigError> {
        self.rules_in(folder, file, text, HtaccessRules { allowed, perl: self.perl_htaccess })
    }

    /// Likewise under other rules.
    pub(super) fn rules_in(
        &self,
        folder: &Path,
        file: &Path,
        text: &str,
        rules: HtaccessRules,
    ) -> Result<Htaccess, ConfigError> {
        let nothing = |_: &str| None;
        let source = Source::disk(&self.server_root, &nothing);
        let mut reader = Reader::without_files(&source);
        reader.text(text, &file.to_string_lossy());
        let (tree, errors) = reader.into_parts();
        let meter = Meter::new(file.to_string_lossy().into_owned());
        let patterns = Budget::of_htaccess().measured_by(meter.clone());
        let draft = Draft::of_htaccess(self, folder, rules, patterns, &tree);
        match errors.into_iter().chain(draft.errors).next() {
            Some(error) => Err(error),
            None => Ok(Htaccess {
                folder: folder.to_owned(),
                allowed: rules.allowed,
                weight: draft.patterns.spent(),
                length: text.len(),
                memory: draft.patterns.memory()
                    + text.len() * MEMORY_OF_BYTE
                    + draft.config.sections.len() * size_of::<Section>(),
                sections: draft.config.sections,
                start_up: draft.config.start_up,
                meter,
                warnings: draft.config.warnings,
            }),
        }
    }

    /// Puts `files`, outermost first, between the sections of the main configuration.
    pub fn apply(&self, sections: Vec<u16>, files: Vec<Arc<Htaccess>>, path: &str, filename: &Path) -> Applied {
        let mut ranked: Vec<(Rank, u16)> =
            sections.into_iter().map(|number| (self.sections[usize::from(number)].rank, number)).collect();
        let request = translate::MatchedRequest::new(path, filename);
        let mut first = self.sections.len();
        for file in &files {
            for (at, section) in file.sections.iter().enumerate() {
                // What a number cannot name any more is the 65536th section.
                if let Ok(number) = u16::try_from(first + at)
                    && (at == 0 || request.is_in(&section.scope))
                {
                    ranked.push((section.rank, number));
                }
            }
            first += file.sections.len();
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        Applied { sections: ranked.into_iter().map(|(_, number)| number).collect(), files }
    }

    /// The names that a `<Files>` is about, here or in `files`.
    pub fn names_with_rules<'a>(&'a self, files: &'a [Arc<Htaccess>]) -> Vec<&'a Pattern> {
        let sections = self.sections.iter().chain(files.iter().flat_map(|file| &file.sections));
        let pattern = |section: &'a Section| match &section.scope {
            Scope::Files(regex) => Some(regex),
            _ => None,
        };
        sections.filter_map(pattern).collect()
    }

    /// The section of a number of [`Applied`].
    pub(super) fn section<'a>(&'a self, files: &'a [Arc<Htaccess>], number: u16) -> Option<&'a Section> {
        let number = usize::from(number);
        let mut beyond = files.iter().flat_map(|file| &file.sections);
        self.sections.get(number).or_else(|| beyond.nth(number.checked_sub(self.sections.len())?))
    }

    /// The same files on the other side of the wire: from what [`Config::htaccess`] read, in the same order.
    pub fn reread<'a>(
        &self,
        sections: &[u16],
        texts: impl Iterator<Item = (PathBuf, &'a str)>,
    ) -> Result<Vec<Arc<Htaccess>>, ConfigError> {
        let read = |(folder, text): (PathBuf, &str)| {
            let allowed = self.overrides(sections, depth(&folder));
            self.htaccess(&folder, &folder.join(".htaccess"), text, allowed).map(Arc::new)
        };
        let files: Vec<Arc<Htaccess>> = texts.map(read).collect::<Result<_, _>>()?;
        let mut load = ChainLoad::default();
        match files.iter().all(|file| load.bears(file)) {
            true => Ok(files),
            false => Err(ConfigError { at: None, message: TOO_HEAVY.to_owned() }),
        }
    }
}
