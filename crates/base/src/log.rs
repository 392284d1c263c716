//! Lines of the error log, in httpd's format, on standard error:
//!
//! ```text
//!   [Sat Nov 21 08:00:00.123456 2026] [front:warn] [pid 12] [client 192.0.2.1:5022] what happened
//! ```
//!
//! With `ErrorLogFormat json`, each line is a JSON object: docs/operating/logs.md lists the fields.
//!
//! Each line is written with one `write`, so that lines of several processes are not mixed.

use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

use serde::Serialize;

use crate::printable;

/// `LogLevel`, Apache's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[allow(missing_docs, reason = "the names are syslog's")]
pub enum LogLevel {
    Emerg,
    Alert,
    Crit,
    Error,
    #[default]
    Warn,
    Notice,
    Info,
    Debug,
    Trace1,
    Trace2,
    Trace3,
    Trace4,
    Trace5,
    Trace6,
    Trace7,
    Trace8,
}

impl LogLevel {
    /// Names in the order of the levels.
    const NAMES: [&str; 16] = [
        "emerg", "alert", "crit", "error", "warn", "notice", "info", "debug", "trace1", "trace2", "trace3", "trace4",
        "trace5", "trace6", "trace7", "trace8",
    ];

    /// The level of that number in httpd, 0 to 15.
    pub fn from_number(number: u32) -> Option<LogLevel> {
        use LogLevel::{Alert, Crit, Debug, Emerg, Error, Info, Notice, Warn};
        let trace = number.checked_sub(LogLevel::Debug as u32).filter(|trace| (1..=8).contains(trace));
        let trace = trace.map(|trace| LogLevel::trace(trace as u8));
        trace.or_else(|| [Emerg, Alert, Crit, Error, Warn, Notice, Info, Debug].get(number as usize).copied())
    }

    /// The level of that name, in any case.
    pub fn named(name: &str) -> Option<LogLevel> {
        let number = LogLevel::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        LogLevel::from_number(number as u32)
    }

    /// The word in lines of the error log and in `LogLevel`, in lower case.
    pub fn name(self) -> &'static str {
        LogLevel::NAMES[self as usize]
    }
}

/// Where a line of the error log names its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextPosition {
    /// Before the message, as httpd does.
    #[default]
    Leads,
    /// After the message: parsers of httpd's logs expect the message right after the process id.
    Follows,
    /// Nowhere: the line is about the server.
    None,
    /// Nowhere, and without time, level and process id: httpd's `APLOG_STARTUP`.
    Bare,
}

impl LogLevel {
    /// `trace1` to `trace8`, by a number from 1 to 8.
    pub fn trace(number: u8) -> LogLevel {
        use LogLevel::{Trace1, Trace2, Trace3, Trace4, Trace5, Trace6, Trace7, Trace8};
        let all = [Trace1, Trace2, Trace3, Trace4, Trace5, Trace6, Trace7, Trace8];
        all.get(usize::from(number.saturating_sub(1))).copied().unwrap_or(Trace8)
    }

    /// The number of a trace level from 1 to 8; 0 for more important levels.
    pub fn trace_number(self) -> u8 {
        (self as u8).saturating_sub(LogLevel::Debug as u8)
    }
}

impl ContextPosition {
    /// From the number that the C functions of the API pass; an unknown one is [`ContextPosition::Leads`].
    pub fn from_number(n: u32) -> ContextPosition {
        [ContextPosition::Leads, ContextPosition::Follows, ContextPosition::None, ContextPosition::Bare]
            .get(n as usize)
            .copied()
            .unwrap_or_default()
    }
}

/// `LogLevel`, set once and read before each line. The only global state that the parts of `-X`'s single process share.
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Notice as u8);

/// `LogLevel module:level`.
static MODULES: RwLock<Vec<(String, LogLevel)>> = RwLock::new(Vec::new());

/// `ErrorLogFormat json`.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Selects whether lines are JSON objects.
pub fn write_as_json(is_json: bool) {
    AS_JSON.store(is_json, Ordering::Relaxed);
}

/// Subject of a line.
#[derive(Default)]
pub struct Subject<'a> {
    /// Position of the subject in httpd's format.
    pub context: ContextPosition,
    /// Address of the client.
    pub client: Option<&'a dyn Display>,
    /// Slot of the worker, counted from 0; `None`: another process.
    pub worker: Option<u32>,
    /// Request that the line is about.
    pub request: Option<RequestSubject<'a>>,
}

/// Subject of a line about a request.
#[derive(Debug)]
pub struct RequestSubject<'a> {
    /// Request id, which the access log has, too.
    pub name: String,
    /// Method; empty: omitted in httpd's format.
    pub method: &'a str,
    /// Decoded path.
    pub path: &'a str,
}

