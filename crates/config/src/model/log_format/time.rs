//! `%{format}t`: the time of a request, in all shapes of `LogFormat`.

use chrono::format::StrftimeItems;

/// Format of the time that `%{format}t` writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeFormat {
    /// Log the time when the response was complete, not when the request arrived.
    pub end: bool,
    /// Notation of the time.
    pub shape: TimeShape,
}

/// Notation of a time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum TimeShape {
    Apache,
    Seconds,
    Milliseconds,
    Microseconds,
    MillisecondPart,
    MicrosecondPart,
    Strftime(String),
}

impl TimeFormat {
    /// The format for `argument`.
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
            // chrono fails, and `write!` then panics, for a wrong format, so it is refused here.
            strftime if StrftimeItems::new(strftime).any(|item| item == chrono::format::Item::Error) => {
                return Err(format!("%{{{argument}}}t: not a time format: strftime(3) lists the conversions"));
            }
            strftime => TimeShape::Strftime(strftime.to_owned()),
        };
        Ok(TimeFormat { end, shape })
    }
}
