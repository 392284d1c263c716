//! Report of `check` about the `.htaccess` files of a site: their errors, and the files that were not read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use compat::htaccess::{FoundHtaccess, LeftOut, search};
use config::{At, ChainLoad, Config, ConfigError, TOO_HEAVY};

/// Maximum number of errors that are reported for one file.
const MAX_ERRORS: usize = 20;
/// Maximum number of paths in a note.
const MAX_PATHS: usize = 3;

/// Result of a check of all files.
#[derive(Default)]
pub struct CheckedHtaccess {
    /// Number of files read.
    pub count: usize,
    /// Errors, by file and line.
    pub errors: Vec<ConfigError>,
    /// Warnings about lines, and notes about files that were not read.
    pub notes: Vec<String>,
    /// Load of the files from the root folder down to a folder.
    loads: BTreeMap<PathBuf, ChainLoad>,
}

/// Reads the files as requests would.
pub fn check(config: &Config) -> CheckedHtaccess {
    let mut checked = CheckedHtaccess::default();
    let left_out = search(config, &mut |found| checked.read(config, found));
    checked.notes.extend(notes(&left_out));
    if !checked.errors.is_empty() {
        let message = "the lines of .htaccess files above make requests for their folders fail; the server starts nevertheless, \
            and check --no-htaccess leaves these files out";
        checked.errors.push(ConfigError { at: None, message: message.to_owned() });
    }
    checked
}

impl CheckedHtaccess {
    fn read(&mut self, config: &Config, found: FoundHtaccess) {
        self.count += 1;
        let at = At { file: found.file.to_string_lossy().into(), line: 0 };
        let text = match found.text {
            Ok(text) => text,
            Err(error) => {
                let message = format!("{}: cannot be read; requests below its folder are refused: {error}", at.file);
                return self.errors.push(ConfigError { at: None, message });
            }
        };
        match config.htaccess_or_all_errors(found.folder, found.file, &text, found.allowed) {
            Ok(file) => {
                self.notes.extend(file.warnings.iter().map(ConfigError::as_warning));
                let mut load = self.load_above(found.folder);
                if !load.bears(&file) {
                    let message = format!("{}: {TOO_HEAVY}", found.folder.display());
                    self.errors.push(ConfigError { at: None, message });
                }
                self.loads.insert(found.folder.to_owned(), load);
            }
            Err(mut errors) => {
                errors.sort_by_key(|error| error.at.as_ref().map(|at| at.line));
                let more = errors.len().saturating_sub(MAX_ERRORS);
                self.errors.extend(errors.into_iter().take(MAX_ERRORS));
                if more > 0 {
                    self.errors.push(ConfigError { at: None, message: format!("{}: {more} further errors", at.file) });
                }
            }
        }
    }

    /// The load of the nearest folder above with a file.
    fn load_above(&self, folder: &Path) -> ChainLoad {
        folder.ancestors().skip(1).find_map(|folder| self.loads.get(folder)).copied().unwrap_or_default()
    }
}

fn notes(left_out: &LeftOut) -> Vec<String> {
    let forbidden = (!left_out.forbidden.is_empty()).then(|| {
        format!(
            "{}: not read, as in httpd, because AllowOverride is None there; write AllowOverride in their <Directory> if their \
             rules shall hold",
            some(&left_out.forbidden, ".htaccess files")
        )
    });
    let deep = (!left_out.deep.is_empty())
        .then(|| format!("{}: too deep to be searched for .htaccess files", some(&left_out.deep, "folders")));
    let rest = left_out.limit.as_ref().map(|limit| {
        format!(
            "{}: not searched for .htaccess files, because the limit of {limit} was reached",
            some(&left_out.rest, "folders")
        )
    });
    forbidden.into_iter().chain(deep).chain(rest).collect()
}

/// The first of some paths, and the number of the others.
fn some(paths: &[PathBuf], what: &str) -> String {
    let named: Vec<_> = paths.iter().take(MAX_PATHS).map(|path| path.display().to_string()).collect();
    match paths.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more {what}", named.join(", ")),
    }
}