impl<'a> Subject<'a> {
    /// A client without a request.
    pub fn of_client(client: &'a dyn Display) -> Subject<'a> {
        Subject { client: Some(client), ..Subject::default() }
    }
}

impl Subject<'_> {
    /// The message with its subject, in httpd's format.
    fn with_subject(&self, message: &dyn Display) -> String {
        let worker = self.worker.map(|worker| format!("worker={worker}"));
        let request = self.request.as_ref().map(ToString::to_string);
        let subject = [worker, request].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let mark = if self.request.is_some() { ":" } else { "" };
        match self.context {
            ContextPosition::Leads if !subject.is_empty() => format!("{subject}{mark} {message}"),
            ContextPosition::Follows => {
                let client = self.client.map(|client| format!("client {client}"));
                let subject = [client, Some(subject).filter(|subject| !subject.is_empty())];
                [Some(message.to_string())].into_iter().chain(subject).flatten().collect::<Vec<_>>().join(", ")
            }
            _ => message.to_string(),
        }
    }

    fn client_in_front(&self) -> Option<&dyn Display> {
        self.client.filter(|_| self.context == ContextPosition::Leads)
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

/// Sets the log level. Less urgent lines are not written.
pub fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Sets the level of all modules, and of single ones.
pub fn set_levels(level: LogLevel, modules: &[(String, LogLevel)]) {
    set_level(level);
    // A panic while the lock was held cannot have left a list half written.
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

/// Whether a line of this level would be written: for messages that are expensive to format.
pub fn enabled(level: LogLevel) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// Logs that the server or a part of it cannot continue.
pub fn crit(module: &str, message: impl Display) {
    write(LogLevel::Crit, module, &Subject::default(), &message);
}

/// Logs that a request or a task failed.
pub fn error(module: &str, message: impl Display) {
    write(LogLevel::Error, module, &Subject::default(), &message);
}

/// Logs a condition that the operator should check.
pub fn warn(module: &str, message: impl Display) {
    write(LogLevel::Warn, module, &Subject::default(), &message);
}

/// Logs a normal event of importance: start, reload, stop.
pub fn notice(module: &str, message: impl Display) {
    write(LogLevel::Notice, module, &Subject::default(), &message);
}

/// Logs a normal event.
pub fn info(module: &str, message: impl Display) {
    write(LogLevel::Info, module, &Subject::default(), &message);
}

/// Logs a message for developers.
pub fn debug(module: &str, message: impl Display) {
    write(LogLevel::Debug, module, &Subject::default(), &message);
}

/// Number of lines that could not be written.
static LOST: AtomicU32 = AtomicU32::new(0);

/// Writes a line with its subject.
pub fn write(level: LogLevel, module: &str, about: &Subject<'_>, message: &dyn Display) {
    if enabled_in(level, module) {
        write_always(level, module, about, message);
    }
}

/// Writes a line regardless of `LogLevel`.
pub fn write_always(level: LogLevel, module: &str, about: &Subject<'_>, message: &dyn Display) {
    let lost = LOST.swap(0, Ordering::Relaxed);
    let note = format_args!("{lost} lines were lost, because the program of ErrorLog does not read its input");
    if lost > 0 && !write_to(&mut std::io::stderr(), LogLevel::Warn, "log", &Subject::default(), &note) {
        LOST.fetch_add(lost, Ordering::Relaxed);
    }
    if !write_to(&mut std::io::stderr(), level, module, about, message) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes a line to another log regardless of `LogLevel`. Returns whether the write succeeded.
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
        ContextPosition::Bare => String::new(),
        _ => format!("[{now}] [{module}:{}] [pid {}] ", level.name(), std::process::id()),
    };
    if let Some(client) = about.client_in_front() {
        let _ = write!(line, "[client {}] ", printable::line(&client.to_string()));
    }
    // Control characters are escaped, so that a client or a script cannot forge a line. Backslashes are escaped, too.
    printable::put_line(about.with_subject(message).trim_end(), &mut line);
    line.push('\n');
    line
}

/// A line of `ErrorLogFormat json`. Fields that JSON access logs have, too, have the same names.
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
        level: level.name(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_httpds_format_and_cannot_be_forged() {
        let line = line(LogLevel::Warn, "front", &Subject::of_client(&"192.0.2.1:5022"), &"a\n[forged] \x1b[0m \\n\n");
        let pattern = r"^\[\w{3} \w{3} \d\d \d\d:\d\d:\d\d\.\d{6} \d{4}\] \[front:warn\] \[pid \d+\] \[client 192.0.2.1:5022\] a\\n\[forged\] \\x1b\[0m \\\\n\n$";
        assert!(regex::Regex::new(pattern).expect("a pattern").is_match(&line), "{line}");
    }
}
