//! multipart/form-data: the parser ends, keeps its limits, returns the same for any division into pieces, and
//! finds what a browser has sent.
#![no_main]

use form::multipart::{MultipartEvent, MAX_HEADER, Multipart};
use libfuzzer_sys::fuzz_target;

const TYPE: &[u8] = b"multipart/form-data; boundary=b";

#[derive(Debug, PartialEq)]
enum Event {
    Part(Vec<u8>, Option<Vec<u8>>, Vec<u8>),
    End,
    Bad(&'static str),
}

fuzz_target!(|asked: (u8, &[u8])| {
    let (size, bytes) = asked;
    // A worker reads a body in pieces of this size.
    slope::watch(bytes, |bytes| drop(events(bytes, 65_536)));
    let whole = events(bytes, bytes.len());
    assert_eq!(events(bytes, usize::from(size)), whole);
    assert!(whole.iter().map(weight).sum::<usize>() <= bytes.len());
    drop(Multipart::new(bytes));

    if !bytes.windows(5).any(|window| window == b"\r\n--b") && !bytes.starts_with(b"--b") {
        let sent = [b"--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n", bytes, b"\r\n--b--\r\n"].concat();
        assert_eq!(events(&sent, usize::from(size)), [Event::Part(b"f".to_vec(), None, bytes.to_vec()), Event::End]);
    }
});

/// The events of a body, independent of the size of its pieces.
fn events(bytes: &[u8], size: usize) -> Vec<Event> {
    let mut body = Multipart::new(TYPE).expect("a boundary");
    let mut events = Vec::new();
    for piece in bytes.chunks(size.max(1)) {
        body.feed(piece);
        while let Some(event) = body.event() {
            match event {
                MultipartEvent::Part(part) => {
                    assert!(part.headers.iter().all(|(name, value)| name.len() + value.len() <= MAX_HEADER));
                    events.push(Event::Part(part.name, part.filename, Vec::new()));
                }
                MultipartEvent::Data(data) => match events.last_mut() {
                    Some(Event::Part(_, _, whole)) => whole.extend_from_slice(data),
                    other => panic!("data behind {other:?}"),
                },
                MultipartEvent::PartEnd => {}
                MultipartEvent::End => events.push(Event::End),
                MultipartEvent::Bad(why) => events.push(Event::Bad(why)),
            }
        }
    }
    events
}

fn weight(event: &Event) -> usize {
    match event {
        Event::Part(name, file, data) => name.len() + file.as_ref().map_or(0, Vec::len) + data.len(),
        Event::End | Event::Bad(_) => 0,
    }
}
