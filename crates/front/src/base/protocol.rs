//! What HTTP's versions have in common.

use http::Version;

use config::RequestLimits;

/// Longer methods are answered 501. The longest that IANA lists has 17 (`UPDATEREDIRECTREF`).
pub const LONGEST_METHOD: usize = 32;

/// `HTTP/1.1`
pub fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

/// Room for one line and a good number of fields of the largest size; hyper answers 431 to more.
pub fn buffer_size(limits: &RequestLimits) -> usize {
    let fields = limits.field_size.saturating_mul(limits.fields.min(16));
    limits.request_line.saturating_add(fields).clamp(16 * 1024, 1024 * 1024)
}
