//! Access logs of a configuration. Lines are buffered and written together, by the clock or when the buffer is full.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use anyhow::{anyhow, bail};

use super::entry::Entry;
use super::line;
use super::time::ClockText;
use crate::base::lock::lock;
use base::log;
use config::log_format::LogFormat;
use config::response::setenv::EnvCondition;
use config::{Config, LogTarget};

/// Buffered bytes that are written without waiting for the clock.
const FULL: usize = 32 * 1024;
/// Maximum number of bytes buffered for a piped program that does not read; further lines are lost.
const KEPT: usize = 1024 * 1024;

pub struct AccessLogs {
    files: Vec<Mutex<LogFile>>,
    /// The access logs of each host: index of the file, format, and condition on requests.
    hosts: Vec<Vec<(usize, LogFormat, Option<EnvCondition>)>>,
    wants_response: bool,
    clock: ClockText,
}

struct LogFile {
    /// The destination as in CustomLog, for messages.
    name: String,
    file: File,
    lines: Vec<u8>,
    /// Number of lines lost because the buffer was full.
    lost: u64,
}

impl AccessLogs {
    /// Creates the logs; `logs` are the opened [`Config::logs`], in their order.
    pub fn new(config: &Config, logs: Vec<OwnedFd>) -> anyhow::Result<AccessLogs> {
        if logs.len() != config.logs.len() {
            bail!("{} access logs are configured and {} were opened", config.logs.len(), logs.len());
        }
        let mut hosts = Vec::new();
        for host in &config.hosts {
            let formats = host
                .access_logs
                .iter()
                .map(|log| Ok((log.log, LogFormat::compile(&log.format)?, log.condition.clone())));
            hosts.push(formats.collect::<Result<Vec<_>, String>>().map_err(|unknown| anyhow!(unknown))?);
        }
        Ok(AccessLogs {
            files: config.logs.iter().zip(logs).map(|(target, log)| Mutex::new(LogFile::new(target, log))).collect(),
            wants_response: hosts.iter().flatten().any(|(_, format, when)| {
                format.wants_response() || when.as_ref().is_some_and(|when| when.expr().is_some())
            }),
            hosts,
            clock: ClockText::default(),
        })
    }

    /// Whether a format uses a header of the response.
    pub fn want_response(&self) -> bool {
        self.wants_response
    }

    /// Adds the lines of a request of `host`; `holds` evaluates conditions.
    pub fn write(&self, host: usize, entry: &Entry<'_>, holds: impl Fn(&EnvCondition) -> bool) {
        for (file, format, condition) in &self.hosts[host] {
            if condition.as_ref().is_some_and(|condition| !holds(condition)) {
                continue;
            }
            if let Some(file) = self.files.get(*file) {
                lock(file).add(|lines| line::write(format, entry, &self.clock, lines));
            }
        }
    }

    /// Writes the buffered lines. Returns whether there were any.
    pub fn flush(&self) -> bool {
        self.files.iter().filter_map(|file| lock(file).flush()).count() > 0
    }

    /// Replaces the files after log rotation.
    pub fn reopen(&self, logs: Vec<OwnedFd>) -> anyhow::Result<()> {
        if logs.len() != self.files.len() {
            bail!("{} access logs were reopened and {} are in use", logs.len(), self.files.len());
        }
        for (file, log) in self.files.iter().zip(logs) {
            let mut file = lock(file);
            file.flush();
            // Lines that a program has not read stay buffered, because its pipe is the same.
            file.file = File::from(log);
        }
        Ok(())
    }
}

impl Drop for AccessLogs {
    fn drop(&mut self) {
        self.flush();
    }
}

impl LogFile {
    fn new(target: &LogTarget, log: OwnedFd) -> LogFile {
        let name = match target {
            LogTarget::Standard => "standard output".to_owned(),
            LogTarget::File(path) => path.display().to_string(),
            LogTarget::Pipe(command) => format!("|{command}"),
            LogTarget::Syslog(target) => target.to_string(),
        };
        LogFile { name, file: File::from(log), lines: Vec::new(), lost: 0 }
    }

    fn add(&mut self, line: impl FnOnce(&mut Vec<u8>)) {
        if self.lines.len() >= KEPT {
            if self.lost == 0 {
                let name = &self.name;
                log::error("front", format_args!("access log {name} does not read its input; lines are lost"));
            }
            self.lost += 1;
            return;
        }
        line(&mut self.lines);
        if self.lines.len() >= FULL {
            self.flush();
        }
    }

    /// Writes the buffered lines; `None`: there are none.
    fn flush(&mut self) -> Option<()> {
        if self.lines.is_empty() {
            return None;
        }
        while !self.lines.is_empty() {
            match self.file.write(&self.lines) {
                Ok(written) => drop(self.lines.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The pipe is full; the clock tries again.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(()),
                Err(error) => {
                    let name = &self.name;
                    log::error(
                        "front",
                        format_args!("access log {name}: cannot write: {error}; the buffered lines are lost"),
                    );
                    self.lines.clear();
                }
            }
        }
        if self.lost > 0 {
            let (name, lost) = (&self.name, self.lost);
            log::warn("front", format_args!("access log {name} reads again; {lost} lines were lost"));
            self.lost = 0;
        }
        Some(())
    }
}
