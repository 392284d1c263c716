//! Inputs of the parser.

use std::io;
use std::path::{Path, PathBuf};

/// Definitions, and functions by which the parser accesses files and the environment.
pub struct ParserSource<'a> {
    /// Names given by `-D`.
    pub defines: Vec<String>,
    /// Environment variables, for `${NAME}`.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Reads a file. Invalid UTF-8 becomes U+FFFD, which is an error outside of comments.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Whether a file or folder exists.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// Lists a folder as full paths. Fails if the path is no folder.
    pub list: &'a dyn Fn(&Path) -> io::Result<Vec<PathBuf>>,
    /// Whether a name is a directive of the table. A Perl module may define others.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// Whether a module of httpd counts as loaded, for `<IfModule>`.
    pub is_module: &'a dyn Fn(&str) -> bool,
    /// Base of relative includes until a `ServerRoot` is read.
    pub server_root: PathBuf,
    /// Base of a relative `ServerRoot`.
    pub started_in: PathBuf,
}

/// `path` relative to `folder`, unless it is absolute.
pub fn below(folder: &Path, path: &str) -> PathBuf {
    match path.strip_prefix("./").map_or(path, |inside| inside.trim_start_matches('/')) {
        "" | "." => folder.to_owned(),
        inside => folder.join(inside),
    }
}
