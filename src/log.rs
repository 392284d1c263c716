//! Lines of the error log, in Apache's shape, to standard error:
//!
//! ```text
//!   [Sat Nov 21 08:00:00.123456 2026] [front:warn] [pid 12] [client 192.0.2.1:5022] what happened
//! ```
//!
//! or, with `ErrorLogFormat json`, as a JSON object each: docs/operating/logs.md has the fields.
//!
//! Every process writes its own lines with one `write` each, so that lines of several processes never mix.

use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

pub use apache::Context;
use serde::Serialize;

use crate::config::{Config, Host, LogLevel};
use crate::printable;

/// Set once from `LogLevel`; read before each line. The only state that the parts of `-X`'s one process share.
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Notice as u8);

/// `LogLevel module:level`, likewise.
static MODULES: RwLock<Vec<(String, LogLevel)>> = RwLock::new(Vec::new());

/// `ErrorLogFormat json`, likewise.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on, lines are JSON objects, or not.
pub fn write_as_json(is_json: bool) {
    AS_JSON.store(is_json, Ordering::Relaxed);
}

/// What a line is about.
#[derive(Default)]
pub struct Subject<'a> {
    /// Where it stands in Apache's shape.
    pub context: Context,
    /// Who asked.
    pub client: Option<&'a dyn Display>,
    /// The worker's place in the pool.
    pub worker: Option<u32>,
    /// The request.
    pub request: Option<RequestSubject<'a>>,
}

/// The request that a line is about.
#[derive(Debug)]
pub struct RequestSubject<'a> {
    /// By which the access log knows it.
    pub name: String,
    /// Empty: not told in Apache's shape.
    pub method: &'a str,
    /// Decoded.
    pub path: &'a str,
}

impl<'a> Subject<'a> {
    /// A client without a request.
    pub fn of_client(client: &'a dyn Display) -> Subject<'a> {
        Subject { client: Some(client), ..Subject::default() }
    }
}

impl Subject<'_> {
    /// The message with what it is about, in Apache's shape.
    fn tell(&self, message: &dyn Display) -> String {
        let worker = self.worker.map(|worker| format!("worker={worker}"));
        let request = self.request.as_ref().map(ToString::to_string);
        let told = [worker, request].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let mark = if self.request.is_some() { ":" } else { "" };
        match self.context {
            Context::Leads if !told.is_empty() => format!("{told}{mark} {message}"),
            Context::Follows => {
                let client = self.client.map(|client| format!("client {client}"));
                let told = [client, Some(told).filter(|told| !told.is_empty())];
                [Some(message.to_string())].into_iter().chain(told).flatten().collect::<Vec<_>>().join(", ")
            }
            _ => message.to_string(),
        }
    }

    fn client_in_front(&self) -> Option<&dyn Display> {
        self.client.filter(|_| self.context == Context::Leads)
    }
}

impl Display for RequestSubject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RequestSubject { method: "", path, .. } => f.write_str(path),
            RequestSubject { method, path, .. } => write!(f, "{method} {path}"),
        }
    }
}

/// From now on, less urgent lines are not written.
pub fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// The same as `config` says it where this host answers, for single modules too.
pub fn set_levels(config: &Config, host: Option<&Host>) {
    let (level, modules) = config.levels(host);
    set_level(level);
    write_as_json(config.error_log_json);
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
    write(LogLevel::Crit, module, &Subject::default(), &message);
}

/// A request or a task failed.
pub fn error(module: &str, message: impl Display) {
    write(LogLevel::Error, module, &Subject::default(), &message);
}

/// Something that the operator should look at.
pub fn warn(module: &str, message: impl Display) {
    write(LogLevel::Warn, module, &Subject::default(), &message);
}

/// A normal event that matters: start, reload, stop.
pub fn notice(module: &str, message: impl Display) {
    write(LogLevel::Notice, module, &Subject::default(), &message);
}

