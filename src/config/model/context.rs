//! Where directives stand, for which requests, and when what they say is merged.

use std::path::{Path, PathBuf};

use crate::config::syntax::pattern::Pattern;

/// A place where directives stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Context {
    /// Outside of every section.
    Server = 1,
    /// `<VirtualHost>`
    VirtualHost = 2,
    /// `<Directory>` and `<DirectoryMatch>`
    Directory = 4,
    /// `<Location>` and `<LocationMatch>`
    Location = 8,
    /// `<Files>` and `<FilesMatch>`
    Files = 16,
    /// `<WorkerPool>`
    WorkerPool = 32,
    /// A `.htaccess` file.
    Htaccess = 128,
}

impl Context {
    /// As a user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Context::Server => "the main server",
            Context::VirtualHost => "<VirtualHost>",
            Context::Directory => "<Directory>",
            Context::Location => "<Location>",
            Context::Files => "<Files>",
            Context::WorkerPool => "<WorkerPool>",
            Context::Htaccess => ".htaccess",
        }
    }
}

/// When a container is merged: the smaller first; among equals the main server's first, then in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rank(pub u8, pub usize);

impl Rank {
    /// What stands outside of every container.
    pub const HOST: Rank = Rank(0, 0);
    /// `<DirectoryMatch>`
    pub const DIRECTORY_MATCH: Rank = Rank(0, usize::MAX);
    /// `<Location>` and `<LocationMatch>`
    pub const LOCATION: Rank = Rank(2, 0);

    /// `<Directory>` of so many path components: shortest first.
    pub fn directory(components: usize) -> Rank {
        Rank(0, components)
    }
}

/// Which requests a section is for.
#[derive(Debug, Clone, Default)]
pub enum Scope {
    /// All of a host.
    #[default]
    Host,
    /// `<Directory path>`: files in and below.
    Directory(PathBuf),
    /// `<DirectoryMatch re>` or `<Directory ~ re>`
    DirectoryMatch(Pattern),
    /// `<Files name>`, with `*` and `?`.
    Files(Pattern),
    /// `<Location /path>`: the path and below; wildcards become a `LocationMatch`.
    Location(String),
    /// `<LocationMatch re>` or `<Location ~ re>`
    LocationMatch(Pattern),
}

impl Scope {
    /// The name of its section.
    pub fn name(&self) -> &'static str {
        match self {
            Scope::Host => "VirtualHost",
            Scope::Directory(_) => "Directory",
            Scope::DirectoryMatch(_) => "DirectoryMatch",
            Scope::Files(_) => "Files",
            Scope::Location(_) => "Location",
            Scope::LocationMatch(_) => "LocationMatch",
        }
    }

    /// What stands behind the section's name; nothing for a host's own.
    pub fn named(&self) -> Option<String> {
        match self {
            Scope::Host => None,
            Scope::Directory(path) => Some(path.to_string_lossy().into_owned()),
            Scope::Location(path) => Some(path.clone()),
            Scope::DirectoryMatch(pattern) | Scope::Files(pattern) | Scope::LocationMatch(pattern) => {
                Some(pattern.as_str().to_owned())
            }
        }
    }

    /// The section's name; nothing for a host's own.
    pub fn kind(&self) -> &'static str {
        match self {
            Scope::Host => "",
            Scope::Directory(_) => "Directory",
            Scope::Location(_) => "Location",
            Scope::DirectoryMatch(_) => "DirectoryMatch",
            Scope::Files(_) => "Files",
            Scope::LocationMatch(_) => "LocationMatch",
        }
    }

    /// As it was written, or the regular expression that it became.
    pub fn argument(&self) -> String {
        match self {
            Scope::Host => String::new(),
            Scope::Directory(path) => path.to_string_lossy().into_owned(),
            Scope::Location(path) => path.clone(),
            Scope::DirectoryMatch(regex) | Scope::Files(regex) | Scope::LocationMatch(regex) => {
                regex.as_str().to_owned()
            }
        }
    }
}

/// What follows `prefix`, if the path is there. `/icons/` does not have `/icons`, `/icons` does not have `/iconsfoo`.
pub fn rest_below<'a>(prefix: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(prefix).filter(|rest| ends_at_segment(prefix, rest))
}

/// Whether a path that begins with `prefix` and goes on with `rest` is below it.
pub fn ends_at_segment(prefix: &str, rest: &str) -> bool {
    prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/')
}

/// How many parts a folder's path has, the root included.
pub fn depth(folder: &Path) -> usize {
    folder.components().count()
}
