//! HTTP/1 input: the division into segments does not matter, the output is a prefix of the input, and heads end
//! where hyper's parser ends them.
#![no_main]

use front::strict::{HeadLimits, Scanner, Buffer, Scanned};
use libfuzzer_sys::fuzz_target;

const LIMITS: HeadLimits = HeadLimits { line: 400, field: 400, fields: 20, head: 2000 };

fuzz_target!(|asked: (u8, &[u8])| {
    let (size, bytes) = asked;
    slope::watch(bytes, |bytes| drop(sift(bytes, 8192)));
    let whole = sift(bytes, bytes.len());
    assert_eq!(sift(bytes, usize::from(size)), whole);
    // The output equals the input, except for the digit of versions after 1.1 and bytes of a target that hyper
    // would refuse.
    let is_odd = |sent: &u8| matches!(sent, b'<' | b'>' | b'`' | b'"' | 0x80..);
    let is_same = |(sent, through): (&u8, &u8)| {
        sent == through || (matches!(sent, b'2'..=b'9') && *through == b'1') || is_odd(sent) && *through == b'_'
    };
    assert!(whole.0.len() <= bytes.len() && bytes.iter().zip(&whole.0).all(is_same));
    if let (false, Scanned::Pass(length)) = (bytes.is_empty(), Scanner::new(LIMITS).scan(bytes)) {
        let mut headers = [httparse::EMPTY_HEADER; LIMITS.fields];
        match httparse::Request::new(&mut headers).parse(bytes) {
            Ok(httparse::Status::Complete(end)) => assert_eq!(end, length),
            Ok(httparse::Status::Partial) => panic!("hyper would wait for more of a head of {length} bytes"),
            // hyper refuses the head, so it causes no harm.
            Err(_) => {}
        }
    }
});

/// The output for input in pieces, whether the rest is refused, and the number of heads. Which of several
/// mistakes is found first may depend on the pieces.
fn sift(bytes: &[u8], size: usize) -> (Vec<u8>, bool, u32) {
    let mut buffer = Buffer::new(LIMITS);
    let mut through = Vec::new();
    for piece in bytes.chunks(size.max(1)) {
        let mut piece = piece.to_vec();
        let passed = buffer.take(&mut piece);
        through.extend_from_slice(&piece[..passed]);
        while buffer.give(7, |bytes| through.extend_from_slice(bytes)) > 0 {}
    }
    (through, buffer.violation().is_some(), buffer.heads())
}
