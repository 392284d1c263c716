//! Lines of the error log, in Apache's shape, to standard error:
//!
//! ```text
//!   [Sat Nov 21 08:00:00.123456 2026] [front:warn] [pid 12] [client 192.0.2.1:5022] what happened
//! ```
//!
//! Every process writes its own lines with one `write` each, so that lines of several processes never mix.

use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::config::{Config, Host, LogLevel};
use crate::printable;

/// Set once from `LogLevel`; read before each line. The only state that the parts of `-X`'s one process share.
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Notice as u8);

/// `LogLevel module:level`, likewise.
static MODULES: RwLock<Vec<(String, LogLevel)>> = RwLock::new(Vec::new());

/// From now on, less urgent lines are not written.
pub fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// The same as `config` says it where this host answers, for single modules too.
pub fn set_levels(config: &Config, host: Option<&Host>) {
    let (level, modules) = config.levels(host);
    set_level(level);
    // Who panicked while it held the lock has written nothing half.
    let mut known = MODULES.write().unwrap_or_else(PoisonError::into_inner);
    if *known != modules {
        *known = modules.to_vec();
    }
}

fn enabled_in(level: LogLevel, module: &str) -> bool {
    let modules = MODULES.read().unwrap_or_else(PoisonError::into_inner);
    match modules.iter().find(|(known, _)| known == module) {
        Some((_, most)) => level <= *most,
        None => enabled(level),
    }
}

/// Whether a line of this level would be written: for messages that are expensive to make.
pub fn enabled(level: LogLevel) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// The server or a part of it cannot go on.
pub fn crit(module: &str, message: impl Display) {
    write(LogLevel::Crit, module, None, &message);
}

/// A request or a task failed.
pub fn error(module: &str, message: impl Display) {
    write(LogLevel::Error, module, None, &message);
}

/// Something that the operator should look at.
pub fn warn(module: &str, message: impl Display) {
    write(LogLevel::Warn, module, None, &message);
}

/// A normal event that matters: start, reload, stop.
pub fn notice(module: &str, message: impl Display) {
    write(LogLevel::Notice, module, None, &message);
}

/// A normal event.
pub fn info(module: &str, message: impl Display) {
    write(LogLevel::Info, module, None, &message);
}

/// For developers.
pub fn debug(module: &str, message: impl Display) {
    write(LogLevel::Debug, module, None, &message);
}

/// Lines that found the error log full.
static LOST: AtomicU32 = AtomicU32::new(0);

/// Writes a line, with the client that it is about.
pub fn write(level: LogLevel, module: &str, client: Option<&dyn Display>, message: &dyn Display) {
    if enabled_in(level, module) {
        let lost = LOST.swap(0, Ordering::Relaxed);
        let note = format_args!("{lost} lines were lost: the program that ErrorLog names does not read them");
        if lost > 0 && !write_to(&mut std::io::stderr(), LogLevel::Warn, "log", None, &note) {
            LOST.fetch_add(lost, Ordering::Relaxed);
        }
        if !write_to(&mut std::io::stderr(), level, module, client, message) {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The same to another log, whatever `LogLevel` says; says whether it had room.
pub fn write_to(
    log: &mut dyn std::io::Write,
    level: LogLevel,
    module: &str,
    client: Option<&dyn Display>,
    message: &dyn Display,
) -> bool {
    // A full disk or a closed log must not stop the server.
    log.write_all(line(level, module, client, message).as_bytes()).is_ok()
}

fn line(level: LogLevel, module: &str, client: Option<&dyn Display>, message: &dyn Display) -> String {
    let now = chrono::Local::now().format("%a %b %d %H:%M:%S%.6f %Y");
    let mut line = format!("[{now}] [{module}:{}] [pid {}] ", name(level), std::process::id());
    if let Some(client) = client {
        let _ = write!(line, "[client {}] ", printable::line(&client.to_string()));
    }
    // One event stays one line, whatever a client or a script put into it; and what looks escaped was.
    printable::put_line(message.to_string().trim_end(), &mut line);
    line.push('\n');
    line
}

fn name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Emerg => "emerg",
        LogLevel::Alert => "alert",
        LogLevel::Crit => "crit",
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Notice => "notice",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_apaches_shape_and_cannot_be_forged() {
        let line = line(LogLevel::Warn, "front", Some(&"192.0.2.1:5022"), &"a\n[forged] \x1b[0m \\n\n");
        let pattern = r"^\[\w{3} \w{3} \d\d \d\d:\d\d:\d\d\.\d{6} \d{4}\] \[front:warn\] \[pid \d+\] \[client 192.0.2.1:5022\] a\\n\[forged\] \\x1b\[0m \\\\n\n$";
        assert!(regex::Regex::new(pattern).expect("a pattern").is_match(&line), "{line}");
    }
}
