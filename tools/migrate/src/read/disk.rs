//! The files of the old server, read within limits: an Include may name a device, a whole disk or a circle of links.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use config::{Directive, regular};

use super::OldFile;

/// Maximum size in bytes of a file.
const LONGEST: u64 = 16 << 20;
/// Maximum size in bytes of all files.
const LONGEST_SUM: usize = 64 << 20;
/// What a file counts at least.
const BYTES_OF_FILE: usize = 512;
/// Maximum number of names in folders.
const MOST_NAMES: usize = 100_000;

/// Reads files and records their contents.
#[derive(Default)]
pub struct Disk {
    files: RefCell<HashMap<PathBuf, OldFile>>,
    bytes: Cell<usize>,
    names: Cell<usize>,
}

impl Disk {
    /// Reads a text. Fails for devices, programs, and what exceeds the limits.
    pub fn read(&self, path: &Path) -> io::Result<String> {
        if let Some(file) = self.files.borrow().get(path) {
            // A file that is included often counts as often: files that include each other twice multiply.
            return self.count(file.text.len()).map(|()| file.text.clone());
        }
        let (_, bytes) = regular::read(path, LONGEST)?;
        self.count(bytes.len())?;
        if bytes.contains(&0) {
            return Err(io::Error::other("it is not a text"));
        }
        let (text, is_converted) = decoded(bytes);
        self.files
            .borrow_mut()
            .insert(path.to_owned(), OldFile { path: path.to_owned(), text: text.clone(), is_converted });
        Ok(text)
    }

    fn count(&self, bytes: usize) -> io::Result<()> {
        self.bytes.set(self.bytes.get() + bytes + BYTES_OF_FILE);
        self.is_within_limits().map_err(io::Error::other)
    }

    /// The error if the files together exceed the limit.
    pub fn is_within_limits(&self) -> Result<(), String> {
        match self.bytes.get() <= LONGEST_SUM {
            true => Ok(()),
            false => Err(format!("the files of the configuration exceed {} MB", LONGEST_SUM >> 20)),
        }
    }

    /// Lists a folder as full paths.
    pub fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        self.names.set(self.names.get() + entries.len());
        match self.names.get() <= MOST_NAMES {
            true => Ok(entries),
            false => Err(io::Error::other(format!("the folders have more than {MOST_NAMES} names"))),
        }
    }

    /// The main file, then the included ones, each once.
    pub fn files<'a>(self, main: &Path, included: impl Iterator<Item = &'a Directive>) -> Vec<OldFile> {
        let mut read = self.files.into_inner();
        let names = included.filter_map(|record| record.args.first()).map(PathBuf::from);
        std::iter::once(main.to_owned()).chain(names).filter_map(|path| read.remove(&path)).collect()
    }
}

/// UTF-8, or else Latin-1, in which configurations were written before.
fn decoded(bytes: Vec<u8>) -> (String, bool) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (error.as_bytes().iter().map(|byte| char::from(*byte)).collect(), true),
    }
}
