//! Access and error logs, and that clients cannot forge lines in them.

/// `ErrorLog` and `LogLevel` of a virtual host.
mod error_logs;
/// Clients' data where an administrator reads it: on a terminal, in a log, on a page.
mod escaping;
/// Log lines in JSON.
mod json;
/// Access logs byte for byte; error log; piped logs.
mod log_files;
/// `ErrorLog syslog`.
mod syslog;
/// `UNIQUE_ID`.
mod unique_id;
