//! `%t`: when a request came, in all shapes that `LogFormat` knows.

use std::io::Write;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::format::StrftimeItems;
use chrono::{DateTime, Local};

use super::entry::Entry;
use crate::front::base::lock::lock;

/// Apache's way to write a time, with the second that was written last: many lines share it.
#[derive(Default)]
pub struct ClockText(Mutex<(u64, Vec<u8>)>);

/// What `%{format}t` writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeFormat {
    end: bool,
    shape: TimeShape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TimeShape {
    Apache,
    Seconds,
    Milliseconds,
    Microseconds,
    MillisecondPart,
    MicrosecondPart,
    Strftime(String),
}

impl ClockText {
    /// `[10/Oct/2000:13:55:36 -0700]`
    pub fn write(&self, when: SystemTime, out: &mut Vec<u8>) {
        let second = when.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut last = lock(&self.0);
        if last.0 != second || last.1.is_empty() {
            let text = DateTime::<Local>::from(when).format("[%d/%b/%Y:%H:%M:%S %z]").to_string();
            *last = (second, text.into_bytes());
        }
        out.extend_from_slice(&last.1);
    }
}

impl TimeFormat {
    /// The one that the argument names.
    pub fn named(argument: &str) -> Result<TimeFormat, String> {
        let (end, shape) = match (argument.strip_prefix("end:"), argument.strip_prefix("begin:")) {
            (Some(shape), _) => (true, shape),
            (_, Some(shape)) => (false, shape),
            _ => (false, argument),
        };
        let shape = match shape {
            "" => TimeShape::Apache,
            "sec" => TimeShape::Seconds,
            "msec" => TimeShape::Milliseconds,
            "usec" => TimeShape::Microseconds,
            "msec_frac" => TimeShape::MillisecondPart,
            "usec_frac" => TimeShape::MicrosecondPart,
            // chrono fails, and `write!` then panics, when a format is wrong: it is refused here.
            strftime if StrftimeItems::new(strftime).any(|item| item == chrono::format::Item::Error) => {
                return Err(format!("%{{{argument}}}t: not a strftime format"));
            }
            strftime => TimeShape::Strftime(strftime.to_owned()),
        };
        Ok(TimeFormat { end, shape })
    }

    /// Appends when the request came, or when its answer had gone.
    pub fn write(&self, entry: &Entry<'_>, clock: &ClockText, out: &mut Vec<u8>) {
        let when = if self.end { entry.received + entry.took } else { entry.received };
        let since = when.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let local = || DateTime::<Local>::from(when);
        match &self.shape {
            TimeShape::Apache => clock.write(when, out),
            TimeShape::Seconds => drop(write!(out, "{}", since.as_secs())),
            TimeShape::Milliseconds => drop(write!(out, "{}", since.as_millis())),
            TimeShape::Microseconds => drop(write!(out, "{}", since.as_micros())),
            TimeShape::MillisecondPart => drop(write!(out, "{:03}", since.subsec_millis())),
            TimeShape::MicrosecondPart => drop(write!(out, "{:06}", since.subsec_micros())),
            TimeShape::Strftime(format) => drop(write!(out, "{}", local().format(format))),
        }
    }
}
