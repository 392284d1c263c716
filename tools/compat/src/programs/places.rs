//! Locations of CGI programs: folders of a ScriptAlias, and folders whose files have the handler `cgi-script` and
//! `Options ExecCGI`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use config::program::CgiMode;
use config::{AliasFrom, Config, Handler, Scope};

/// Maximum number of programs examined.
const MAX_PROGRAMS: usize = 1000;
/// Names in folders that are looked at: a DocumentRoot may be a disk.
const MAX_NAMES: usize = 20_000;
const MAX_DEEP: usize = 8;
/// Time limit of the search: a folder may be on another machine.
const MAX_TIME: Duration = Duration::from_secs(3);
/// A `<Directory>` with at most this many path components, such as `/` or `/usr/share`, is not searched: most of its
/// files belong to other services.
const MIN_PARTS: usize = 3;

/// A file that a place of `cgi-script` leads to.
#[derive(Debug)]
pub struct FoundProgram {
    pub file: PathBuf,
    /// `CgiMode` of the place.
    pub mode: CgiMode,
    /// Whether the place sets PERL_USE_UNSAFE_INC, by which perl searches the current folder.
    pub finds_current_folder: bool,
}

/// A folder or a file, and its URL path if known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Root {
    host: u16,
    path: PathBuf,
    url: Option<String>,
    is_script_alias: bool,
}

/// The programs with the modes of their places, and whether a limit has ended the search.
pub fn search(config: &Config) -> (Vec<FoundProgram>, bool) {
    let mut search = Search { config, found: Vec::new(), seen: BTreeSet::new(), names: 0, since: Instant::now() };
    for root in roots(config) {
        search.enter(&root, &root.path, MAX_DEEP);
    }
    let is_cut = search.is_at_its_end();
    (search.found, is_cut)
}

/// ScriptAliases come first: their files are programs in any case.
fn roots(config: &Config) -> Vec<Root> {
    let mut roots = Vec::new();
    for (host, server) in (0..).zip(&config.hosts) {
        for alias in &server.aliases {
            let (path, url) = match &alias.from {
                AliasFrom::Prefix(url) => (alias.to.clone(), Some(url.clone())),
                AliasFrom::Match(_) => (before_groups(&alias.to), None),
            };
            roots.push(Root { host, path, url, is_script_alias: alias.script });
        }
        let (path, url) = (server.document_root.clone(), Some("/".to_owned()));
        roots.push(Root { host, path, url, is_script_alias: false });
    }
    for section in &config.sections {
        if let Scope::Directory(path) = &section.scope {
            roots.push(Root { host: 0, path: path.clone(), url: None, is_script_alias: false });
        }
    }
    let has_handlers = config.sections.iter().any(|section| {
        section.own.handler.as_ref().is_some_and(Handler::is_cgi)
            || section.own.response.types.handlers().any(|handler| handler.is_cgi())
    });
    roots.retain(|root| root.is_script_alias || has_handlers && root.path.components().count() > MIN_PARTS);
    roots.sort_by_key(|root| !root.is_script_alias);
    roots.dedup();
    roots
}

/// `/srv/cgi/$1` leads to files of /srv/cgi.
fn before_groups(to: &Path) -> PathBuf {
    let text = to.to_string_lossy();
    let fixed = text.split('$').next().unwrap_or_default();
    match fixed.rsplit_once('/') {
        Some((folder, _)) if fixed.len() < text.len() => PathBuf::from(folder),
        _ => to.to_owned(),
    }
}

struct Search<'a> {
    config: &'a Config,
    found: Vec<FoundProgram>,
    seen: BTreeSet<PathBuf>,
    names: usize,
    since: Instant,
}

impl Search<'_> {
    fn is_at_its_end(&self) -> bool {
        self.found.len() >= MAX_PROGRAMS || self.names >= MAX_NAMES || self.since.elapsed() >= MAX_TIME
    }

    fn enter(&mut self, root: &Root, path: &Path, depth: usize) {
        if !path.is_dir() {
            return self.look(root, path);
        }
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut entries: Vec<_> = entries.flatten().take(MAX_NAMES).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            if self.is_at_its_end() {
                return;
            }
            self.names += 1;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                _ if is_hidden => {}
                // Symbolic links are not followed, because they may form a cycle.
                Ok(kind) if kind.is_dir() && depth > 0 => self.enter(root, &entry.path(), depth - 1),
                Ok(kind) if !kind.is_dir() => self.look(root, &entry.path()),
                _ => {}
            }
        }
    }

    fn look(&mut self, root: &Root, file: &Path) {
        if self.is_at_its_end() || !file.is_file() || self.config.hides(root.host, file) || self.seen.contains(file) {
            return;
        }
        if let Some(program) = self.program(root, file) {
            self.seen.insert(file.to_owned());
            self.found.push(program);
        }
    }

    /// The file, if it is a program in its place.
    fn program(&self, root: &Root, file: &Path) -> Option<FoundProgram> {
        let url = self.url(root, file).unwrap_or_default();
        let sections = self.config.sections(root.host, &url, file);
        let settings = self.config.settings(&sections, root.is_script_alias);
        let is_usual = |extension: &str| self.config.types.as_ref().is_some_and(|types| types.contains_key(extension));
        let handler = settings.handler_of(file, is_usual).unwrap_or(&settings.handler);
        let may_run = root.is_script_alias || settings.options.exec_cgi;
        let mode = settings.program.mode;
        let finds_current_folder =
            mode == CgiMode::Program && settings.response.env.iter().any(|(name, _)| name == "PERL_USE_UNSAFE_INC");
        (handler.is_cgi() && may_run).then(|| FoundProgram { file: file.to_owned(), mode, finds_current_folder })
    }

    /// The URL path of the file, unless another alias leads it elsewhere.
    fn url(&self, root: &Root, file: &Path) -> Option<String> {
        let prefix = root.url.as_ref()?;
        let inside = file.strip_prefix(&root.path).ok()?;
        let url = match (inside.as_os_str() == OsStr::new(""), prefix.ends_with('/')) {
            (true, _) => prefix.clone(),
            (false, true) => format!("{prefix}{}", inside.display()),
            (false, false) => format!("{prefix}/{}", inside.display()),
        };
        (self.config.translate(root.host, &url, None).filename.components().eq(file.components())).then_some(url)
    }
}
