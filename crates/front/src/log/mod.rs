//! What is written about requests: access logs, and the error logs of hosts that have their own.

pub mod access_log;
pub mod entry;
pub mod error_logs;
mod json;
mod line;
mod time;
