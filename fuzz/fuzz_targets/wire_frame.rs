//! Frames: each is refused, or safe to read in every part.
#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use wire::frame::{Field, Frame};

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| {
        let Ok(frame) = Frame::parse(bytes.to_vec()) else { return };
        frame.headers().for_each(|header| _ = black_box(header));
        frame.sections().for_each(|section| _ = black_box(section));
    });
    let Ok(frame) = Frame::parse(bytes.to_vec()) else { return };
    frame.headers().for_each(drop);
    frame.sections().for_each(drop);
    assert!(frame.body().len() <= bytes.len());
    for field in [Field::Method, Field::Target, Field::Path, Field::Query, Field::Filename] {
        assert!(frame.field(field).len() <= bytes.len());
    }
});
