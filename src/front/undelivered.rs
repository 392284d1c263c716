//! Body that a worker has said and its client has not taken yet.

use std::collections::VecDeque;

use bytes::Bytes;

/// Above this the worker is no longer read.
const HIGH_WATER: usize = 256 * 1024;
/// Below this it is read again.
const LOW_WATER: usize = HIGH_WATER / 2;
/// What a piece takes beside its bytes: many small ones weigh more than they say.
const PIECE_COST: usize = 64;

/// See the module's text.
#[derive(Debug, Default)]
pub struct Undelivered {
    pieces: VecDeque<Bytes>,
    bytes: usize,
}

impl Undelivered {
    /// Another piece.
    pub fn push(&mut self, piece: &[u8]) {
        if !piece.is_empty() {
            self.bytes += piece.len();
            self.pieces.push_back(Bytes::copy_from_slice(piece));
        }
    }

    /// The oldest piece.
    pub fn pop(&mut self) -> Option<Bytes> {
        let piece = self.pieces.pop_front()?;
        self.bytes -= piece.len();
        Some(piece)
    }

    /// Nobody wants it any more.
    pub fn clear(&mut self) {
        *self = Undelivered::default();
    }

    /// How many pieces there are.
    pub fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// How many bytes they are together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the worker must wait for the client.
    pub fn is_full(&self) -> bool {
        self.weight() > HIGH_WATER
    }

    /// Whether it may go on.
    pub fn has_room(&self) -> bool {
        self.weight() < LOW_WATER
    }

    fn weight(&self) -> usize {
        self.bytes + self.pieces.len() * PIECE_COST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until_full(piece: &[u8]) -> Undelivered {
        let mut body = Undelivered::default();
        while !body.is_full() {
            body.push(piece);
        }
        body
    }

    #[test]
    fn small_pieces_weigh_more_than_their_bytes() {
        assert!(until_full(&[b'x'; 32 * 1024]).bytes() > HIGH_WATER - 1024);
        let dust = until_full(b"x");
        assert!(dust.pieces() < HIGH_WATER / PIECE_COST, "{}", dust.pieces());
    }

    #[test]
    fn what_is_taken_makes_room_and_arrives_in_order() {
        let mut body = until_full(&[b'x'; 1000]);
        body.push(b"");
        body.push(b"last");
        let mut last = Bytes::new();
        while let Some(piece) = body.pop() {
            last = piece;
        }
        assert!(body.has_room() && body.bytes() == 0 && body.pieces() == 0);
        assert_eq!(last, "last");
    }
}
