//! The files of the old server, read within limits: an Include may name a device, a whole disk or a circle of links.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use config::{Directive, LineReader, regular};

use super::OldFile;

/// Maximum size in bytes of a file.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum size in bytes of all files.
const MAX_SUM_BYTES: usize = 64 << 20;
/// Minimum number of bytes that a file adds to the sum, even an empty one.
const BYTES_OF_FILE: usize = 512;
/// Maximum number of names in folders.
const MAX_NAMES: usize = 100_000;

/// Reads files and records their contents.
#[derive(Default)]
pub struct Disk {
    files: RefCell<HashMap<PathBuf, OldFile>>,
    bytes: Cell<usize>,
    names: Cell<usize>,
    unread: RefCell<HashMap<PathBuf, UnreadFile>>,
    /// Lines that follow the text of a file.
    added: Option<(PathBuf, String)>,
}

/// Why a file could not be read, or a folder could not be listed.
#[derive(Debug, Clone)]
pub struct UnreadFile {
    pub why: String,
    /// Whether the file is missing, which `IncludeOptional` allows.
    pub is_missing: bool,
}

impl Disk {
    /// A disk on which lines follow the text of a file.
    pub fn adding(file: &Path, lines: &str) -> Disk {
        Disk { added: Some((file.to_owned(), lines.to_owned())), ..Disk::default() }
    }

    /// Reads an included file. One that cannot be read counts as empty, so that files behind it are read.
    pub fn read_included(&self, path: &Path) -> String {
        self.read(path).unwrap_or_else(|error| {
            self.miss(path, &error);
            String::new()
        })
    }

    /// The names that `<IfDefine>` lines of the files ask for.
    pub fn defined_conditions(&self) -> Vec<String> {
        let files = self.files.borrow();
        let all: BTreeSet<String> = files.values().flat_map(|file| condition_names(&file.text)).collect();
        all.into_iter().collect()
    }

    fn miss(&self, path: &Path, error: &io::Error) {
        let unread = UnreadFile { why: error.to_string(), is_missing: error.kind() == io::ErrorKind::NotFound };
        self.unread.borrow_mut().insert(path.to_owned(), unread);
    }

    /// The files that could not be read, and the folders that could not be listed.
    pub fn unread(&self) -> HashMap<PathBuf, UnreadFile> {
        self.unread.borrow().clone()
    }

    /// Reads a text. Fails for devices, programs, and what exceeds the limits.
    pub fn read(&self, path: &Path) -> io::Result<String> {
        if let Some(file) = self.files.borrow().get(path) {
            // A file that is included often counts as often: files that include each other twice multiply.
            return self.count(file.text.len()).map(|()| file.text.clone());
        }
        let (_, bytes) = regular::read(path, MAX_BYTES)?;
        self.count(bytes.len())?;
        if bytes.contains(&0) {
            return Err(io::Error::other("it is not a text"));
        }
        let (mut text, is_converted) = decoded(bytes);
        if let Some((_, lines)) = self.added.as_ref().filter(|(file, _)| file == path) {
            text = format!("{}\n{lines}", text.trim_end_matches('\n'));
        }
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
        match self.bytes.get() <= MAX_SUM_BYTES {
            true => Ok(()),
            false => Err(format!("the files of the configuration exceed {} MB", MAX_SUM_BYTES >> 20)),
        }
    }

    /// Lists a folder as full paths.
    pub fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(folder).inspect_err(|error| {
            if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                self.miss(folder, error);
            }
        })?;
        let entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        self.names.set(self.names.get() + entries.len());
        match self.names.get() <= MAX_NAMES {
            true => Ok(entries),
            false => Err(io::Error::other(format!("the folders have more than {MAX_NAMES} names"))),
        }
    }

    /// The main file, then the included ones, each once.
    pub fn files<'a>(self, main: &Path, included: impl Iterator<Item = &'a Directive>) -> Vec<OldFile> {
        let mut read = self.files.into_inner();
        let names = included.filter_map(|record| record.args.first()).map(PathBuf::from);
        std::iter::once(main.to_owned()).chain(names).filter_map(|path| read.remove(&path)).collect()
    }
}

/// The name of each `<IfDefine NAME>` and `<IfDefine !NAME>`.
fn condition_names(text: &str) -> Vec<String> {
    let name = |line: config::LogicalLine| {
        let mut words = line.text.split_whitespace();
        words.next().filter(|first| first.eq_ignore_ascii_case("<IfDefine"))?;
        let name = words.next()?.trim_end_matches('>').trim_start_matches('!').to_owned();
        (!name.is_empty()).then_some(name)
    };
    LineReader::new(text).filter_map(name).collect()
}

/// UTF-8, or else Latin-1, in which configurations were written before.
fn decoded(bytes: Vec<u8>) -> (String, bool) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (error.as_bytes().iter().map(|byte| char::from(*byte)).collect(), true),
    }
}
