//! Where frames begin and end in the bytes of one direction. Of payloads only the first bytes are looked at; the rest is h2's.

/// HTTP/2's preface has 24 bytes.
const PREFACE: usize = 24;
const HEAD: usize = 9;
/// As much of a payload as is looked at.
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

/// What a frame says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub stream: u32,
    /// Of the payload.
    pub length: usize,
    flags: u8,
    start: [u8; START],
}

/// A piece of a frame that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub frame: Frame,
    /// With the frame's head.
    pub bytes: usize,
    /// The frame's first.
    pub begins: bool,
    /// The frame's last.
    pub ends: bool,
}

/// Where in the bytes we are.
#[derive(Debug)]
pub struct Frames {
    /// Bytes that belong to no frame.
    skip: usize,
    /// The head and the start of the payload, as far as they have come.
    seen: Vec<u8>,
    /// The frame that is passing, and how much of it is still to come.
    passing: Option<(Frame, usize)>,
}

impl Frame {
    /// Of a head and the start of a payload; `None`: there is more to come.
    fn of(seen: &[u8]) -> Option<Frame> {
        let ([high, mid, low, kind, flags, stream @ ..], start) = seen.split_first_chunk::<HEAD>()?;
        let length = u32::from_be_bytes([0, *high, *mid, *low]) as usize;
        if start.len() < length.min(START) {
            return None;
        }
        let mut padded = [0; START];
        padded.iter_mut().zip(start).for_each(|(to, from)| *to = *from);
        let stream = u32::from_be_bytes(*stream) & 0x7fff_ffff;
        Some(Frame { kind: *kind, stream, length, flags: *flags, start: padded })
    }

    /// The payload's first four bytes as a number: a window's increment, a reset's reason.
    pub fn number(&self) -> u32 {
        u32::from_be_bytes(self.start)
    }

    /// Whether it is DATA with something in it.
    pub fn carries_data(&self) -> bool {
        let padding = if self.flags & PADDED == 0 { 0 } else { 1 + usize::from(self.start[0]) };
        self.kind == DATA && self.length > padding
    }

    /// Whether it belongs to a message.
    pub fn is_of_message(&self) -> bool {
        matches!(self.kind, DATA | HEADERS | CONTINUATION)
    }

    /// Whether its sender sends nothing more on its stream.
    pub fn ends_stream(&self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }

    /// Whether no part of a head follows in a CONTINUATION.
    pub fn ends_head(&self) -> bool {
        self.kind == DATA || self.flags & END_HEADERS != 0
    }
}

impl Frames {
    /// What a client sends.
    pub fn of_client() -> Frames {
        Frames { skip: PREFACE, ..Frames::of_server() }
    }

    /// What we send.
    pub fn of_server() -> Frames {
        Frames { skip: 0, seen: Vec::with_capacity(HEAD + START), passing: None }
    }

    /// `bytes` have passed; `each` hears of all the pieces of frames in them.
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

    fn go_on(&mut self, frame: Frame, left: usize, there: usize, each: &mut impl FnMut(Piece)) -> usize {
        let bytes = left.min(there);
        self.passing = (left > bytes).then_some((frame, left - bytes));
        each(Piece { frame, bytes, begins: false, ends: left == bytes });
        bytes
    }

    /// Takes a byte at a time: there are few before a frame is known.
    fn begin(&mut self, bytes: &[u8], each: &mut impl FnMut(Piece)) -> usize {
        for (taken, byte) in (1..).zip(bytes) {
            self.seen.push(*byte);
            if let Some(frame) = Frame::of(&self.seen) {
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
