//! What tells, without reading a file, whether it is as it was.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A state of a file: which one it is, its size, when its contents and anything about it last changed. Two changes within
/// one tick of the file system's clock may leave the same stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The state in which a look has found it.
    pub fn of(it: &Metadata) -> Stamp {
        Stamp {
            file: (it.dev(), it.ino()),
            size: it.size(),
            modified: (it.mtime(), it.mtime_nsec()),
            changed: (it.ctime(), it.ctime_nsec()),
        }
    }

    /// How long before `now` it came to be so.
    pub fn age_at(&self, now: SystemTime) -> Duration {
        let (seconds, nanos) = self.changed;
        let changed = Duration::new(seconds.try_into().unwrap_or(0), nanos.try_into().unwrap_or(0));
        now.duration_since(UNIX_EPOCH + changed).unwrap_or_default()
    }
}