/// A normal event.
pub fn info(module: &str, message: impl Display) {
    write(LogLevel::Info, module, &Subject::default(), &message);
}

/// For developers.
pub fn debug(module: &str, message: impl Display) {
    write(LogLevel::Debug, module, &Subject::default(), &message);
}

/// Lines that found the error log full.
static LOST: AtomicU32 = AtomicU32::new(0);

/// Writes a line, with what it is about.
pub fn write(level: LogLevel, module: &str, about: &Subject<'_>, message: &dyn Display) {
    if enabled_in(level, module) {
        write_always(level, module, about, message);
    }
}

/// Likewise, whatever `LogLevel` says.
pub fn write_always(level: LogLevel, module: &str, about: &Subject<'_>, message: &dyn Display) {
    let lost = LOST.swap(0, Ordering::Relaxed);
    let note = format_args!("{lost} lines were lost: the program that ErrorLog names does not read them");
    if lost > 0 && !write_to(&mut std::io::stderr(), LogLevel::Warn, "log", &Subject::default(), &note) {
        LOST.fetch_add(lost, Ordering::Relaxed);
    }
    if !write_to(&mut std::io::stderr(), level, module, about, message) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// The same to another log, whatever `LogLevel` says; says whether it had room.
pub fn write_to(
    log: &mut dyn std::io::Write,
    level: LogLevel,
    module: &str,
    about: &Subject<'_>,
    message: &dyn Display,
) -> bool {
    let line = match AS_JSON.load(Ordering::Relaxed) {
        true => json_line(level, module, about, message),
        false => line(level, module, about, message),
    };
    // A full disk or a closed log must not stop the server.
    log.write_all(line.as_bytes()).is_ok()
}

fn line(level: LogLevel, module: &str, about: &Subject<'_>, message: &dyn Display) -> String {
    let now = chrono::Local::now().format("%a %b %d %H:%M:%S%.6f %Y");
    let mut line = match about.context {
        Context::Bare => String::new(),
        _ => format!("[{now}] [{module}:{}] [pid {}] ", name(level), std::process::id()),
    };
    if let Some(client) = about.client_in_front() {
        let _ = write!(line, "[client {}] ", printable::line(&client.to_string()));
    }
    // One event stays one line, whatever a client or a script put into it; and what looks escaped was.
    printable::put_line(about.tell(message).trim_end(), &mut line);
    line.push('\n');
    line
}

/// A line of `ErrorLogFormat json`. Fields that the access log has too have the same names.
#[derive(Serialize)]
struct JsonLine<'a> {
    log: &'static str,
    time: String,
    level: &'static str,
    module: &'a str,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    message: &'a str,
}

fn json_line(level: LogLevel, module: &str, about: &Subject<'_>, message: &dyn Display) -> String {
    let message = message.to_string();
    let request = about.request.as_ref();
    let line = JsonLine {
        log: "error",
        time: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
        level: name(level),
        module,
        pid: std::process::id(),
        worker: about.worker,
        request_id: request.map(|request| &*request.name),
        client: about.client.map(ToString::to_string),
        method: request.map(|request| request.method).filter(|method| !method.is_empty()),
        path: request.map(|request| request.path),
        message: message.trim_end(),
    };
    printable::json(&serde_json::to_string(&line).unwrap_or_default()) + "\n"
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
        let line = line(LogLevel::Warn, "front", &Subject::of_client(&"192.0.2.1:5022"), &"a\n[forged] \x1b[0m \\n\n");
        let pattern = r"^\[\w{3} \w{3} \d\d \d\d:\d\d:\d\d\.\d{6} \d{4}\] \[front:warn\] \[pid \d+\] \[client 192.0.2.1:5022\] a\\n\[forged\] \\x1b\[0m \\\\n\n$";
        assert!(regex::Regex::new(pattern).expect("a pattern").is_match(&line), "{line}");
    }
}
