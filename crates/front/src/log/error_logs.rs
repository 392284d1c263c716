//! Error logs of hosts. An error about a request goes to the log of the request's host.

use std::fmt::Display;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use crate::base::lock::lock;
use base::log;
use config::{Config, LogLevel};

pub struct ErrorLogs {
    config: Arc<Config>,
    files: Mutex<Vec<File>>,
}

/// Level and module of a line, which decide whether it is written.
#[derive(Clone, Copy)]
pub struct LineClass<'a> {
    pub level: LogLevel,
    pub module: &'a str,
}

impl ErrorLogs {
    /// Creates the logs; `logs` are the opened [`Config::error_logs`], in their order.
    pub fn new(config: &Arc<Config>, logs: Vec<OwnedFd>) -> ErrorLogs {
        ErrorLogs { config: config.clone(), files: Mutex::new(logs.into_iter().map(File::from).collect()) }
    }

    /// Replaces the files after log rotation.
    pub fn reopen(&self, logs: Vec<OwnedFd>) {
        *lock(&self.files) = logs.into_iter().map(File::from).collect();
    }

    /// Writes an error about a request of `host`.
    pub fn error(&self, host: u16, about: &log::Subject<'_>, message: &dyn Display) {
        self.write(host, LineClass { level: LogLevel::Error, module: "front" }, about, message);
    }

    /// Writes a line about a request of `host`, if the `LogLevel` of the module permits it.
    pub fn write(&self, host: u16, class: LineClass<'_>, about: &log::Subject<'_>, message: &dyn Display) {
        let LineClass { level, module } = class;
        let host = self.config.hosts.get(usize::from(host));
        if self.config.level_of(host, module) < level {
            return;
        }
        let mut files = lock(&self.files);
        // The line is lost if it cannot be written.
        let _ = match host.and_then(|host| host.error_log).and_then(|index| files.get_mut(index)) {
            Some(file) => log::write_to(file, level, module, about, message),
            None => log::write_to(&mut std::io::stderr(), level, module, about, message),
        };
    }
}
