//! The new folder. Nothing outside of it is written, and no file in it that the command has not made.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use toolkit::Misuse;

use crate::naming::{can_be_named, unnamable};

/// Permissions of a file that all may read and write, as the umask allows.
const MODE: u32 = 0o666;

/// A folder whose files are all ours.
#[derive(Debug)]
pub struct NewFolder {
    to: PathBuf,
    written: BTreeSet<PathBuf>,
}

/// Creates the folder. An existing one must be empty and outside of the folders of the old configuration.
pub fn fresh(to: &Path, old: &[&Path]) -> anyhow::Result<NewFolder> {
    let mut to = std::path::absolute(to).with_context(|| to.display().to_string())?;
    let real = real(&to).map_err(|error| Misuse(format!("--to {}: {error}", to.display())))?;
    if to.components().any(|part| part == Component::ParentDir) {
        // A missing folder before `..` must not be created.
        to.clone_from(&real);
    }
    if !can_be_named(&to) {
        return Err(Misuse(format!("--to {}", unnamable(&to))).into());
    }
    if old.iter().filter_map(|old| old.canonicalize().ok()).any(|old| real.starts_with(old)) {
        return Err(
            Misuse(format!("--to {}: is inside the old configuration; name a folder elsewhere", to.display())).into()
        );
    }
    match fs::read_dir(&to).map(|mut entries| entries.next().is_none()) {
        Ok(true) => {}
        Ok(false) => return Err(Misuse(format!("--to {}: is not empty; name a new folder", to.display())).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => create(&to)?,
        Err(error) => return Err(Misuse(format!("--to {}: {error}", to.display())).into()),
    }
    Ok(NewFolder { to, written: BTreeSet::new() })
}

/// The path without links and `..`. Missing folders stay as they are written.
fn real(path: &Path) -> std::io::Result<PathBuf> {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            part => real.push(part),
        }
        match fs::symlink_metadata(&real) {
            // A link to a missing folder fails here: the folder could be inside the old configuration.
            Ok(found) if found.is_symlink() => real = real.canonicalize()?,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(real)
}

fn create(to: &Path) -> Result<(), Misuse> {
    fs::create_dir_all(to).map_err(|error| Misuse(format!("--to {}: {error}", to.display())))
}

impl NewFolder {
    pub fn path(&self) -> &Path {
        &self.to
    }

    /// Writes a file below the folder. A file that this run has written may be written again.
    pub fn write(&mut self, place: &Path, text: &str) -> anyhow::Result<()> {
        self.write_as(place, text, MODE)
    }

    /// As [`NewFolder::write`]. `mode`: the permissions of a new file, less those of the umask. A copy of a file with
    /// secrets is for the same readers as the file.
    pub fn write_as(&mut self, place: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
        self.try_to_write(place, text, mode & MODE).with_context(|| place.display().to_string())
    }

    fn try_to_write(&mut self, place: &Path, text: &str, mode: u32) -> std::io::Result<()> {
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        let is_new = self.written.insert(place.to_owned());
        let mut file = File::options().write(true).mode(mode).create_new(is_new).truncate(!is_new).open(place)?;
        file.write_all(text.as_bytes())
    }

    /// Makes a symbolic link.
    pub fn link(&mut self, place: &Path, target: &Path) -> anyhow::Result<()> {
        if !self.written.insert(place.to_owned()) {
            return Ok(());
        }
        let made = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| symlink(target, place));
        made.with_context(|| place.display().to_string())
    }
}
