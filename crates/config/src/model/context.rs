//! Contexts of directives, scopes of sections, and the merge order.

use std::path::{Path, PathBuf};

use crate::model::response::branch::Branch;
use crate::syntax::pattern::Pattern;

/// The kind of section that contains a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SectionContext {
    /// Place outside of every section.
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
    /// `<If>`, `<ElseIf>` and `<Else>`
    If = 64,
    /// A `.htaccess` file.
    Htaccess = 128,
}

impl SectionContext {
    /// Name for error messages.
    pub fn name(self) -> &'static str {
        match self {
            SectionContext::Server => "the main server",
            SectionContext::VirtualHost => "<VirtualHost>",
            SectionContext::Directory => "<Directory>",
            SectionContext::Location => "<Location>",
            SectionContext::Files => "<Files>",
            SectionContext::WorkerPool => "<WorkerPool>",
            SectionContext::If => "<If>",
            SectionContext::Htaccess => ".htaccess",
        }
    }
}

/// Merge order of a container: ascending rank, then the main server's first, then file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rank(pub u8, pub usize);

impl Rank {
    /// Settings outside of every container.
    pub const HOST: Rank = Rank(0, 0);
    /// `<DirectoryMatch>`
    pub const DIRECTORY_MATCH: Rank = Rank(0, usize::MAX);
    /// `<Proxy>` and `<ProxyMatch>`
    pub const BACKEND: Rank = Rank(1, usize::MAX);
    /// `<Location>` and `<LocationMatch>`
    pub const LOCATION: Rank = Rank(2, 0);
    /// `<If>`: in the order of the sections that contain them.
    pub const BRANCH: Rank = Rank(3, 0);
    /// `FastCgiServer` and `FastCgiExternalServer`: as in mod_fastcgi, their handler comes after that of all sections.
    pub const PROGRAM: Rank = Rank(4, 0);

    /// `<Directory>` with this number of path components: shortest first.
    pub fn directory(components: usize) -> Rank {
        Rank(0, components)
    }
}

/// Requests to which a section applies.
#[derive(Debug, Clone, Default)]
pub enum Scope {
    /// All requests of a host.
    #[default]
    Host,
    /// `<Directory path>`: files in the folder and below.
    Directory(PathBuf),
    /// `<DirectoryMatch re>` or `<Directory ~ re>`
    DirectoryMatch(Pattern),
    /// `<Files name>`, with `*` and `?`.
    Files(Pattern),
    /// `<Location /path>`: the path and everything below. A path with wildcards becomes a `LocationMatch`.
    Location(String),
    /// `<LocationMatch re>` or `<Location ~ re>`
    LocationMatch(Pattern),
    /// `<Proxy url>` or `<ProxyMatch re>`: requests that are passed to a backend with such a URL.
    Backend(Pattern),
    /// `<If expression>`, `<ElseIf expression>`, `<Else>`
    If(Branch),
    /// `FastCgiServer file` or `FastCgiExternalServer file`: the file, and paths below it; the directive's name.
    Program(PathBuf, &'static str),
}

impl Scope {
    /// Name of the section's directive.
    pub fn name(&self) -> &'static str {
        match self {
            Scope::Host => "VirtualHost",
            Scope::Directory(_) => "Directory",
            Scope::DirectoryMatch(_) => "DirectoryMatch",
            Scope::Files(_) => "Files",
            Scope::Location(_) => "Location",
            Scope::LocationMatch(_) => "LocationMatch",
            Scope::Backend(_) => "ProxyMatch",
            Scope::If(branch) => branch.name(),
            Scope::Program(_, directive) => directive,
        }
    }

    /// Argument of the section. `None` for a host, and for conditions, which name no place.
    pub fn named(&self) -> Option<String> {
        (!matches!(self, Scope::Host | Scope::If(_))).then(|| self.argument())
    }

    /// Name of the section's directive, without `~` forms. Empty for a host.
    pub fn kind(&self) -> &'static str {
        if matches!(self, Scope::Host) { "" } else { self.name() }
    }

    /// Argument as written, or the regular expression made from it.
    pub fn argument(&self) -> String {
        match self {
            Scope::Host => String::new(),
            Scope::Directory(path) | Scope::Program(path, _) => path.to_string_lossy().into_owned(),
            Scope::Location(path) => path.clone(),
            Scope::If(branch) => branch.argument().to_owned(),
            Scope::DirectoryMatch(regex)
            | Scope::Files(regex)
            | Scope::LocationMatch(regex)
            | Scope::Backend(regex) => regex.as_str().to_owned(),
        }
    }
}

/// The rest of `path` after `prefix`, if `path` is below it. `/icons/` does not contain `/icons`, `/icons` does not
/// contain `/iconsfoo`.
pub fn rest_below<'a>(prefix: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(prefix).filter(|rest| ends_at_segment(prefix, rest))
}

/// A URL path of the configuration as it is compared with the paths of requests, whose repeated slashes are merged.
pub fn with_merged_slashes(path: &str) -> String {
    let mut merged = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !merged.ends_with('/') {
            merged.push(c);
        }
    }
    merged
}

/// Whether a path of `prefix` followed by `rest` is below `prefix`.
pub fn ends_at_segment(prefix: &str, rest: &str) -> bool {
    prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/')
}

/// Number of components of a folder's path, including the root.
pub fn depth(folder: &Path) -> usize {
    folder.components().count()
}
