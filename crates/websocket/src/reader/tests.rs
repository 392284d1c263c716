//! Frames as clients send them, and frames that no client may send.

use proptest::prelude::*;

use super::*;
use crate::extension::MessageDeflate;
use crate::writer::WebSocketWriter;

const LIMITS: WebSocketLimits = WebSocketLimits { message: 1000, frame: 500 };

/// A masked frame. `first` is its first byte.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let (mut frame, mut payload, key) = (Vec::new(), payload.to_vec(), *b"\x01\xf2\x83\x44");
    let header = FrameHeader {
        is_last: first & 0x80 != 0,
        reserved: first >> 4 & 7,
        opcode: first & 15,
        mask: Some(key),
        length: payload.len() as u64,
        is_overlong: false,
    };
    header.encode(&mut frame);
    frame::mask(&mut payload, key, 0);
    frame.extend(payload);
    frame
}

/// The events of bytes that arrive in pieces of `size`, and the error that ends them.
fn events(bytes: &[u8], size: usize) -> (Vec<WebSocketEvent>, Option<WebSocketError>) {
    let mut reader = WebSocketReader::new(LIMITS, true);
    let (mut input, mut events) = (BytesMut::new(), Vec::new());
    for piece in bytes.chunks(size) {
        input.extend_from_slice(piece);
        loop {
            match reader.next(&mut input) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Some(error)),
            }
        }
    }
    (events, None)
}

fn text(text: &'static str) -> WebSocketEvent {
    WebSocketEvent::Text(Bytes::from_static(text.as_bytes()))
}

/// The payload of a compressed message, from a frame that the server's own writer makes of it.
fn compressed(payload: &[u8]) -> Vec<u8> {
    let deflate = MessageDeflate::negotiate([&http::HeaderValue::from_static("permessage-deflate")].into_iter());
    let mut frame = Vec::new();
    WebSocketWriter::new(deflate).message(Opcode::Binary, payload, &mut frame);
    let (header, length) = FrameHeader::decode(&frame).expect("a header");
    assert_eq!((header.reserved, header.length as usize), (COMPRESSED, frame.len() - length));
    frame.split_off(length)
}

