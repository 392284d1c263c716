//! Facts that the elements `fsize` and `flastmod` show.

use std::time::SystemTime;

/// A file that an element asks about.
pub struct LookedUpFile {
    /// Size in bytes.
    pub size: u64,
    /// Time of its last change.
    pub modified: SystemTime,
}
