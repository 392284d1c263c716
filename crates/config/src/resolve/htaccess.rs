//! `.htaccess` files: parsed as the main configuration, and merged between its sections.
//!
//! The order is, per folder from the root down: its `<Directory>` sections, then its `.htaccess`. Then follow
//! `<DirectoryMatch>`, `<Files>` (including those in `.htaccess` files), `<Location>`.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::draft::Draft;
use crate::model::config::Config;
use crate::model::context::{Rank, Scope, depth};
use crate::model::overrides::{HtaccessRules, Overrides};
use crate::model::settings::Section;
use crate::model::start_up::{StartUp, StartUpStep};
use crate::resolve::translate;
use crate::syntax::parse::ConfigReader;
use crate::syntax::pattern::meter::Meter;
use crate::syntax::pattern::{Budget, MEMORY_OF_HTACCESS, OF_HTACCESS, Pattern};
use crate::syntax::regular;
use crate::syntax::source::ParserSource;
use crate::syntax::tree::ConfigError;

/// Maximum size of a `.htaccess` file in bytes. Its text is sent to a worker with every request.
pub const MAX_HTACCESS_BYTES: u64 = 64 << 10;

/// Reads a `.htaccess` file of at most [`MAX_HTACCESS_BYTES`] bytes. May block on the disk.
pub fn htaccess_text(file: &Path) -> io::Result<String> {
    htaccess_file(file).map(|(_, text)| text)
}

/// As [`htaccess_text`], with the metadata of the file that was read.
pub fn htaccess_file(file: &Path) -> io::Result<(Metadata, String)> {
    let (metadata, bytes) = regular::read(file, MAX_HTACCESS_BYTES)?;
    if bytes.contains(&0) {
        return Err(io::Error::new(ErrorKind::InvalidData, "the file contains a NUL byte: expected UTF-8 text"));
    }
    Ok((metadata, String::from_utf8_lossy(&bytes).into_owned()))
}

/// Maximum size in bytes of all files together that apply to a request.
const MAX_CHAIN_BYTES: usize = 2 * MAX_HTACCESS_BYTES as usize;
/// Maximum memory per byte of a file: for its text, its settings, and the copies for workers.
const MEMORY_OF_BYTE: usize = 24;

/// Error message for files that are valid separately, but exceed the limits together.
pub const TOO_HEAVY: &str = "the .htaccess files from the root folder down to here exceed the limits together: 128 KB of text, \
    12 MB of memory, 1 MB for compiled regular expressions; shorten them, or write them in the main configuration";

/// A parsed `.htaccess` file.
#[derive(Debug)]
pub struct Htaccess {
    /// Folder of the file.
    pub folder: PathBuf,
    /// Section of the file itself, then the sections of its `<Files>`.
    sections: Vec<Section>,
    /// Code to load (`PerlHtaccess On`), and directives of Perl modules. Section indices count from the file's own
    /// section.
    pub start_up: Vec<StartUp>,
    /// Permissions by `AllowOverride`.
    pub allowed: Overrides,
    /// Size of its compiled regular expressions, see [`OF_HTACCESS`].
    pub weight: usize,
    /// Length of the text in bytes.
    pub length: usize,
    /// Approximate memory in bytes.
    pub memory: usize,
    /// Time spent in its regular expressions.
    pub meter: Arc<Meter>,
    /// Warnings about ignored directives.
    pub warnings: Vec<ConfigError>,
}

impl Htaccess {
    /// Number of sections: the file itself, and its `<Files>`.
    pub fn section_count(&self) -> usize {
        self.sections.len()
    }

    /// `section` counts within this file: 0 is the file itself.
    pub fn scope(&self, section: u16) -> Option<&Scope> {
        self.sections.get(usize::from(section)).map(|section| &section.scope)
    }

    /// Absolute, for messages.
    pub fn path(&self) -> &Path {
        Path::new(self.meter.file())
    }

    /// Whether the file contains directives of Perl modules.
    pub fn has_own_directives(&self) -> bool {
        self.start_up.iter().any(|it| matches!(it.step, StartUpStep::Own { .. }))
    }

    /// Replaces the scope of the file's own section.
    pub(super) fn set_scope(&mut self, scope: Scope) {
        if let Some(own) = self.sections.first_mut() {
            own.scope = scope;
        }
    }
}

/// Total load of the files that apply to a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChainLoad {
    length: usize,
    weight: usize,
    memory: usize,
}

impl ChainLoad {
    /// Adds a file. Returns `false` if the limits are exceeded.
    pub fn bears(&mut self, file: &Htaccess) -> bool {
        self.length += file.length;
        self.weight += file.weight;
        self.memory += file.memory;
        self.length <= MAX_CHAIN_BYTES && self.weight <= OF_HTACCESS && self.memory <= MEMORY_OF_HTACCESS
    }
}

/// Sections that apply to a request, including those of `.htaccess` files.
#[derive(Debug, Clone, Default)]
pub struct Applied {
    /// Section numbers in merge order. Numbers from the length of [`Config::sections`] on refer to sections of `files`.
    pub sections: Vec<u16>,
    /// Files in order, the outermost first.
    pub files: Vec<Arc<Htaccess>>,
}

