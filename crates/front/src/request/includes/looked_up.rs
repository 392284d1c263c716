//! Facts that the elements `fsize` and `flastmod` show.

use std::time::SystemTime;

/// Size and modification time of the file that an `fsize` or `flastmod` element names.
pub struct LookedUpFile {
    /// Size in bytes.
    pub size: u64,
    /// Time of its last change.
    pub modified: SystemTime,
}
