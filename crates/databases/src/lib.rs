//! Databases of users, groups and rewrite maps: DBM files, SQLite, PostgreSQL. All functions block: the front calls
//! them on threads for blocking work, a worker directly.
//!
//! Start at [`DbmFile`] for files, at [`ask`] for SQL.

#![forbid(unsafe_code)]

// DBM files, parsed from bytes.
mod dbm;

// Queries, and their results.
mod sql;

pub use dbm::{DbmFile, MAX_DBM_BYTES};
pub use sql::{PgTlsStream, SqlQuestion, SqlRows, ask};

/// Version of the SQLite library: `3.40.1`.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