impl Config {
    /// Whether `.htaccess` files are enabled for any folder.
    pub fn allows_overrides(&self) -> bool {
        self.sections.iter().any(|section| section.own.allow_override.is_some_and(|allowed| !allowed.is_none()))
    }

    /// `AllowOverride` for a folder with this number of path components. `sections` are those of the request.
    pub fn overrides(&self, sections: &[u16], depth: usize) -> Overrides {
        let configured = |number: &u16| {
            let section = self.sections.get(usize::from(*number))?;
            if section.rank <= Rank::directory(depth) { section.own.allow_override } else { None }
        };
        [0].iter().chain(sections).filter_map(configured).next_back().unwrap_or_default()
    }

    /// Names of `.htaccess` files of a host. The first that exists in a folder is used.
    pub fn access_file_names(&self, host: u16) -> &[String] {
        let own = self.hosts.get(usize::from(host)).map_or(&[][..], |host| &host.access_file_names);
        match (own, self.hosts.first()) {
            ([], Some(main)) => &main.access_file_names,
            _ => own,
        }
    }

    /// Whether a file must not be served because it may contain passwords or rules.
    pub fn hides(&self, host: u16, filename: &Path) -> bool {
        self.hides_name(host, filename.file_name().unwrap_or_default())
    }

    /// As [`Config::hides`], for a file name.
    pub fn hides_name(&self, host: u16, name: &OsStr) -> bool {
        name.as_bytes().starts_with(b".ht") || self.access_file_names(host).iter().any(|known| name == known.as_str())
    }

    /// Parses the text of `file` in `folder` with the permissions `allowed`.
    pub fn htaccess(
        &self,
        folder: &Path,
        file: &Path,
        text: &str,
        allowed: Overrides,
    ) -> Result<Htaccess, ConfigError> {
        self.rules_in(
            folder,
            file,
            text,
            HtaccessRules { allowed, perl: self.perl_htaccess, ends_at_first_error: true },
        )
    }

    /// As [`Config::htaccess`], but returns all errors of the file.
    pub fn htaccess_or_all_errors(
        &self,
        folder: &Path,
        file: &Path,
        text: &str,
        allowed: Overrides,
    ) -> Result<Htaccess, Vec<ConfigError>> {
        let rules = HtaccessRules { allowed, perl: self.perl_htaccess, ends_at_first_error: false };
        let (file, errors) = self.parsed(folder, file, text, rules);
        if errors.is_empty() { Ok(file) } else { Err(errors) }
    }

    /// Parses a `.htaccess` text with other restrictions.
    pub(super) fn rules_in(
        &self,
        folder: &Path,
        file: &Path,
        text: &str,
        rules: HtaccessRules,
    ) -> Result<Htaccess, ConfigError> {
        let (file, errors) = self.parsed(folder, file, text, rules);
        errors.into_iter().next().map_or(Ok(file), Err)
    }

    /// The parsed form without lines that have errors, and the errors.
    fn parsed(&self, folder: &Path, file: &Path, text: &str, rules: HtaccessRules) -> (Htaccess, Vec<ConfigError>) {
        let nothing = |_: &str| None;
        let source = ParserSource::disk(&self.server_root, &nothing);
        let mut reader = ConfigReader::without_files(&source);
        reader.text(text, &file.to_string_lossy());
        let (tree, errors) = reader.into_parts();
        let meter = Meter::new(folder, file.to_string_lossy().into_owned(), text);
        let patterns = Budget::of_htaccess().measured_by(meter.clone());
        let draft = Draft::of_htaccess(self, folder, rules, patterns, &tree);
        let file = Htaccess {
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
        };
        (file, errors.into_iter().chain(draft.errors).collect())
    }

    /// Merges `files`, the outermost first, between the sections of the main configuration.
    pub fn apply(&self, sections: Vec<u16>, files: Vec<Arc<Htaccess>>, path: &str, filename: &Path) -> Applied {
        let mut ranked: Vec<(Rank, u16)> =
            sections.into_iter().map(|number| (self.sections[usize::from(number)].rank, number)).collect();
        let request = translate::MatchedRequest::new(path, filename);
        let mut first = self.sections.len();
        for file in &files {
            for (at, section) in file.sections.iter().enumerate() {
                // Section numbers are 16 bits wide; sections beyond are ignored.
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

    /// Patterns of all `<Files>`, in the configuration and in `files`.
    pub fn names_with_rules<'a>(&'a self, files: &'a [Arc<Htaccess>]) -> Vec<&'a Pattern> {
        let sections = self.sections.iter().chain(files.iter().flat_map(|file| &file.sections));
        let pattern = |section: &'a Section| match &section.scope {
            Scope::Files(regex) => Some(regex),
            _ => None,
        };
        sections.filter_map(pattern).collect()
    }

    /// The section with this number in [`Applied`].
    pub(super) fn section<'a>(&'a self, files: &'a [Arc<Htaccess>], number: u16) -> Option<&'a Section> {
        let number = usize::from(number);
        let mut beyond = files.iter().flat_map(|file| &file.sections);
        self.sections.get(number).or_else(|| beyond.nth(number.checked_sub(self.sections.len())?))
    }

    /// Parses the texts again in a worker, in the order in which [`Config::htaccess`] parsed them in the front.
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
