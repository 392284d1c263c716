//! Files and folders of certificates that the configuration names. The master reads them as root, and sends the front
//! their contents.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use config::tls::NamedFile;
use config::{ConfigError, regular};

/// Maximum size of a file, and of all files of a folder, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The contents of files, by path. That of a folder is the text of all its files.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PemFiles(BTreeMap<PathBuf, String>);

/// Omits the contents, which may include keys.
impl fmt::Debug for PemFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PemFiles").field(&self.0.keys()).finish()
    }
}

impl PemFiles {
    /// Reads a file or folder, unless it has been read.
    pub fn read(&mut self, file: &NamedFile) -> Result<(), ConfigError> {
        if !self.0.contains_key(&file.path) {
            let text = text(file).map_err(|error| complaint(file, &format!("cannot be read: {error}")))?;
            self.0.insert(file.path.clone(), text);
        }
        Ok(())
    }

    /// The text of a file that was read; otherwise empty.
    pub fn text(&self, path: &Path) -> &str {
        self.0.get(path).map_or("", String::as_str)
    }
}

/// The text of a file, or of all files of a folder.
fn text(file: &NamedFile) -> std::io::Result<String> {
    let read =
        |path: &Path| regular::read(path, MAX_BYTES).map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned());
    if !file.path.is_dir() {
        return read(&file.path);
    }
    let mut paths =
        std::fs::read_dir(&file.path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    let mut all = String::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        all.push_str(&read(path)?);
        all.push('\n');
        if all.len() as u64 > MAX_BYTES {
            return Err(std::io::Error::other(format!("the files have more than {MAX_BYTES} bytes")));
        }
    }
    Ok(all)
}

/// An error about a file that a directive names.
pub fn complaint(file: &NamedFile, why: &str) -> ConfigError {
    ConfigError { at: Some(file.at.clone()), message: format!("{}: {} {why}", file.directive, file.path.display()) }
}
