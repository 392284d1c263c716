//! What is written about requests, and that clients cannot forge it.

/// `ErrorLog` and `LogLevel` of a virtual host.
mod error_logs;
/// What clients send, where an administrator reads it: a terminal, a log, a page.
mod escaping;
/// Lines for programs.
mod json;
/// Access logs byte for byte; error log, piped logs.
mod log_files;
