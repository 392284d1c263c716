//! The Perl of a site: files that its configuration loads, scripts in its folders, and the site's own modules
//! that these use.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;

use super::perl_text::code_lines;
use config::{Directive, PerlGeneration, table};

/// Maximum number of files read: a DocumentRoot may be a whole disk.
const MAX_FILES: usize = 5000;
/// Maximum size of a program, in bytes.
const MAX_SIZE: u64 = 2 << 20;
const MAX_DEPTH: usize = 8;
/// Maximum number of names in folders that are checked.
const MAX_NAMES: usize = 200_000;
/// `<Directory />` and `<Directory /usr/share>` set defaults for other folders: no site consists of them as a
/// whole.
const MIN_PARTS: usize = 3;
/// Packages of the server's API, by their first part.
const OF_THE_SERVER: [&str; 5] = ["Apache", "Apache2", "APR", "Cameleer", "ModPerl"];

/// The site's Perl files and module folders.
pub struct Sources {
    pub files: BTreeSet<PathBuf>,
    /// Whether the configuration selects mod_perl 2's API.
    pub speaks_of_2: bool,
    /// Module folders of the site.
    own: Vec<PathBuf>,
    /// Number of names checked so far.
    names: usize,
    /// perl's module folders.
    system: Vec<PathBuf>,
    /// The names that `mention` knows, found at its first call.
    mentioned: OnceCell<HashSet<String>>,
}

impl Sources {
    /// The sources of a configuration.
    pub fn of(tree: &[Directive], server_root: &Path) -> Sources {
        let own = vec![server_root.join("lib/perl")];
        let (files, mentioned) = (BTreeSet::new(), OnceCell::new());
        let mut sources = Sources { files, speaks_of_2: speaks_of_2(tree), own, names: 0, system: system(), mentioned };
        sources.walk(tree, server_root);
        sources.follow();
        sources
    }

    fn walk(&mut self, tree: &[Directive], server_root: &Path) {
        for directive in tree {
            let path = |at: usize| directive.args.get(at).map(|arg| server_root.join(arg));
            match directive.name.to_ascii_lowercase().as_str() {
                "perllib" => self.own.extend(path(0)),
                "perlswitches" => {
                    self.own.extend(switched_folders(&directive.args).map(|folder| server_root.join(folder)))
                }
                "perlrequire" | "perlpostconfigrequire" | "perlconfigrequire" | "perlscript" => {
                    self.files.extend(path(0).filter(|file| file.is_file()))
                }
                "alias" | "scriptalias" => path(1).iter().for_each(|folder| self.scripts(folder, MAX_DEPTH)),
                "documentroot" => path(0).iter().for_each(|folder| self.scripts(folder, MAX_DEPTH)),
                "directory" => path(0)
                    .iter()
                    .filter(|folder| folder.components().count() > MIN_PARTS)
                    .for_each(|folder| self.scripts(folder, MAX_DEPTH)),
                name if name == "perlmodule" || name.ends_with("handler") => {
                    directive.args.iter().for_each(|name| self.module(name.trim_start_matches('+')));
                }
                _ => {}
            }
            self.walk(directive.section.as_deref().unwrap_or_default(), server_root);
        }
    }

    fn scripts(&mut self, folder: &Path, depth: usize) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            self.names += 1;
            if self.files.len() >= MAX_FILES || self.names > MAX_NAMES {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth > 0 => self.scripts(&path, depth - 1),
                Ok(kind) if kind.is_file() && is_perl(&path) => drop(self.files.insert(path)),
                _ => {}
            }
        }
    }

    /// Also finds the site's own modules that the files use, recursively.
    fn follow(&mut self) {
        let mut read: HashSet<PathBuf> = HashSet::new();
        while let Some(file) = self.files.iter().find(|file| !read.contains(*file)).cloned() {
            for line in text(&file).unwrap_or_default().lines() {
                if let Some(folder) = used_folder(line) {
                    self.own.push(file.parent().unwrap_or(Path::new("/")).join(folder));
                }
                used_module(line).iter().for_each(|module| self.module(module));
            }
            read.insert(file);
        }
    }

    fn module(&mut self, name: &str) {
        // `Package::sub`, `Class->method` and `Module => 'list'` contain a module's name, too.
        let name = name.split("->").next().unwrap_or(name);
        let end = name.find(|c: char| !c.is_alphanumeric() && c != ':' && c != '_').unwrap_or(name.len());
        let name = &name[..end];
        let parent = name.rsplit_once("::").map_or(name, |(package, _)| package);
        let found = [name, parent].iter().find_map(|name| self.own_file(name));
        self.files.extend(found);
    }

    /// The file of one of the site's own modules.
    pub fn own_file(&self, module: &str) -> Option<PathBuf> {
        file_of(&self.own, module)
    }

    /// Whether one of the site's files has the word in quotes or as a sub's name, as a module that defines a
    /// directive has.
    pub fn mention(&self, word: &str) -> bool {
        self.mentioned
            .get_or_init(|| self.files.iter().filter_map(|file| text(file)).flat_map(|text| names_in(&text)).collect())
            .contains(word)
    }

    /// Whether one of the site's files loads the module.
    pub fn use_module(&self, module: &str) -> bool {
        let uses = |text: String| text.lines().any(|line| used_module(line) == Some(module));
        self.files.iter().filter_map(|file| text(file)).any(uses)
    }

    /// The modules that a text loads and that are nowhere, each once, with the line. Modules of the server's API are
    /// left out.
    pub fn missing(&self, text: &str) -> Vec<(u32, String)> {
        let mut missing: Vec<(u32, String)> = Vec::new();
        for (line, module) in code_lines(text).filter_map(|(line, code)| Some((line, used_module(code)?))) {
            let is_ours = OF_THE_SERVER.iter().any(|name| module.split("::").next() == Some(name));
            let is_known = missing.iter().any(|(_, known)| known == module);
            if !is_ours && !is_known && self.own_file(module).is_none() && !self.is_installed(module) {
                missing.push((line, module.to_owned()));
            }
        }
        missing
    }

    /// Whether perl finds the module outside of the site.
    pub fn is_installed(&self, module: &str) -> bool {
        file_of(&self.system, module).is_some()
    }
}

