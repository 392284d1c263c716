//! `X-Forwarded-For` and `Forwarded`: a client's text in front of it never hides the entry that the nearest proxy
//! added.
#![no_main]

use std::hint::black_box;

use front::forwarded::{Entries, parameter};
use http::header::{FORWARDED, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

const LIST: HeaderName = HeaderName::from_static("x-forwarded-for");
const ADDED: [&[u8]; 3] = [b"for=192.0.2.43", b"for=\"192.0.2.43\";proto=https", b"proto=http;For=\"192.0.2.4\\3\""];

fuzz_target!(|list: &[u8]| {
    if HeaderValue::from_bytes(list).is_err() {
        return;
    }
    for name in [LIST, FORWARDED] {
        slope::watch(list, |list| _ = black_box(read(&name, list)));
        let mut left = list.len() + 1;
        for (before, entry) in Entries::of(&name, list) {
            // An entry that cannot be read is the last one.
            assert!(before.len() < left || entry.is_none(), "the text before an entry is shorter than with it");
            left = before.len().max(1);
        }
        for added in ADDED {
            let entry = Entries::of(&name, &[list, b", ", added].concat())
                .next()
                .and_then(|(_, entry)| entry.map(<[u8]>::to_vec));
            assert_eq!(entry.as_deref(), Some(added));
        }
    }
    for added in ADDED {
        assert_eq!(parameter(added, b"for").as_deref(), Some(&b"192.0.2.43"[..]));
    }
    let plain: Vec<_> = list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).rev().collect();
    let entries: Vec<_> = Entries::of(&LIST, list).map(|(_, entry)| entry.unwrap_or_default()).collect();
    assert!(list.is_empty() || plain == entries);
});

/// Reads a header as the front does; the number of entries that name a client.
fn read(name: &HeaderName, list: &[u8]) -> usize {
    Entries::of(name, list).filter(|(_, entry)| entry.is_some_and(|entry| parameter(entry, b"for").is_some())).count()
}
