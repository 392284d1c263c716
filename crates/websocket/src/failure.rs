//! Violations of the protocol by the client, and the codes that the server closes with.

use std::fmt::{self, Display};

use crate::codes::{INVALID_PAYLOAD, PROTOCOL_ERROR, TOO_BIG};
use crate::frame::MAX_CONTROL_BYTES;

/// Why a connection has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebSocketError {
    /// A frame is not masked.
    Unmasked,
    /// Reserved bits are set that no extension uses.
    Reserved(u8),
    /// The opcode is reserved.
    Opcode(u8),
    /// A length is not written in its shortest form, or is above 2^63.
    Length,
    /// A control frame is divided or has more than 125 bytes.
    Control,
    /// A frame continues no message.
    Continuation,
    /// A message begins within another one.
    Nested,
    /// A close frame has a payload of one byte.
    CloseLength,
    /// A close frame has a code that must not be sent.
    CloseCode(u16),
    /// A text is no UTF-8.
    Utf8,
    /// Compressed data are invalid.
    Compressed,
    /// A frame or a message is longer than its limit.
    TooBig,
}

impl WebSocketError {
    /// The code of the close frame that the client gets.
    pub fn close_code(self) -> u16 {
        match self {
            WebSocketError::Utf8 | WebSocketError::Compressed => INVALID_PAYLOAD,
            WebSocketError::TooBig => TOO_BIG,
            _ => PROTOCOL_ERROR,
        }
    }
}

impl Display for WebSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WebSocketError::Unmasked => f.write_str("a frame is not masked"),
            WebSocketError::Reserved(bits) => write!(f, "reserved bits are set: {bits:03b}"),
            WebSocketError::Opcode(number) => write!(f, "a frame has the reserved opcode {number}"),
            WebSocketError::Length => f.write_str("a length is not in its shortest form"),
            WebSocketError::Control => {
                write!(f, "a control frame is divided or has more than {MAX_CONTROL_BYTES} bytes")
            }
            WebSocketError::Continuation => f.write_str("a frame continues no message"),
            WebSocketError::Nested => f.write_str("a message begins within another one"),
            WebSocketError::CloseLength => f.write_str("a close frame has a payload of one byte"),
            WebSocketError::CloseCode(code) => write!(f, "a close frame has the code {code}, which must not be sent"),
            WebSocketError::Utf8 => f.write_str("a text is no UTF-8"),
            WebSocketError::Compressed => f.write_str("compressed data are invalid"),
            WebSocketError::TooBig => f.write_str("a message is longer than its limit"),
        }
    }
}

impl std::error::Error for WebSocketError {}
