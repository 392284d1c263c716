//! Frames of WebSocket clients: the division into pieces does not matter, no message exceeds its limit, texts are
//! UTF-8, and a message that is written is read as it was.
#![no_main]

use bytes::{Bytes, BytesMut};
use http::HeaderValue;
use libfuzzer_sys::fuzz_target;
use websocket::{
    MessageDeflate, Opcode, WebSocketEvent, WebSocketLimits, WebSocketReader, WebSocketWriter, frame,
};

const LIMITS: WebSocketLimits = WebSocketLimits { message: 20_000, frame: 10_000 };

fuzz_target!(|input: (u8, bool, &[u8])| {
    let (size, deflates, sent) = input;
    slope::watch(sent, |sent| drop(read(sent, 512, deflates)));
    let whole = read(sent, sent.len(), deflates);
    assert_eq!(read(sent, usize::from(size), deflates), whole);
    for event in &whole.0 {
        match event {
            WebSocketEvent::Text(text) => {
                assert!(text.len() <= LIMITS.message && std::str::from_utf8(text).is_ok());
            }
            WebSocketEvent::Binary(bytes) => assert!(bytes.len() <= LIMITS.message),
            WebSocketEvent::Ping(bytes) | WebSocketEvent::Pong(bytes) => assert!(bytes.len() <= 125),
            WebSocketEvent::Close(_) => {}
        }
    }
    extensions(sent);
    written(sent);
});

fn read(sent: &[u8], size: usize, deflates: bool) -> (Vec<WebSocketEvent>, Option<String>) {
    let (mut reader, mut input) = (WebSocketReader::new(LIMITS, deflates), BytesMut::new());
    let mut events = Vec::new();
    for piece in sent.chunks(size.max(1)) {
        input.extend_from_slice(piece);
        loop {
            match reader.next(&mut input) {
                Ok(None) => break,
                Ok(Some(event)) => events.push(event),
                Err(error) => return (events, Some(error.to_string())),
            }
        }
    }
    (events, None)
}

fn extensions(sent: &[u8]) {
    let Ok(offer) = HeaderValue::from_bytes(sent) else { return };
    if let Some(accepted) = MessageDeflate::negotiate([&offer].into_iter()) {
        assert!((9..=15).contains(&accepted.window_bits()));
    }
}

/// A message of the server, masked as a client does.
fn written(payload: &[u8]) {
    let offer = HeaderValue::from_static("permessage-deflate");
    let payload = payload.repeat(20);
    let mut bytes = Vec::new();
    WebSocketWriter::new(MessageDeflate::negotiate([&offer].into_iter())).message(Opcode::Binary, &payload, &mut bytes);
    let (header, length) = frame::FrameHeader::decode(&bytes).expect("a header");
    let (mut masked, mut content) = (Vec::new(), bytes.split_off(length));
    frame::FrameHeader { mask: Some(*b"mask"), ..header }.encode(&mut masked);
    frame::mask(&mut content, *b"mask", 0);
    masked.extend(content);
    let limits = WebSocketLimits { message: payload.len(), frame: usize::MAX };
    let event = WebSocketReader::new(limits, true).next(&mut BytesMut::from(&masked[..]));
    // Compressed in one piece, a message that is as long as the limit is not longer than it on the wire.
    assert_eq!(event, Ok(Some(WebSocketEvent::Binary(Bytes::from(payload)))));
}
