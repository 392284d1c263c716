//! Range headers: parts lie in the file, and together are not longer than it.
#![no_main]

use config::response::ranges::Ranges;
use front::range::{self, RequestedRanges};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|asked: (u64, &[u8])| {
    let (size, value) = asked;
    slope::watch(value, |value| drop(range::parse(value, size, Ranges::default())));
    let RequestedRanges::Parts(parts) = range::parse(value, size, Ranges::default()) else { return };
    assert!(!parts.is_empty() && parts.len() <= 200);
    assert!(parts.iter().all(|(from, to)| from < to && *to <= size));
    let total: u128 = parts.iter().map(|(from, to)| u128::from(to - from)).sum();
    assert!(total <= u128::from(size));
});