#[test]
fn messages_are_read_whatever_the_pieces() {
    let bytes = [
        masked(0x81, "grüß".as_bytes()),
        masked(0x01, &"ü".as_bytes()[..1]),
        masked(0x89, b"are you there"),
        masked(0x00, &"ü".as_bytes()[1..]),
        masked(0x80, b""),
        masked(0x82, b"\xff\x00"),
        masked(0x81, b""),
        // The example of RFC 7692, section 7.2.3.1, whole and in two frames.
        masked(0xc1, b"\xf2\x48\xcd\xc9\xc9\x07\x00"),
        masked(0x41, b"\xf2\x48\xcd"),
        masked(0x80, b"\xc9\xc9\x07\x00"),
        // A final block (section 7.2.3.4).
        masked(0xc1, b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00"),
        masked(0x8a, b""),
        masked(0x88, b"\x03\xe8bye"),
        masked(0x81, b"ignored"),
    ]
    .concat();
    let expected = [
        text("grüß"),
        WebSocketEvent::Ping(Bytes::from_static(b"are you there")),
        text("ü"),
        WebSocketEvent::Binary(Bytes::from_static(b"\xff\x00")),
        text(""),
        text("Hello"),
        text("Hello"),
        text("Hello"),
        WebSocketEvent::Pong(Bytes::new()),
        WebSocketEvent::Close(Some(CloseReason { code: 1000, reason: "bye".to_owned() })),
    ];
    for size in [1, 2, 3, 5, 7, bytes.len()] {
        assert_eq!(events(&bytes, size), (expected.to_vec(), None), "{size}");
    }
}

#[test]
fn frames_that_no_client_may_send_are_errors() {
    let overlong = [&b"\x82\xfe\x00\x05"[..], b"keyshello"].concat();
    for (bytes, error, code) in [
        (b"\x81\x02hi".to_vec(), WebSocketError::Unmasked, 1002),
        (masked(0xa1, b"x"), WebSocketError::Reserved(2), 1002),
        (masked(0xc9, b"x"), WebSocketError::Reserved(4), 1002),
        ([masked(0x01, b"x"), masked(0xc0, b"x")].concat(), WebSocketError::Reserved(4), 1002),
        (masked(0x83, b"x"), WebSocketError::Opcode(3), 1002),
        (masked(0x8b, b"x"), WebSocketError::Opcode(11), 1002),
        (overlong, WebSocketError::Length, 1002),
        (b"\x82\xff\x80\0\0\0\0\0\0\0keys".to_vec(), WebSocketError::Length, 1002),
        (masked(0x89, &[b'x'; 126]), WebSocketError::Control, 1002),
        (masked(0x09, b"x"), WebSocketError::Control, 1002),
        (masked(0x80, b"x"), WebSocketError::Continuation, 1002),
        ([masked(0x01, b"x"), masked(0x81, b"x")].concat(), WebSocketError::Nested, 1002),
        (masked(0x88, b"x"), WebSocketError::CloseLength, 1002),
        (masked(0x88, b"\x03\xed"), WebSocketError::CloseCode(1005), 1002),
        (masked(0x88, b"\x03\xe8\xff"), WebSocketError::Utf8, 1007),
        (masked(0x81, b"\xff"), WebSocketError::Utf8, 1007),
        (masked(0x81, b"\xe2\x82"), WebSocketError::Utf8, 1007),
        (masked(0xc2, b"\x07"), WebSocketError::Compressed, 1007),
        (masked(0x82, &[b'x'; 501]), WebSocketError::TooBig, 1009),
        (
            [masked(0x02, &[b'x'; 500]), masked(0x00, &[b'x'; 500]), masked(0x80, b"x")].concat(),
            WebSocketError::TooBig,
            1009,
        ),
    ] {
        for size in [1, bytes.len()] {
            assert_eq!(events(&bytes, size), (Vec::new(), Some(error)), "{bytes:?}");
        }
        assert_eq!(error.close_code(), code, "{error:?}");
    }
}

#[test]
fn an_invalid_text_fails_before_its_frame_is_complete() {
    let frame = masked(0x81, b"ab\xffcd");
    assert_eq!(events(&frame[..frame.len() - 2], 99), (Vec::new(), Some(WebSocketError::Utf8)));
}

#[test]
fn a_frame_above_the_limit_fails_with_its_header() {
    assert_eq!(events(b"\x82\xff\0\0\0\x01\0\0\0\0keys", 99), (Vec::new(), Some(WebSocketError::TooBig)));
}

#[test]
fn a_compressed_message_above_the_limit_is_not_decompressed() {
    let mut reader = WebSocketReader::new(WebSocketLimits { message: 50_000, frame: 50_000 }, true);
    let mut input = BytesMut::from(&masked(0xc2, &compressed(&vec![b'x'; 4 << 20]))[..]);
    assert!(input.len() < 50_000);
    assert_eq!(reader.next(&mut input), Err(WebSocketError::TooBig));
}

#[test]
fn a_connection_without_compression_has_no_compressed_messages() {
    let mut reader = WebSocketReader::new(LIMITS, false);
    let mut input = BytesMut::from(&masked(0xc1, b"\xf2\x48\xcd\xc9\xc9\x07\x00")[..]);
    assert_eq!(reader.next(&mut input), Err(WebSocketError::Reserved(4)));
}

proptest! {
    #[test]
    fn pieces_do_not_matter(frames in proptest::collection::vec((any::<u8>(), "[a-zäß]{0,40}"), 0..6), size in 1..20_usize) {
        let bytes = frames.iter().flat_map(|(first, text)| masked(*first, text.as_bytes())).collect::<Vec<_>>();
        prop_assert_eq!(events(&bytes, size), events(&bytes, bytes.len().max(1)));
    }

    // The writer compresses messages from 512 bytes on.
    #[test]
    fn a_compressed_message_is_read_as_it_was(seed in "[a-c]{512,600}", times in 1..300_usize, size in 1..5000_usize) {
        let message = seed.repeat(times);
        let limits = WebSocketLimits { message: 1 << 20, frame: 1 << 20 };
        let mut reader = WebSocketReader::new(limits, true);
        let (mut input, mut found) = (BytesMut::new(), None);
        for piece in masked(0xc1, &compressed(message.as_bytes())).chunks(size) {
            input.extend_from_slice(piece);
            found = reader.next(&mut input).expect("valid");
        }
        prop_assert_eq!(found, Some(WebSocketEvent::Text(message.into())));
    }
}

/// Found by the fuzz target: a text that is no UTF-8, and then data that are not compressed.
#[test]
fn the_error_of_a_message_does_not_depend_on_the_pieces() {
    let bytes = b"\xc1\xf3\xc1\x87\xdc\xfd\xfb\xfc\xfb\x0c\x8d\x92es\x05\x03\xc8\x05iiii\0\0i\0 i";
    let (none, error) = events(bytes, bytes.len());
    assert!(none.is_empty() && error.is_some());
    for size in 1..bytes.len() {
        assert_eq!(events(bytes, size), (Vec::new(), error), "{size}");
    }
}
