//! The `.htaccess` files of a site, as requests would find them: below the document roots, the folders of aliases and
//! of `<Directory>` sections, and in the folders above these.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use config::{AliasFrom, Config, Overrides, Scope, depth, htaccess_text};

/// Maximum number of names in folders that are looked at.
const MAX_NAMES: usize = 200_000;
/// Maximum number of `.htaccess` files that are read.
const MAX_FILES: usize = 10_000;
/// Maximum depth below a document root.
const MAX_DEPTH: usize = 16;
/// Time limit of the search: a folder may be on another machine.
const MAX_TIME: Duration = Duration::from_secs(10);
/// A `<Directory>` with at most this many path components, such as `/` or `/usr/share`, is not searched: most of its
/// files belong to other services.
const MIN_PARTS: usize = 3;

/// A `.htaccess` file that requests would read.
#[derive(Debug)]
pub struct FoundHtaccess<'a> {
    /// Index in the configuration's hosts.
    pub host: u16,
    /// The folder of the file.
    pub folder: &'a Path,
    /// The folder's first existing file of `AccessFileName`.
    pub file: &'a Path,
    /// `AllowOverride` of the folder.
    pub allowed: Overrides,
    /// The text, or why the file cannot be read.
    pub text: io::Result<String>,
}

/// Counts of files and folders that a search did not read.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Files in folders with `AllowOverride None`.
    pub forbidden: Vec<PathBuf>,
    /// Folders below the 16th level.
    pub deep: Vec<PathBuf>,
    /// Folders that were left when a limit was reached.
    pub rest: Vec<PathBuf>,
    /// The limit that was reached.
    pub limit: Option<String>,
}

/// Visits each file once, a folder's before those below it.
pub fn search(config: &Config, visit: &mut dyn FnMut(FoundHtaccess)) -> LeftOut {
    let left_out = LeftOut::default();
    let mut search =
        Search { config, visit, seen: BTreeSet::new(), names: 0, files: 0, since: Instant::now(), left_out };
    for (host, root) in roots(config) {
        let above: Vec<_> = root.ancestors().skip(1).collect();
        above.iter().rev().for_each(|folder| search.look(host, folder));
        search.enter(host, &root, MAX_DEPTH);
    }
    search.left_out
}

/// Document roots, outer folders of VirtualDocumentRoot, folders of aliases and of `<Directory>` sections, with the
/// number of their host.
fn roots(config: &Config) -> Vec<(u16, PathBuf)> {
    let of_hosts = (0..).zip(&config.hosts).flat_map(|(number, host)| {
        let prefixes = host.aliases.iter().filter(|alias| matches!(alias.from, AliasFrom::Prefix(_)));
        let folders = prefixes.map(|alias| alias.to.clone()).filter(|folder| folder.is_dir());
        let roots = host.virtual_folders.outer_folders().chain([host.document_root.clone()]);
        folders.chain(roots).map(move |folder| (number, folder))
    });
    let of_sections = config.sections.iter().filter_map(|section| match &section.scope {
        Scope::Directory(folder) if folder.components().count() > MIN_PARTS => Some((0, folder.clone())),
        _ => None,
    });
    of_hosts.chain(of_sections).collect()
}

struct Search<'a> {
    config: &'a Config,
    visit: &'a mut dyn FnMut(FoundHtaccess),
    /// Device and inode of each folder, with the permissions and file names that held there: links may form a cycle.
    seen: BTreeSet<(u64, u64, String)>,
    names: usize,
    files: usize,
    since: Instant,
    left_out: LeftOut,
}

impl Search<'_> {
    /// The limit that has been reached.
    fn limit(&self) -> Option<String> {
        if self.names >= MAX_NAMES {
            return Some(format!("{MAX_NAMES} names in folders"));
        }
        if self.files >= MAX_FILES {
            return Some(format!("{MAX_FILES} files"));
        }
        (self.since.elapsed() >= MAX_TIME).then(|| format!("{} s", MAX_TIME.as_secs()))
    }

    fn enter(&mut self, host: u16, folder: &Path, depth: usize) {
        if let Some(limit) = self.limit() {
            self.left_out.limit.get_or_insert(limit);
            return self.left_out.rest.push(folder.to_owned());
        }
        let sections = self.config.sections(host, "", &folder.join("x"));
        if !self.is_new(host, folder, &sections) {
            return;
        }
        self.read_in(host, folder, &sections);
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut entries: Vec<_> = entries.flatten().take(MAX_NAMES).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        self.names += entries.len();
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let is_folder = kind.is_dir() || kind.is_symlink() && path.is_dir() && self.follows_links(&sections);
            match (is_folder, depth) {
                (false, _) => {}
                (true, 0) => self.left_out.deep.push(path),
                (true, depth) => self.enter(host, &path, depth - 1),
            }
        }
    }

    /// Reads the `.htaccess` file of a folder above a document root. The other folders in it are not searched.
    fn look(&mut self, host: u16, folder: &Path) {
        let sections = self.config.sections(host, "", &folder.join("x"));
        let allowed = self.config.overrides(&sections, depth(folder));
        if !allowed.is_none() && self.limit().is_none() && self.is_new(host, folder, &sections) {
            self.read_in(host, folder, &sections);
        }
    }

    fn is_new(&mut self, host: u16, folder: &Path, sections: &[u16]) -> bool {
        let Ok(it) = std::fs::metadata(folder) else { return false };
        let allowed = self.config.overrides(sections, depth(folder));
        self.seen.insert((it.dev(), it.ino(), format!("{allowed:?} {:?}", self.config.access_file_names(host))))
    }

    fn follows_links(&self, sections: &[u16]) -> bool {
        let options = self.config.settings(sections, false).options;
        options.follow_sym_links || options.sym_links_if_owner_match
    }

    fn read_in(&mut self, host: u16, folder: &Path, sections: &[u16]) {
        let names = self.config.access_file_names(host);
        let Some(file) = names.iter().map(|name| folder.join(name)).find(|file| file.symlink_metadata().is_ok()) else {
            return;
        };
        self.files += 1;
        let allowed = self.config.overrides(sections, depth(folder));
        match allowed.is_none() {
            true => self.left_out.forbidden.push(file),
            false => (self.visit)(FoundHtaccess { host, folder, file: &file, allowed, text: htaccess_text(&file) }),
        }
    }
}
