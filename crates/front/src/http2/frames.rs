//! Finds frame boundaries in the bytes of one direction. Only the first bytes of payloads are read; h2 handles the
//! rest.

/// Length of the client's preface (RFC 9113, section 3.4).
const PREFACE: usize = 24;
const HEAD: usize = 9;
/// Number of payload bytes that are read.
const START: usize = 4;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const PUSH_PROMISE: u8 = 5;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

/// Header of a frame, and the start of its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Frame {
    pub kind: u8,
    pub stream: u32,
    /// Length of the payload.
    pub length: usize,
    flags: u8,
    start: [u8; START],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub frame: Http2Frame,
    /// Bytes of the piece, including the frame's header.
    pub bytes: usize,
    /// Whether this is the first piece of the frame.
    pub begins: bool,
    /// Whether this is the last piece of the frame.
    pub ends: bool,
}

/// Position in the byte stream.
#[derive(Debug)]
pub struct Frames {
    /// Bytes of the preface still to skip.
    skip: usize,
    /// Header and start of the payload of the next frame, as far as received.
    seen: Vec<u8>,
    /// The current frame, and the number of its remaining bytes.
    passing: Option<(Http2Frame, usize)>,
}

impl Http2Frame {
    /// Parses a header and the beginning of the payload; `None`: more bytes are needed.
    fn of(seen: &[u8]) -> Option<Http2Frame> {
        let ([high, mid, low, kind, flags, stream @ ..], start) = seen.split_first_chunk::<HEAD>()?;
        let length = u32::from_be_bytes([0, *high, *mid, *low]) as usize;
        if start.len() < length.min(START) {
            return None;
        }
        let mut padded = [0; START];
        padded.iter_mut().zip(start).for_each(|(to, from)| *to = *from);
        let stream = u32::from_be_bytes(*stream) & 0x7fff_ffff;
        Some(Http2Frame { kind: *kind, stream, length, flags: *flags, start: padded })
    }

    /// The payload's first four bytes as a number: increment of a WINDOW_UPDATE, or code of a RST_STREAM.
    pub fn number(&self) -> u32 {
        u32::from_be_bytes(self.start)
    }

    /// Whether the frame is DATA with content beside padding.
    pub fn carries_data(&self) -> bool {
        let padding = if self.flags & PADDED == 0 { 0 } else { 1 + usize::from(self.start[0]) };
        self.kind == DATA && self.length > padding
    }

    /// Whether the frame carries a part of a request or response.
    pub fn is_of_message(&self) -> bool {
        matches!(self.kind, DATA | HEADERS | CONTINUATION)
    }

    /// Whether the frame ends its stream in this direction.
    pub fn ends_stream(&self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }

    /// Whether no CONTINUATION follows.
    pub fn ends_head(&self) -> bool {
        self.kind == DATA || self.flags & END_HEADERS != 0
    }
}

impl Frames {
    /// Position at the begin of a client's bytes, which start with the preface.
    pub fn of_client() -> Frames {
        Frames { skip: PREFACE, ..Frames::of_server() }
    }

    /// Position at the begin of the server's bytes.
    pub fn of_server() -> Frames {
        Frames { skip: 0, seen: Vec::with_capacity(HEAD + START), passing: None }
    }

    /// Moves past `bytes`, and calls `each` for every piece of a frame.
    pub fn pass(&mut self, mut bytes: &[u8], mut each: impl FnMut(Piece)) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        bytes = bytes.get(skipped..).unwrap_or_default();
        while !bytes.is_empty() {
            let taken = match self.passing {
                Some((frame, left)) => self.go_on(frame, left, bytes.len(), &mut each),
                None => self.begin(bytes, &mut each),
            };
            bytes = bytes.get(taken..).unwrap_or_default();
        }
    }

    fn go_on(&mut self, frame: Http2Frame, left: usize, there: usize, each: &mut impl FnMut(Piece)) -> usize {
        let bytes = left.min(there);
        self.passing = (left > bytes).then_some((frame, left - bytes));
        each(Piece { frame, bytes, begins: false, ends: left == bytes });
        bytes
    }

    /// Reads byte by byte until the header and the start of the payload are complete.
    fn begin(&mut self, bytes: &[u8], each: &mut impl FnMut(Piece)) -> usize {
        for (taken, byte) in (1..).zip(bytes) {
            self.seen.push(*byte);
            if let Some(frame) = Http2Frame::of(&self.seen) {
                let left = HEAD + frame.length - self.seen.len();
                self.passing = (left > 0).then_some((frame, left));
                each(Piece { frame, bytes: self.seen.len(), begins: true, ends: left == 0 });
                self.seen.clear();
                return taken;
            }
        }
        bytes.len()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A frame on stream 1.
    pub fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    fn pieces(bytes: &[u8], cut: usize) -> Vec<Piece> {
        let mut frames = Frames::of_client();
        let mut found = Vec::new();
        let bytes = [&[b'P'; PREFACE], bytes].concat();
        bytes.chunks(cut).for_each(|part| frames.pass(part, |piece| found.push(piece)));
        found
    }

    #[test]
    fn frames_are_found_however_their_bytes_are_cut() {
        let bytes =
            [frame(HEADERS, END_HEADERS, b"head"), frame(DATA, END_STREAM, &[7; 300]), frame(DATA, 0, b"")].concat();
        for cut in [1, 2, 7, 12, 13, 14, 1000] {
            let found = pieces(&bytes, cut);
            assert_eq!(found.iter().map(|piece| piece.bytes).sum::<usize>(), bytes.len(), "{cut}");
            let lengths: Vec<_> = found.iter().filter(|piece| piece.begins).map(|piece| piece.frame.length).collect();
            assert_eq!(lengths, [4, 300, 0], "{cut}");
            assert_eq!(found.iter().filter(|piece| piece.ends).count(), 3, "{cut}");
        }
    }

    #[test]
    fn data_that_is_all_padding_carries_nothing() {
        let carries = |flags, payload: &[u8]| pieces(&frame(DATA, flags, payload), 100)[0].frame.carries_data();
        assert!(carries(0, b"x") && carries(PADDED, &[1, b'x', 0]));
        assert!(!carries(0, b"") && !carries(PADDED, &[0]) && !carries(PADDED, &[3, 0, 0, 0]));
    }
}
