//! Reads the records of a response. Content is passed on as it arrives, so that no record is buffered.

use std::fmt::{self, Display};

use bytes::{Buf, Bytes, BytesMut};

use crate::record::{HEADER, REQUEST_ID, RecordHeader, RecordType, VERSION};

/// Maximum number of consecutive empty records: an application that sends them forever makes no progress.
const MAX_IDLE: u32 = 1000;
/// `FCGI_REQUEST_COMPLETE`
const COMPLETE: u8 = 0;

/// An application's output, without the framing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FastcgiEvent {
    /// A piece of the CGI response.
    Stdout(Bytes),
    /// A piece for the error log.
    Stderr(Bytes),
    /// The end; the exit status that a CGI program would have had.
    End(u32),
}

/// Why bytes are no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolError {
    /// A record of another version of the protocol, or of another protocol.
    Version(u8),
    /// A record of another request.
    Foreign(u16),
    /// A record of a type that no application sends.
    Type(u8),
    /// The record that ends a request is too short.
    ShortEnd(u16),
    /// Output behind the record that ends the output.
    AfterEnd,
    /// The application rejected the request: `FCGI_CANT_MPX_CONN`, `FCGI_OVERLOADED` or `FCGI_UNKNOWN_ROLE`.
    Rejected(u8),
    /// Too many records without content.
    Idle,
}

#[derive(Debug)]
enum State {
    Header,
    Content {
        kind: Option<RecordType>,
        left: usize,
        padding: usize,
    },
    /// Awaits the content of the record that ends the request.
    End {
        content: usize,
        padding: usize,
    },
    Padding(usize),
    /// The request has ended; the status, if padding is still to come.
    Over,
}

/// Parses the records of one request; pieces may end anywhere.
#[derive(Debug)]
pub struct ResponseReader {
    state: State,
    stdout_ended: bool,
    idle: u32,
    ended: Option<u32>,
}

impl Default for ResponseReader {
    fn default() -> ResponseReader {
        ResponseReader { state: State::Header, stdout_ended: false, idle: 0, ended: None }
    }
}

impl ResponseReader {
    /// Takes the next event from the beginning of `input`. `None`: more bytes are needed. Behind [`FastcgiEvent::End`],
    /// and its padding, nothing is taken.
    ///
    /// # Errors
    /// For bytes that are no response to the request; the connection is then of no use.
    pub fn next(&mut self, input: &mut BytesMut) -> Result<Option<FastcgiEvent>, ProtocolError> {
        loop {
            let event = match self.state {
                State::Header => {
                    let Some(header) = input.first_chunk::<HEADER>().copied() else { return Ok(None) };
                    input.advance(HEADER);
                    self.begin(RecordHeader::decode(header))?
                }
                State::Content { kind, left, padding } => {
                    if left > 0 && input.is_empty() {
                        return Ok(None);
                    }
                    self.content(kind, left, padding, input)
                }
                State::End { content, padding } => match self.end(content, padding, input)? {
                    true => None,
                    false => return Ok(None),
                },
                State::Padding(left) => {
                    let some = left.min(input.len());
                    input.advance(some);
                    if some < left {
                        self.state = State::Padding(left - some);
                        return Ok(None);
                    }
                    self.state = if self.ended.is_some() { State::Over } else { State::Header };
                    self.ended.map(FastcgiEvent::End)
                }
                State::Over => return Ok(None),
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    fn begin(&mut self, header: RecordHeader) -> Result<Option<FastcgiEvent>, ProtocolError> {
        let RecordHeader { version, kind, request, content, padding } = header;
        if version != VERSION {
            return Err(ProtocolError::Version(version));
        }
        let kind = match request {
            // A management record; none was asked for, so its content is ignored.
            0 => None,
            REQUEST_ID => Some(output(kind)?),
            other => return Err(ProtocolError::Foreign(other)),
        };
        let (left, padding) = (usize::from(content), usize::from(padding));
        match kind {
            Some(RecordType::EndRequest) if content < 8 => return Err(ProtocolError::ShortEnd(content)),
            Some(RecordType::EndRequest) => {
                self.state = State::End { content: left, padding };
                return Ok(None);
            }
            Some(RecordType::Stdout) if self.stdout_ended && content > 0 => return Err(ProtocolError::AfterEnd),
            Some(RecordType::Stdout) if content == 0 => self.stdout_ended = true,
            _ => {}
        }
        self.idle = if kind.is_some() && content > 0 { 0 } else { self.idle + 1 };
        if self.idle > MAX_IDLE {
            return Err(ProtocolError::Idle);
        }
        self.state = State::Content { kind, left, padding };
        Ok(None)
    }

    fn content(
        &mut self,
        kind: Option<RecordType>,
        left: usize,
        padding: usize,
        input: &mut BytesMut,
    ) -> Option<FastcgiEvent> {
        let piece = input.split_to(left.min(input.len())).freeze();
        let left = left - piece.len();
        self.state = if left == 0 { State::Padding(padding) } else { State::Content { kind, left, padding } };
        match kind {
            _ if piece.is_empty() => None,
            Some(RecordType::Stdout) => Some(FastcgiEvent::Stdout(piece)),
            Some(RecordType::Stderr) => Some(FastcgiEvent::Stderr(piece)),
            _ => None,
        }
    }

    /// Reads the end of the request; false if more bytes are needed.
    fn end(&mut self, content: usize, padding: usize, input: &mut BytesMut) -> Result<bool, ProtocolError> {
        let Some([a, b, c, d, status, ..]) = input.first_chunk::<8>().copied() else { return Ok(false) };
        if status != COMPLETE {
            return Err(ProtocolError::Rejected(status));
        }
        input.advance(8);
        self.ended = Some(u32::from_be_bytes([a, b, c, d]));
        self.state = State::Padding(content.saturating_sub(8) + padding);
        Ok(true)
    }
}

fn output(kind: u8) -> Result<RecordType, ProtocolError> {
    [RecordType::EndRequest, RecordType::Stdout, RecordType::Stderr]
        .into_iter()
        .find(|known| *known as u8 == kind)
        .ok_or(ProtocolError::Type(kind))
}

impl Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtocolError::Version(version) => {
                write!(f, "a record has the version {version} and not 1: the backend speaks another protocol")
            }
            ProtocolError::Foreign(id) => write!(f, "a record belongs to request {id}, but 1 was sent"),
            ProtocolError::Type(kind) => write!(f, "a record has the type {kind}, which no application sends"),
            ProtocolError::ShortEnd(length) => write!(f, "FCGI_END_REQUEST has {length} bytes instead of 8"),
            ProtocolError::AfterEnd => f.write_str("an FCGI_STDOUT record follows the end of FCGI_STDOUT"),
            ProtocolError::Rejected(1) => f.write_str("the application rejected the request: FCGI_CANT_MPX_CONN"),
            ProtocolError::Rejected(2) => f.write_str("the application rejected the request: FCGI_OVERLOADED"),
            ProtocolError::Rejected(3) => f.write_str("the application rejected the request: FCGI_UNKNOWN_ROLE"),
            ProtocolError::Rejected(status) => {
                write!(f, "the application rejected the request with the unknown status {status}")
            }
            ProtocolError::Idle => write!(f, "the application sent more than {MAX_IDLE} records without content"),
        }
    }
}

