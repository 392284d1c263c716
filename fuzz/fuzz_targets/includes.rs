//! Documents with server-side includes: borders of pieces have no effect, and an old expression is evaluated or an
//! error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssi::legacy::LegacyExpr;
use ssi::parser::{Element, PageEvent, Parser};
use std::sync::Arc;

fn parts(pieces: &[&[u8]]) -> (Vec<u8>, Vec<Element>, bool) {
    let mut parser = Parser::new(Arc::default());
    let (mut text, mut elements) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = *piece;
        while let Some(event) = parser.next(&mut rest) {
            match event {
                PageEvent::Text(plain) => text.extend_from_slice(&plain),
                PageEvent::Element(element) => elements.push(element),
            }
        }
    }
    let end = parser.end().map(|rest| text.extend_from_slice(rest));
    (text, elements, end.is_ok())
}

fuzz_target!(|document: &[u8]| {
    slope::watch(document, |document| drop(parts(&[document])));
    let whole = parts(&[document]);
    let (first, second) = document.split_at(document.len() / 2);
    assert_eq!(parts(&[first, second]), whole);
    assert!(whole.0.len() <= document.len());
    let values = whole.1.iter().flat_map(|element| &element.arguments).filter_map(|argument| argument.value.as_ref());
    for value in values {
        if let Ok(expression) = LegacyExpr::parse(value) {
            assert!(expression.urls().len() <= ssi::legacy::MAX_TOKENS);
        }
        assert!(ssi::entities::decode(value).len() <= value.len());
    }
});
