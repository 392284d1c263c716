//! Whatever a client sends: it is judged alike however it arrives, what goes on is a beginning of it, and whoever reads that
//! alone finds the same requests in it and nothing wrong.
#![no_main]

use cameleer::front::strict::{Limits, Sieve, Violation};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { line: 256, field: 128, fields: 8, head: 1024 };

struct Judged {
    through: Vec<u8>,
    violation: Option<Violation>,
    heads: u32,
}

fn judge(bytes: &[u8], size: usize) -> Judged {
    let mut sieve = Sieve::new(LIMITS);
    let mut through = Vec::new();
    for piece in bytes.chunks(size) {
        let passed = sieve.take(piece);
        through.extend_from_slice(&piece[..passed]);
        while sieve.give(5, |bytes| through.extend_from_slice(bytes)) > 0 {}
    }
    Judged { through, violation: sieve.violation(), heads: sieve.heads() }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let whole = judge(bytes, bytes.len().max(1));
    let split = judge(bytes, usize::from(*size).max(1));
    assert_eq!((&whole.through, whole.violation, whole.heads), (&split.through, split.violation, split.heads));
    assert!(bytes.starts_with(&whole.through));
    let again = judge(&whole.through, 1);
    assert_eq!((again.through, again.violation, again.heads), (whole.through, None, whole.heads));
});
