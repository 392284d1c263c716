//! Checks a frame once, and reads it in place.

use super::{FIELDS, FIXED, Field, Flags, HEADERS_AT, MAGIC};
use crate::Malformed;

/// A frame whose offsets were all checked once; reading it cannot fail afterwards.
#[derive(Debug, Default)]
pub struct Frame(Vec<u8>);

impl Frame {
    /// Checks `bytes` and takes ownership of them.
    pub fn parse(bytes: Vec<u8>) -> Result<Frame, Malformed> {
        let frame = Frame(bytes);
        let length = frame.0.len();
        if length < HEADERS_AT {
            return Err(Malformed("frame shorter than its header"));
        }
        if frame.u32(0) != MAGIC {
            return Err(Malformed("frame without its magic number"));
        }
        if frame.u32(4) as usize != length {
            return Err(Malformed("frame length differs from what arrived"));
        }
        let table_end = frame.sections_at() + frame.section_count() * 2;
        if table_end > length {
            return Err(Malformed("header table larger than the frame"));
        }
        let slots = (0..FIELDS).map(|i| FIXED + i * 8);
        let header_slots = (0..frame.header_count() * 2).map(|i| HEADERS_AT + i * 8);
        for slot in slots.chain(header_slots) {
            let end = frame.u32(slot) as usize + frame.u32(slot + 4) as usize;
            if end > length {
                return Err(Malformed("field outside the frame"));
            }
        }
        let inline_body = !frame.flags().has(Flags::BODY_IN_FD);
        if inline_body && frame.body_length() > (length - table_end) as u64 {
            return Err(Malformed("inline body longer than the frame"));
        }
        if frame.script_length().is_some_and(|n| n > frame.field(Field::Path).len()) {
            return Err(Malformed("script name longer than the path"));
        }
        Ok(frame)
    }

    /// Returns the buffer, to be reused for the next frame.
    pub fn into_buffer(self) -> Vec<u8> {
        self.0
    }

    /// One check of the length for all bytes: a check for each takes three times the instructions.
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[at..at + N]);
        bytes
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.bytes(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }

    fn slice(&self, slot: usize) -> &[u8] {
        let at = self.u32(slot) as usize;
        &self.0[at..at + self.u32(slot + 4) as usize]
    }

    /// See [`Request::id`](super::Request::id).
    pub fn id(&self) -> u64 {
        self.u64(8)
    }

    /// See [`Request::logged_as`](super::Request::logged_as).
    pub fn logged_as(&self) -> u64 {
        self.u64(52)
    }

    /// See [`Request::received`](super::Request::received).
    pub fn received(&self) -> u64 {
        self.u64(16)
    }

    /// See [`Request::body_length`](super::Request::body_length).
    pub fn body_length(&self) -> u64 {
        self.u64(24)
    }

    /// See [`Flags`].
    pub fn flags(&self) -> Flags {
        Flags(self.u16(32))
    }

    /// See [`Request::remote_port`](super::Request::remote_port).
    pub fn remote_port(&self) -> u16 {
        self.u16(34)
    }

    /// See [`Request::server_port`](super::Request::server_port).
    pub fn server_port(&self) -> u16 {
        self.u16(36)
    }

    /// See [`Request::local_port`](super::Request::local_port).
    pub fn local_port(&self) -> u16 {
        self.u16(48)
    }

    /// See [`Request::error_status`](super::Request::error_status); `None` for a request that makes no error page.
    pub fn error_status(&self) -> Option<u16> {
        Some(self.u16(50)).filter(|status| (400..600).contains(status))
    }

    /// See [`Request::host`](super::Request::host).
    pub fn host(&self) -> u16 {
        self.u16(38)
    }

    fn section_count(&self) -> usize {
        self.u16(40) as usize
    }

    fn header_count(&self) -> usize {
        self.u16(42) as usize
    }

    /// See [`Request::script_length`](super::Request::script_length).
    pub fn script_length(&self) -> Option<usize> {
        match self.u32(44) {
            u32::MAX => None,
            n => Some(n as usize),
        }
    }

    /// The bytes of one field.
    pub fn field(&self, field: Field) -> &[u8] {
        self.slice(FIXED + field as usize * 8)
    }

    /// Names (lower case) and values, in the order the client sent them.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.header_count()).map(|i| {
            let slot = HEADERS_AT + i * 16;
            (self.slice(slot), self.slice(slot + 8))
        })
    }

    /// The first header of that name, in lower case.
    pub fn header(&self, name: &[u8]) -> Option<&[u8]> {
        self.headers().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    fn sections_at(&self) -> usize {
        HEADERS_AT + self.header_count() * 16
    }

    /// See [`Request::sections`](super::Request::sections).
    pub fn sections(&self) -> impl Iterator<Item = u16> {
        let at = self.sections_at();
        (0..self.section_count()).map(move |i| self.u16(at + i * 2))
    }

    /// The inline body; empty when it came in a descriptor.
    pub fn body(&self) -> &[u8] {
        if self.flags().has(Flags::BODY_IN_FD) {
            return &[];
        }
        &self.0[self.0.len() - self.body_length() as usize..]
    }
}
