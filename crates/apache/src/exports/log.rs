//! The error log: `Apache::Log`, and the level of the process.

use base::log::{ContextPosition, LogLevel as Level};

use super::XsText;
use crate::log::{log_in, set_level};

#[unsafe(no_mangle)]
extern "C" fn apache_set_log_level(level: u32) {
    set_level(Level::from_number(level).unwrap_or(Level::Error));
}

#[unsafe(no_mangle)]
extern "C" fn apache_log(level: u32, context: u32, text: XsText<'_>) {
    log_in(Level::from_number(level).unwrap_or(Level::Error), ContextPosition::from_number(context), text.bytes());
}
