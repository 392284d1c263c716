//! The frames between the front and an event worker that leaves the WebSocket protocol to the front: a byte for the
//! kind, the payload's length as four bytes, the payload.
//!
//! | kind | direction | payload |
//! |---|---|---|
//! | 1 | both | a message of UTF-8 |
//! | 2 | both | a message of bytes |
//! | 8 | both | a close frame: its code as two bytes and its reason, or nothing |
//! | 9 | to the worker | the connection has ended without the client's close frame: a code and why |
//! | 10 | from the worker | pings: their interval and the time for the pong in milliseconds, as four bytes each; 0 is none |
//! | 11, 12 | both | a ping and a pong; to the worker if it wants to know |

use std::time::Duration;

use bytes::{Buf, BytesMut};
use websocket::{CloseReason, Opcode, WebSocketWriter, codes};

/// Length of the kind and the length.
const HEADER: usize = 5;
/// A longer message of a worker is passed on in parts, without compression, so that it is never whole in memory.
const MAX_WHOLE_BYTES: usize = 64 << 10;
/// Maximum length of a payload that is no message.
const MAX_OTHER_BYTES: usize = 125;
/// How a connection ends.
const CLOSE: u8 = 8;
const DISCONNECTED: u8 = 9;
const KEEPALIVE: u8 = 10;
const PING: u8 = 11;
const PONG: u8 = 12;

/// What a worker has sent besides messages.
#[derive(Debug, PartialEq, Eq)]
pub enum WorkerFrame {
    /// The connection is to be closed.
    Close(CloseReason),
    /// Pings are to be sent at this interval, and answered within this time.
    Keepalive { interval: Option<Duration>, timeout: Option<Duration> },
}

/// A worker has sent something else than frames. What it was.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidFrame(pub &'static str);

/// Where messages for the client go.
pub struct ClientOutput<'a> {
    pub writer: &'a WebSocketWriter,
    pub output: &'a mut Vec<u8>,
    /// Number of bytes of `output` above which nothing is added.
    pub most: usize,
}

/// Reads the frames of a worker, and writes its messages for the client.
#[derive(Default)]
pub struct WorkerReader {
    /// The message of which a part was passed on, and the number of its missing bytes.
    passing: Option<(Opcode, usize)>,
}

