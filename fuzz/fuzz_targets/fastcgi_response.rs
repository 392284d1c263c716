//! Responses of FastCGI applications: the division into pieces does not matter, no more comes out than went in, and a
//! header cannot break out of its line.
#![no_main]

use bytes::BytesMut;
use fastcgi::{FastcgiEvent, HeadReader, ResponseReader};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Default, PartialEq)]
struct Response {
    output: Vec<u8>,
    log: Vec<u8>,
    end: Option<Result<u32, String>>,
}

fuzz_target!(|asked: (u8, &[u8])| {
    let (size, sent) = asked;
    slope::watch(sent, |sent| drop(read(sent, 512)));
    let whole = read(sent, sent.len());
    assert_eq!(read(sent, usize::from(size)), whole);
    assert!(whole.output.len() + whole.log.len() <= sent.len());
    head(&whole.output, usize::from(size));
});

fn read(sent: &[u8], size: usize) -> Response {
    let (mut reader, mut input, mut response) = (ResponseReader::default(), BytesMut::new(), Response::default());
    for piece in sent.chunks(size.max(1)) {
        input.extend_from_slice(piece);
        loop {
            match reader.next(&mut input) {
                Ok(None) => break,
                Ok(Some(FastcgiEvent::Stdout(text))) => response.output.extend_from_slice(&text),
                Ok(Some(FastcgiEvent::Stderr(text))) => response.log.extend_from_slice(&text),
                Ok(Some(FastcgiEvent::End(status))) => response.end = Some(Ok(status)),
                Err(error) => {
                    response.end = Some(Err(error.to_string()));
                    return response;
                }
            }
        }
    }
    response
}

fn head(output: &[u8], size: usize) {
    let mut reader = HeadReader::default();
    for piece in output.chunks(size.max(1)) {
        match reader.push(piece) {
            Ok(None) => {}
            Ok(Some((head, body))) => {
                assert!((200..600).contains(&head.status.as_u16()));
                assert!(body.len() <= output.len());
                let breaks = |byte: &u8| matches!(byte, b'\r' | b'\n' | 0);
                assert!(!head.fields.values().any(|value| value.as_bytes().iter().any(breaks)));
                return;
            }
            Err(_) => return,
        }
    }
}