/// The names in `'Name'`, `"Name"`, `'<Name` and `sub Name`.
fn names_in(text: &str) -> Vec<String> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"['"]<?(\w+)|\bsub (\w+) "#).ok());
    let name = |found: regex::Captures<'_>| found.get(1).or_else(|| found.get(2)).map(|name| name.as_str().to_owned());
    NAME.iter().flat_map(|pattern| pattern.captures_iter(text)).filter_map(name).collect()
}

fn speaks_of_2(tree: &[Directive]) -> bool {
    let mut all = Vec::new();
    let mut waiting: Vec<&Directive> = tree.iter().rev().collect();
    while let Some(directive) = waiting.pop() {
        waiting.extend(directive.section.iter().flatten().rev());
        all.push(directive);
    }
    table::speaks_of(all.into_iter()).is_some_and(|(generation, _)| generation == PerlGeneration::Two)
}

fn file_of(folders: &[PathBuf], module: &str) -> Option<PathBuf> {
    let file = format!("{}.pm", module.replace("::", "/"));
    folders.iter().map(|folder| folder.join(&file)).find(|file| file.is_file())
}

/// The text of a file, unless it is too large.
pub fn text(file: &Path) -> Option<String> {
    let size = std::fs::metadata(file).ok()?.len();
    if size > MAX_SIZE {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned())
}

fn is_perl(file: &Path) -> bool {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("pl" | "pm" | "cgi" | "perl" | "asp" | "asa" | "mas" | "mc" | "mhtml" | "psgi") => true,
        Some(_) => false,
        None => text(file)
            .is_some_and(|text| text.starts_with("#!") && text.lines().next().is_some_and(|l| l.contains("perl"))),
    }
}

/// The folders of `-Ilib` and `-I lib`.
fn switched_folders(words: &[String]) -> impl Iterator<Item = &str> {
    let after = words.iter().skip(1).map(String::as_str).chain([""]);
    words.iter().zip(after).filter_map(|(word, next)| match word.strip_prefix("-I")? {
        "" => Some(next).filter(|next| !next.is_empty()),
        folder => Some(folder),
    })
}

/// `use lib '/srv/lib'`
fn used_folder(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("use lib")?;
    let rest = rest.trim_start().trim_start_matches(['(', ' ']).trim_start_matches("qw").trim_start_matches(['(', ' ']);
    let quoted = rest.strip_prefix(['\'', '"']).unwrap_or(rest);
    let end = quoted.find(['\'', '"', ')', ' ', ';']).unwrap_or(quoted.len());
    quoted.get(..end).filter(|folder| folder.contains('/'))
}

/// `use My::Module`, `require My::Module`
fn used_module(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("use ").or_else(|| rest.strip_prefix("require "))?.trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != ':' && c != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The modules that a text loads, each once, in their order; pragmas left out.
pub fn modules(text: &str) -> Vec<String> {
    let mut modules: Vec<String> = Vec::new();
    for module in code_lines(text).filter_map(|(_, code)| used_module(code)) {
        if !modules.iter().any(|known| known == module) {
            modules.push(module.to_owned());
        }
    }
    modules
}

/// perl's @INC.
fn system() -> Vec<PathBuf> {
    let asked = Command::new("perl").args(["-e", "print map qq{$_\\n}, @INC"]).output();
    let text = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_modules_are_read_off_use_lines() {
        assert_eq!(used_folder("use lib '/srv/lib';"), Some("/srv/lib"));
        assert_eq!(used_folder("use lib qw(/srv/lib);"), Some("/srv/lib"));
        assert_eq!(used_folder("use strict;"), None);
        let words = ["-w", "-Ilib", "-I", "/srv", "-I"].map(str::to_owned);
        assert_eq!(switched_folders(&words).collect::<Vec<_>>(), ["lib", "/srv"]);
        assert_eq!(used_module("use My::Book qw(x);"), Some("My::Book"));
        assert_eq!(used_module("  require My::Book;"), Some("My::Book"));
        assert_eq!(used_module("use strict;"), None);
    }
}
