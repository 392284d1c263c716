//! Frames for the client. A server masks none (RFC 6455, section 5.1).

use crate::close::CloseReason;
use crate::deflate;
use crate::extension::MessageDeflate;
use crate::frame::{COMPRESSED, FrameHeader, MAX_CONTROL_BYTES, Opcode};

/// A shorter message is sent as it is: to compress it costs more than it saves.
pub const MIN_DEFLATED_BYTES: usize = 512;

/// Writes messages and control frames.
#[derive(Debug, Clone, Default)]
pub struct WebSocketWriter {
    deflate: Option<MessageDeflate>,
}

impl WebSocketWriter {
    /// A writer for a connection with this compression.
    pub fn new(deflate: Option<MessageDeflate>) -> WebSocketWriter {
        WebSocketWriter { deflate }
    }

    /// Appends a message: [`Opcode::Text`] with UTF-8, or [`Opcode::Binary`].
    pub fn message(&self, opcode: Opcode, payload: &[u8], bytes: &mut Vec<u8>) {
        let parameters = self.deflate.as_ref().filter(|_| payload.len() >= MIN_DEFLATED_BYTES);
        match parameters.and_then(|parameters| deflate::deflated(payload, parameters)) {
            Some(compressed) => frame(opcode, COMPRESSED, &compressed, bytes),
            None => frame(opcode, 0, payload, bytes),
        }
    }

    /// Appends a part of a message, which is not compressed. Parts after the first are [`Opcode::Continuation`].
    pub fn part(&self, opcode: Opcode, is_last: bool, payload: &[u8], bytes: &mut Vec<u8>) {
        header(opcode, is_last, 0, payload.len()).encode(bytes);
        bytes.extend_from_slice(payload);
    }

    /// Appends a ping. Bytes of the payload beyond the 125th are left out.
    pub fn ping(&self, payload: &[u8], bytes: &mut Vec<u8>) {
        control(Opcode::Ping, payload, bytes);
    }

    /// Appends the answer to a ping with this payload.
    pub fn pong(&self, payload: &[u8], bytes: &mut Vec<u8>) {
        control(Opcode::Pong, payload, bytes);
    }

    /// Appends the last frame.
    pub fn close(&self, reason: Option<&CloseReason>, bytes: &mut Vec<u8>) {
        control(Opcode::Close, &reason.map(CloseReason::encode).unwrap_or_default(), bytes);
    }
}

fn control(opcode: Opcode, payload: &[u8], bytes: &mut Vec<u8>) {
    frame(opcode, 0, payload.get(..MAX_CONTROL_BYTES).unwrap_or(payload), bytes);
}

fn frame(opcode: Opcode, reserved: u8, payload: &[u8], bytes: &mut Vec<u8>) {
    header(opcode, true, reserved, payload.len()).encode(bytes);
    bytes.extend_from_slice(payload);
}

fn header(opcode: Opcode, is_last: bool, reserved: u8, length: usize) -> FrameHeader {
    FrameHeader { is_last, reserved, opcode: opcode as u8, mask: None, length: length as u64, is_overlong: false }
}
