//! Files of an `Include`: a file, a folder with everything below it, or a pattern; sorted by name.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::syntax::pattern::{Budget, Case};
use crate::syntax::source::ParserSource;
use crate::syntax::wildcard::{self, Slash};

/// Treatment of a missing file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// `Include`
    IsAnError,
    /// `IncludeOptional`
    IsFine,
}

impl IfMissing {
    /// Whether this error is ignored.
    pub fn is_fine(self, error: &io::Error) -> bool {
        self == IfMissing::IsFine && error.kind() == io::ErrorKind::NotFound
    }
}

/// The files in reading order. A path without wildcards is returned even if it does not exist.
pub fn find(source: &ParserSource<'_>, pattern: &Path, missing: IfMissing) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![PathBuf::new()];
    for part in pattern {
        found = step(source, &found, part)?;
    }
    if found.is_empty() && missing == IfMissing::IsAnError {
        return Err(format!(
            "Include: no file matches {}; correct the pattern, or write IncludeOptional",
            pattern.display()
        ));
    }
    let mut files = Vec::new();
    for path in found {
        below(source, path, 0, &mut files)?;
    }
    Ok(files)
}

/// Extends paths by one component.
fn step(source: &ParserSource<'_>, folders: &[PathBuf], part: &OsStr) -> Result<Vec<PathBuf>, String> {
    let Some(pattern) = part.to_str().filter(|part| wildcard::is_pattern(part)) else {
        return Ok(folders.iter().map(|folder| folder.join(part)).collect());
    };
    let whole = wildcard::to_anchored_regex(pattern, Slash::Separates);
    let regex = Budget::of_the_administrator().compile(&whole, Case::Exact)?;
    // As in the shell, a wildcard at the beginning does not match hidden files.
    let wanted = |name: &str| regex.is_match(name) && (pattern.starts_with('.') || !name.starts_with('.'));
    let entries = folders.iter().flat_map(|folder| sorted(source, folder).unwrap_or_default());
    Ok(entries.filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(wanted)).collect())
}

fn below(source: &ParserSource<'_>, path: PathBuf, depth: u32, files: &mut Vec<PathBuf>) -> Result<(), String> {
    // Symbolic links can make the tree endless.
    const MAX_DEPTH: u32 = 20;
    if depth > MAX_DEPTH {
        return Err(format!("Include: more than {MAX_DEPTH} nested folders at {}; name the files", path.display()));
    }
    match sorted(source, &path) {
        Err(_) => files.push(path),
        Ok(entries) => {
            for entry in entries {
                below(source, entry, depth + 1, files)?;
            }
        }
    }
    Ok(())
}

fn sorted(source: &ParserSource<'_>, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = (source.list)(folder)?;
    entries.sort();
    Ok(entries)
}