impl WorkerReader {
    /// Passes on messages at the beginning of `input`, until something else comes, more bytes are needed, or the
    /// output has enough.
    ///
    /// # Errors
    /// If the bytes are no frames.
    pub fn next(&mut self, input: &mut BytesMut, into: ClientOutput<'_>) -> Result<Option<WorkerFrame>, InvalidFrame> {
        let ClientOutput { writer, output, most } = into;
        while output.len() <= most {
            if let Some((opcode, left)) = self.passing.take() {
                let piece = input.split_to(left.min(input.len()));
                if piece.is_empty() {
                    self.passing = Some((opcode, left));
                    return Ok(None);
                }
                let left = left - piece.len();
                writer.part(opcode, left == 0, &piece, output);
                self.passing = (left > 0).then_some((Opcode::Continuation, left));
                continue;
            }
            let Some([kind, length @ ..]) = input.first_chunk::<HEADER>().copied() else { return Ok(None) };
            let length = u32::from_be_bytes(length) as usize;
            let opcode = [Opcode::Text, Opcode::Binary].into_iter().find(|opcode| *opcode as u8 == kind);
            match opcode {
                Some(opcode) if length > MAX_WHOLE_BYTES => {
                    input.advance(HEADER);
                    self.passing = Some((opcode, length));
                }
                None if length > MAX_OTHER_BYTES => return Err(InvalidFrame("a frame has no known kind")),
                _ if input.len() < HEADER + length => return Ok(None),
                Some(opcode) => {
                    input.advance(HEADER);
                    writer.message(opcode, &input.split_to(length), output);
                }
                None => {
                    input.advance(HEADER);
                    let payload = input.split_to(length);
                    match kind {
                        PING => writer.ping(&payload, output),
                        PONG => writer.pong(&payload, output),
                        _ => return other(kind, &payload).map(Some),
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether a message is passed on in parts, and its last part is missing.
    pub fn is_amid(&self) -> bool {
        self.passing.is_some()
    }
}

fn other(kind: u8, payload: &[u8]) -> Result<WorkerFrame, InvalidFrame> {
    match (kind, payload) {
        (CLOSE, []) => Ok(WorkerFrame::Close(CloseReason { code: codes::NORMAL, reason: String::new() })),
        (CLOSE, _) => match CloseReason::decode(payload) {
            Ok(Some(reason)) => Ok(WorkerFrame::Close(reason)),
            _ => Err(InvalidFrame("a close frame has an invalid code or reason")),
        },
        (KEEPALIVE, [a, b, c, d, e, f, g, h]) => {
            let time = |bytes: [u8; 4]| {
                let time = Duration::from_millis(u32::from_be_bytes(bytes).into());
                (!time.is_zero()).then_some(time)
            };
            Ok(WorkerFrame::Keepalive { interval: time([*a, *b, *c, *d]), timeout: time([*e, *f, *g, *h]) })
        }
        _ => Err(InvalidFrame("a frame has no known kind")),
    }
}

/// Appends a message for the worker. Messages of clients are shorter than 4 GiB, because WebSocketMaxMessage is.
pub fn message(opcode: Opcode, payload: &[u8], output: &mut Vec<u8>) {
    frame(opcode as u8, payload, output);
}

/// Appends the client's close frame.
pub fn close(reason: Option<&CloseReason>, output: &mut Vec<u8>) {
    frame(CLOSE, &reason.map(CloseReason::encode).unwrap_or_default(), output);
}

/// Appends a ping of the client.
pub fn ping(payload: &[u8], output: &mut Vec<u8>) {
    frame(PING, payload, output);
}

/// Appends a pong of the client.
pub fn pong(payload: &[u8], output: &mut Vec<u8>) {
    frame(PONG, payload, output);
}

/// Appends the end of the connection without the client's close frame. `why` is one of PAGI's reasons.
pub fn disconnected(code: u16, why: &str, output: &mut Vec<u8>) {
    frame(DISCONNECTED, &[&code.to_be_bytes(), why.as_bytes()].concat(), output);
}

fn frame(kind: u8, payload: &[u8], output: &mut Vec<u8>) {
    output.push(kind);
    output.extend(u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes());
    output.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the client gets, and the last result, of bytes that arrive in pieces of `size`.
    fn read(bytes: &[u8], size: usize) -> (Vec<u8>, Vec<WorkerFrame>, Option<InvalidFrame>) {
        let (mut reader, mut input) = (WorkerReader::default(), BytesMut::new());
        let (writer, mut output, mut frames) = (WebSocketWriter::default(), Vec::new(), Vec::new());
        for piece in bytes.chunks(size) {
            input.extend_from_slice(piece);
            loop {
                match reader.next(&mut input, ClientOutput { writer: &writer, output: &mut output, most: usize::MAX }) {
                    Ok(Some(frame)) => frames.push(frame),
                    Ok(None) => break,
                    Err(error) => return (output, frames, Some(error)),
                }
            }
        }
        (output, frames, None)
    }

    fn sent(kind: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame(kind, payload, &mut bytes);
        bytes
    }

    #[test]
    fn frames_of_a_worker_are_read_whatever_the_pieces() {
        let bytes = [
            sent(1, b"text"),
            sent(10, &[0, 0, 0x75, 0x30, 0, 0, 0, 0]),
            sent(2, b""),
            sent(8, b"\x0b\xb8bye"),
            sent(8, b""),
            sent(11, b"there?"),
            sent(12, b""),
        ]
        .concat();
        let expected = [
            WorkerFrame::Keepalive { interval: Some(Duration::from_secs(30)), timeout: None },
            WorkerFrame::Close(CloseReason { code: 3000, reason: "bye".to_owned() }),
            WorkerFrame::Close(CloseReason { code: 1000, reason: String::new() }),
        ];
        for size in [1, 2, 5, 6, bytes.len()] {
            let (output, frames, error) = read(&bytes, size);
            assert_eq!(
                (&output[..], &frames[..], error),
                (&b"\x81\x04text\x82\x00\x89\x06there?\x8a\x00"[..], &expected[..], None)
            );
        }
    }

    #[test]
    fn a_long_message_is_passed_on_in_parts() {
        let message = vec![b'x'; MAX_WHOLE_BYTES + 10];
        let (output, _, error) = read(&sent(1, &message), MAX_WHOLE_BYTES + 8);
        assert_eq!(error, None);
        let second = output.len() - 9;
        assert_eq!(output[..2], [0x01, 127]);
        assert_eq!(output[second..], [0x80, 7, b'x', b'x', b'x', b'x', b'x', b'x', b'x']);
    }

    #[test]
    fn other_bytes_are_an_error() {
        for bytes in [
            sent(3, b""),
            sent(9, b""),
            sent(10, b"1234567"),
            sent(8, b"\x03"),
            sent(8, b"\x03\xed"),
            sent(8, b"\x03\xe8\xff"),
            b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
        ] {
            let (_, frames, error) = read(&bytes, bytes.len());
            assert!(frames.is_empty() && error.is_some(), "{bytes:?}");
        }
    }
}
