//! Random numbers that spread events which would otherwise coincide. They are not for secrets.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::RangeInclusive;

/// A number of the range. The keys of the standard hasher are random for each process and differ for each call.
pub fn drawn(range: &RangeInclusive<u64>) -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let span = range.end().saturating_sub(*range.start()).saturating_add(1);
    range.start() + hasher.finish() % span.max(1)
}

/// The number of requests after which a worker exits, of `MaxRequestsPerChild`; `None`: never.
pub fn request_limit(range: &RangeInclusive<u64>) -> Option<u64> {
    (*range.end() > 0).then(|| drawn(range).max(1))
}
