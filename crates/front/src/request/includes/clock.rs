//! Times of a page, in local time or in GMT.

use std::time::SystemTime;

use chrono::{DateTime, Local, Utc};
use ssi::format;

/// A time in the local zone, in the format of strftime(3).
pub fn local(time: SystemTime, format: &[u8]) -> Vec<u8> {
    let time = DateTime::<Local>::from(time).fixed_offset();
    let zone = match time.offset().local_minus_utc() {
        0 => "UTC".to_owned(),
        _ => time.format("%z").to_string(),
    };
    format::time(&time, &zone, format)
}

/// A time in GMT, in the format of strftime(3).
pub fn gmt(time: SystemTime, format: &[u8]) -> Vec<u8> {
    format::time(&DateTime::<Utc>::from(time).fixed_offset(), "GMT", format)
}
