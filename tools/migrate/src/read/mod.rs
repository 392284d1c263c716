//! The old server's configuration: its files, the directives that applied there, and its modules.

mod alternatives;
mod defaults;
mod disk;
pub mod main_file;
mod modules;

pub use disk::UnreadFile;
pub use modules::OldModules;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use config::parse::{ConfigReader, INCLUDED, INCLUDED_BY_MACRO, ParserSource};
use config::{ConfigError, Directive, is_embodied};
use master::configuration::ConfigOrigin;
use toolkit::Misuse;

use disk::Disk;

/// The configuration of the old server.
pub struct OldSite {
    pub main: PathBuf,
    /// The folder that the copy represents: ServerRoot if the main file is below it, else the main file's folder.
    pub base: PathBuf,
    /// Start of relative paths.
    pub server_root: PathBuf,
    /// The main file, then the included ones in reading order.
    pub files: Vec<OldFile>,
    pub tree: Vec<Directive>,
    /// `Include` and `<IfModule>` lines, from [`ConfigReader::passed`].
    pub passed: Vec<Directive>,
    /// Lines that cannot be read, for instance an `Include` of a missing file.
    pub errors: Vec<ConfigError>,
    /// Included files that could not be read, and folders that could not be listed.
    pub unread: HashMap<PathBuf, UnreadFile>,
    /// Names given by `-D`.
    pub defines: Vec<String>,
    /// Modules that were loaded.
    pub modules: OldModules,
}

#[derive(Clone)]
pub struct OldFile {
    /// Path by which the configuration names it.
    pub path: PathBuf,
    pub text: String,
    /// Whether the file was not UTF-8 and has been converted.
    pub is_converted: bool,
}

impl OldSite {
    /// Reads the configuration twice: `<IfModule>` depends on modules that may be loaded below it.
    pub fn read(origin: &ConfigOrigin, main: &Path) -> anyhow::Result<OldSite> {
        let every_module = |_: &str| true;
        let disk = Disk::default();
        let mut first = read_once(origin, &disk, main, &every_module);
        let files = disk.files(main, first.passed.iter().filter(|passed| is_file(passed)));
        let added = defaults::lines(&first.tree, &first.passed, &files, &server_root(&first.tree, main), main);
        let disk = || added.as_ref().map_or_else(Disk::default, |lines| Disk::adding(main, lines));
        if added.is_some() {
            first = read_once(origin, &disk(), main, &every_module);
        }
        let modules = OldModules::of(&first.tree);
        let disk = disk();
        let once = read_once(origin, &disk, main, &|name| modules.has(name));
        disk.is_within_limits().map_err(|why| Misuse(format!("{}: {why}", main.display())))?;
        if once.tree.is_empty() {
            let why = once.errors.first().map_or("no directives".to_owned(), ConfigError::to_string);
            return Err(Misuse(format!("{}: not a configuration of httpd: {why}", main.display())).into());
        }
        let server_root = server_root(&once.tree, main);
        let base = if main.starts_with(&server_root) { server_root.clone() } else { folder_of(main) };
        let unread = disk.unread();
        let names = disk.defined_conditions();
        let mut files = disk.files(main, once.passed.iter().filter(|passed| is_file(passed)));
        let Once { tree, mut passed, errors } = once;
        alternatives::add(&names, origin, main, &modules, &mut Included { files: &mut files, passed: &mut passed });
        let (main, defines) = (main.to_owned(), origin.defines.clone());
        Ok(OldSite { main, base, server_root, files, tree, passed, errors, unread, defines, modules })
    }

    /// Whether the configuration sets ServerRoot itself.
    pub fn names_its_root(&self) -> bool {
        root_in(&self.tree).is_some()
    }
}

/// Whether the record is one of a file that was read.
fn is_file(passed: &Directive) -> bool {
    passed.name == INCLUDED || passed.name == INCLUDED_BY_MACRO
}

/// Files that were read, and the records of their lines.
struct Included<'a> {
    files: &'a mut Vec<OldFile>,
    passed: &'a mut Vec<Directive>,
}

/// The result of one reading.
struct Once {
    tree: Vec<Directive>,
    passed: Vec<Directive>,
    errors: Vec<ConfigError>,
}

fn read_once(origin: &ConfigOrigin, disk: &Disk, main: &Path, is_module: &dyn Fn(&str) -> bool) -> Once {
    let beside = origin.envvars();
    let env = |name: &str| {
        let own = origin.facts.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        own.or_else(|| beside.get(name).map(str::to_owned))
    };
    let read = |path: &Path| if path == main { disk.read(path) } else { Ok(disk.read_included(path)) };
    let list = |path: &Path| disk.list(path);
    let source = ParserSource { read: &read, list: &list, is_module, ..origin.source(&env) };
    let reader = origin.read_for_its_generation(|| ConfigReader::new(&source));
    let passed = reader.passed().to_vec();
    let (tree, errors) = reader.into_parts();
    Once { tree, passed, errors }
}

fn root_in(tree: &[Directive]) -> Option<&str> {
    let root = tree.iter().rfind(|directive| directive.name.eq_ignore_ascii_case("ServerRoot"))?;
    root.args.first().map(String::as_str)
}

fn server_root(tree: &[Directive], main: &Path) -> PathBuf {
    let folder = folder_of(main);
    root_in(tree).map_or(folder.clone(), |root| folder.join(root.trim_end_matches('/')))
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Whether Cameleer has the module that `<IfModule name>` names.
pub fn is_ours(name: &str) -> bool {
    is_embodied(name)
}
