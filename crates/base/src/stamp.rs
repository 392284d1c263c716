//! Detection of changed files without reading them.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::fstat;

/// State of a file: identity, size, and times of the last change of contents and metadata. Two changes within one tick
/// of the file system's clock may have the same stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp in a file's metadata.
    pub fn of(it: &Metadata) -> Stamp {
        Stamp {
            file: (it.dev(), it.ino()),
            size: it.size(),
            modified: (it.mtime(), it.mtime_nsec()),
            changed: (it.ctime(), it.ctime_nsec()),
        }
    }

    /// The stamp of an open file, by the cheapest system call.
    pub fn of_open(file: &File) -> io::Result<Stamp> {
        let it = fstat(file)?;
        Ok(Stamp {
            file: (it.st_dev, it.st_ino),
            size: it.st_size as u64,
            modified: (it.st_mtime, it.st_mtime_nsec as i64),
            changed: (it.st_ctime, it.st_ctime_nsec as i64),
        })
    }

    /// Time from the last change to `now`.
    pub fn age_at(&self, now: SystemTime) -> Duration {
        let (seconds, nanos) = self.changed;
        let changed = Duration::new(seconds.try_into().unwrap_or(0), nanos.try_into().unwrap_or(0));
        now.duration_since(UNIX_EPOCH + changed).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_has_the_stamp_of_its_name() {
        for name in ["Cargo.toml", "src", "/dev/null"] {
            let (file, named) = (File::open(name).expect("it is there"), std::fs::metadata(name).expect("it is there"));
            assert_eq!(Stamp::of_open(&file).expect("it is open"), Stamp::of(&named), "{name}");
        }
    }
}
