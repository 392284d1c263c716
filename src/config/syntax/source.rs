//! Where texts come from.

use std::io;
use std::path::{Path, PathBuf};

/// What the text alone does not say, and the only way to files and environment.
pub struct Source<'a> {
    /// Names given by `-D`.
    pub defines: Vec<String>,
    /// Environment variables, for `${NAME}`.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The text of a file; what is not UTF-8 becomes U+FFFD, which is reported outside of comments.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Whether there is such a file or folder.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// What is in a folder, as whole paths; an error when it is not a folder.
    pub list: &'a dyn Fn(&Path) -> io::Result<Vec<PathBuf>>,
    /// Whether a name is that of a directive of ours; another may be a Perl module's.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// Includes are relative to it until a `ServerRoot` is read.
    pub server_root: PathBuf,
    /// The folder that a relative `ServerRoot` is of.
    pub started_in: PathBuf,
}

/// `path`, in `folder` unless it is absolute.
pub fn below(folder: &Path, path: &str) -> PathBuf {
    match path.strip_prefix("./").map_or(path, |inside| inside.trim_start_matches('/')) {
        "" | "." => folder.to_owned(),
        inside => folder.join(inside),
    }
}
