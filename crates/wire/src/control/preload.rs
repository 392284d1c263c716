//! Code that new molds load before the fork, because workers have loaded it after the fork.

use serde::{Deserialize, Serialize};

/// Code that workers have loaded after the fork.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateCode {
    /// Modules: name in `%INC` (`LWP/UserAgent.pm`) and file.
    pub modules: Vec<(String, String)>,
    /// Registry scripts: cache key and file.
    pub scripts: Vec<(String, String)>,
}

/// Late code that a new mold is to load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreloadOrder {
    /// Modules and scripts, sorted by their names.
    pub code: LateCode,
    /// Code that an earlier mold has left out. It is tried again once its file has changed.
    pub left_out: Vec<LeftOutCode>,
}

/// A module or script that is not safe to load before the fork.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutCode {
    /// Name in `%INC`, or key of the script.
    pub name: String,
    /// Path of the file.
    pub file: String,
    /// Modification time of the file in nanoseconds since 1970; 0 if it could not be read, or if the next start is to
    /// try the code again.
    pub changed: i64,
    /// The reason, for the log: `prints to STDOUT`.
    pub why: String,
}
