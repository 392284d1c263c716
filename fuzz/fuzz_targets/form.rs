//! Whatever a browser sends as a form: it ends, it keeps the limits, and how it is cut into pieces does not matter.
#![no_main]

use form::multipart::{Event, Multipart};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (name, value) in form::urlencoded::pairs(bytes) {
        assert!(name.len() + value.len() <= bytes.len());
    }
    assert_eq!(told(bytes, bytes.len().max(1)), told(bytes, 7));
});

/// Parts and data, whatever the pieces were.
fn told(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut told = Vec::new();
    let Some(mut body) = Multipart::new(b"multipart/form-data; boundary=b") else { return told };
    for piece in bytes.chunks(size) {
        body.feed(piece);
        while let Some(event) = body.event() {
            match event {
                Event::Part(part) => told.extend([b"[", &part.name[..], b"]"].concat()),
                Event::Data(data) => told.extend_from_slice(data),
                Event::PartEnd => told.push(b'|'),
                Event::End => told.push(b'.'),
                Event::Bad(_) => told.push(b'!'),
            }
        }
    }
    told
}
