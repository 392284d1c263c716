//! Logs of requests: access logs, and the error logs of hosts.

pub mod access_log;
pub mod entry;
pub mod error_logs;
mod json;
mod line;
mod time;