impl std::error::Error for ProtocolError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(kind: u8, id: u16, content: &[u8], padding: u8) -> Vec<u8> {
        let length = u16::try_from(content.len()).expect("a short record");
        let mut record = vec![1, kind];
        record.extend(id.to_be_bytes());
        record.extend(length.to_be_bytes());
        record.extend([padding, 0]);
        record.extend(content);
        record.extend(vec![b'P'; usize::from(padding)]);
        record
    }

    /// The events of these bytes, which arrive in pieces of `size`; pieces of one stream are joined.
    fn events(bytes: &[u8], size: usize) -> Result<Vec<FastcgiEvent>, ProtocolError> {
        let (mut reader, mut input, mut events) = (ResponseReader::default(), BytesMut::new(), Vec::new());
        for piece in bytes.chunks(size) {
            input.extend_from_slice(piece);
            while let Some(event) = reader.next(&mut input)? {
                match (events.last_mut(), event) {
                    (Some(FastcgiEvent::Stdout(before)), FastcgiEvent::Stdout(more)) => {
                        *before = [&before[..], &more].concat().into()
                    }
                    (Some(FastcgiEvent::Stderr(before)), FastcgiEvent::Stderr(more)) => {
                        *before = [&before[..], &more].concat().into()
                    }
                    (_, event) => events.push(event),
                }
            }
        }
        Ok(events)
    }

    #[test]
    fn a_response_is_read_whatever_the_pieces() {
        let bytes = [
            record(10, 0, b"ignored", 1),
            record(6, 1, b"one ", 4),
            record(6, 1, b"two", 0),
            record(7, 1, b"oops", 255),
            record(7, 1, b"", 0),
            record(6, 1, b"", 8),
            record(3, 1, &[0, 0, 1, 2, 0, 0, 0, 0], 3),
        ]
        .concat();
        let expected = [
            FastcgiEvent::Stdout(Bytes::from_static(b"one two")),
            FastcgiEvent::Stderr(Bytes::from_static(b"oops")),
            FastcgiEvent::End(258),
        ];
        for size in [1, 2, 7, 8, 9, bytes.len()] {
            assert_eq!(events(&bytes, size).as_deref(), Ok(&expected[..]), "{size}");
        }
    }

    #[test]
    fn records_that_are_no_response_are_an_error() {
        for (bytes, error) in [
            (b"HTTP/1.1 200 OK".to_vec(), ProtocolError::Version(b'H')),
            (record(6, 2, b"x", 0), ProtocolError::Foreign(2)),
            (record(9, 1, b"x", 0), ProtocolError::Type(9)),
            (record(3, 1, b"x", 0), ProtocolError::ShortEnd(1)),
            (record(3, 1, &[0, 0, 0, 0, 2, 0, 0, 0], 0), ProtocolError::Rejected(2)),
            ([record(6, 1, b"", 0), record(6, 1, b"x", 0)].concat(), ProtocolError::AfterEnd),
            (record(6, 1, b"", 0).repeat(1001), ProtocolError::Idle),
            (record(10, 0, b"x", 0).repeat(1001), ProtocolError::Idle),
        ] {
            assert_eq!(events(&bytes, bytes.len()), Err(error));
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(bytes in proptest::collection::vec(0..8_u8, 0..200), size in 1..20_usize) {
            prop_assert_eq!(events(&bytes, size), events(&bytes, bytes.len().max(1)));
        }
    }
}
