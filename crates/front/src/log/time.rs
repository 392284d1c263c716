//! `%t`: the time of a request, in all forms of `LogFormat`.

use std::io::Write;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Local};

use super::entry::Entry;
use crate::base::lock::lock;
use config::log_format::{TimeFormat, TimeShape};

/// Formats times in httpd's default form. The last second is cached, because many lines share it.
#[derive(Default)]
pub struct ClockText(Mutex<(u64, Vec<u8>)>);

impl ClockText {
    /// Appends `[10/Oct/2000:13:55:36 -0700]`
    pub fn write(&self, when: SystemTime, out: &mut Vec<u8>) {
        let second = when.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut last = lock(&self.0);
        if last.0 != second || last.1.is_empty() {
            let text = DateTime::<Local>::from(when).format("[%d/%b/%Y:%H:%M:%S %z]").to_string();
            *last = (second, text.into_bytes());
        }
        out.extend_from_slice(&last.1);
    }

    /// Appends the time of a request in the form of `%{format}t`.
    pub fn write_as(&self, format: &TimeFormat, entry: &Entry<'_>, out: &mut Vec<u8>) {
        let when = if format.end { entry.received + entry.tally.took } else { entry.received };
        let since = when.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let local = || DateTime::<Local>::from(when);
        match &format.shape {
            TimeShape::Apache => self.write(when, out),
            TimeShape::Seconds => drop(write!(out, "{}", since.as_secs())),
            TimeShape::Milliseconds => drop(write!(out, "{}", since.as_millis())),
            TimeShape::Microseconds => drop(write!(out, "{}", since.as_micros())),
            TimeShape::MillisecondPart => drop(write!(out, "{:03}", since.subsec_millis())),
            TimeShape::MicrosecondPart => drop(write!(out, "{:06}", since.subsec_micros())),
            TimeShape::Strftime(strftime) => drop(write!(out, "{}", local().format(strftime))),
        }
    }
}
