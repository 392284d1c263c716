//! Names of the files in a folder, for searches by the beginning of a name.

use std::fs::{File, read_dir};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

/// Maximum number of names that are read from a folder.
pub const MAX_NAMES: usize = 10_000;

/// The first [`MAX_NAMES`] names, without `.` and `..`.
#[derive(Debug, Default)]
pub struct FolderNames {
    /// Each name with whether it is that of a folder, sorted by bytes, because a search bisects.
    names: Vec<(Box<[u8]>, bool)>,
    /// Whether the folder has more than [`MAX_NAMES`] names, so that some are missing.
    pub is_cut: bool,
}

impl FolderNames {
    /// Reads an open folder; may wait for the disk.
    pub fn read(folder: &File) -> io::Result<FolderNames> {
        let mut entries = read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
        let mut names = Vec::new();
        for entry in entries.by_ref().take(MAX_NAMES) {
            let entry = entry?;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            names.push((entry.file_name().as_bytes().into(), is_folder));
        }
        names.sort_unstable();
        Ok(FolderNames { names, is_cut: entries.next().is_some() })
    }

    /// The names that begin with `start`, without those of folders.
    pub fn beginning_with(&self, start: &[u8]) -> impl Iterator<Item = &[u8]> {
        let first = self.names.partition_point(|(name, _)| &**name < start);
        let rest = self.names.get(first..).unwrap_or_default().iter();
        let rest = rest.take_while(move |(name, _)| name.starts_with(start));
        rest.filter(|(_, is_folder)| !is_folder).map(|(name, _)| &**name)
    }

    /// Each name with whether it is that of a folder, sorted by bytes.
    pub fn all(&self) -> impl Iterator<Item = (&[u8], bool)> {
        self.names.iter().map(|(name, is_folder)| (&**name, *is_folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_beginning() {
        let names = FolderNames {
            names: ["a", "b", "b.en", "b.fr", "bb", "c"].iter().map(|name| (name.as_bytes().into(), false)).collect(),
            is_cut: false,
        };
        let found = |start: &str| names.beginning_with(start.as_bytes()).count();
        assert_eq!((found("b."), found("b"), found("x"), found("")), (2, 4, 0, 6));
        assert_eq!(names.all().count(), 6);
    }

    #[test]
    fn a_folder_is_read_without_the_folders_in_it() {
        let names = FolderNames::read(&File::open(".").expect("a folder")).expect("its names");
        assert_eq!(names.beginning_with(b"Cargo").count(), 1);
        assert_eq!(names.beginning_with(b"src").count(), 0);
    }
}
