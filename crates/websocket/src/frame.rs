//! The header of a frame (RFC 6455, section 5.2).

/// Maximum number of bytes of a control frame's payload (section 5.5).
pub const MAX_CONTROL_BYTES: usize = 125;
/// The reserved bit of a compressed message (RFC 7692, section 6).
pub const COMPRESSED: u8 = 4;
/// Lengths up to this one stand in the header's second byte.
const MAX_SHORT: u64 = 125;
/// The second byte's value for a length of two bytes.
const TWO_BYTES: u8 = 126;
/// The second byte's value for a length of eight bytes.
const EIGHT_BYTES: u8 = 127;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// A further part of a message.
    Continuation = 0,
    /// The beginning of a message of UTF-8.
    Text = 1,
    /// The beginning of a message of bytes.
    Binary = 2,
    /// The last frame in its direction.
    Close = 8,
    /// To be answered with a pong.
    Ping = 9,
    /// The answer to a ping.
    Pong = 10,
}

impl Opcode {
    const ALL: [Opcode; 6] =
        [Opcode::Continuation, Opcode::Text, Opcode::Binary, Opcode::Close, Opcode::Ping, Opcode::Pong];

    /// The opcode of this number, unless the number is reserved.
    pub fn of(number: u8) -> Option<Opcode> {
        Opcode::ALL.into_iter().find(|opcode| *opcode as u8 == number)
    }

    /// Whether the frame is no part of a message.
    pub fn is_control(self) -> bool {
        self as u8 >= Opcode::Close as u8
    }
}

/// A frame's header as sent; [`super::WebSocketReader`] judges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// Whether the frame ends its message.
    pub is_last: bool,
    /// The three reserved bits, of which RSV1 (4) means a compressed message.
    pub reserved: u8,
    /// The opcode's number.
    pub opcode: u8,
    /// The key that the payload is masked with.
    pub mask: Option<[u8; 4]>,
    /// Bytes of payload.
    pub length: u64,
    /// Whether the length is written in more bytes than it needs.
    pub is_overlong: bool,
}

impl FrameHeader {
    /// The header at the beginning of `bytes` and its length, once it is complete.
    pub fn decode(bytes: &[u8]) -> Option<(FrameHeader, usize)> {
        let (&[first, second], rest) = bytes.split_first_chunk::<2>()?;
        let (length, rest, least) = match second & 0x7f {
            TWO_BYTES => {
                let (length, rest) = rest.split_first_chunk::<2>()?;
                (u64::from(u16::from_be_bytes(*length)), rest, MAX_SHORT + 1)
            }
            EIGHT_BYTES => {
                let (length, rest) = rest.split_first_chunk::<8>()?;
                (u64::from_be_bytes(*length), rest, u64::from(u16::MAX) + 1)
            }
            short => (u64::from(short), rest, 0),
        };
        let (mask, rest) = match second & 0x80 {
            0 => (None, rest),
            _ => rest.split_first_chunk::<4>().map(|(mask, rest)| (Some(*mask), rest))?,
        };
        let header = FrameHeader {
            is_last: first & 0x80 != 0,
            reserved: first >> 4 & 7,
            opcode: first & 15,
            mask,
            length,
            is_overlong: length < least,
        };
        Some((header, bytes.len() - rest.len()))
    }

    /// Appends the header in its shortest form.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.is_last) << 7 | (self.reserved & 7) << 4 | self.opcode & 15);
        let masked = u8::from(self.mask.is_some()) << 7;
        match (u8::try_from(self.length), u16::try_from(self.length)) {
            (Ok(short), _) if self.length <= MAX_SHORT => bytes.push(masked | short),
            (_, Ok(length)) => {
                bytes.push(masked | TWO_BYTES);
                bytes.extend(length.to_be_bytes());
            }
            _ => {
                bytes.push(masked | EIGHT_BYTES);
                bytes.extend(self.length.to_be_bytes());
            }
        }
        bytes.extend(self.mask.iter().flatten());
    }
}

/// Masks a payload, or unmasks it, from its byte `at` on (section 5.3).
pub fn mask(payload: &mut [u8], mut key: [u8; 4], at: u64) {
    key.rotate_left((at % 4) as usize);
    for word in payload.chunks_mut(4) {
        word.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_is_read_once_it_is_complete() {
        let header = |opcode: u8, length: u64, mask| FrameHeader {
            is_last: true,
            reserved: 0,
            opcode,
            mask,
            length,
            is_overlong: false,
        };
        for (bytes, expected) in [
            (&b"\x81\x05"[..], header(1, 5, None)),
            (b"\x89\x80abcd", header(9, 0, Some(*b"abcd"))),
            (b"\x82\x7e\x01\x00", header(2, 256, None)),
            (b"\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00", header(2, 65536, None)),
            (b"\x82\x7e\x00\x05", FrameHeader { is_overlong: true, ..header(2, 5, None) }),
            (
                b"\x02\x7f\0\0\0\0\0\0\xff\xff",
                FrameHeader { is_last: false, is_overlong: true, ..header(2, 65535, None) },
            ),
            (b"\xc1\x00", FrameHeader { reserved: 4, ..header(1, 0, None) }),
        ] {
            assert_eq!(FrameHeader::decode(bytes), Some((expected, bytes.len())), "{bytes:?}");
            for length in 0..bytes.len() {
                assert_eq!(FrameHeader::decode(&bytes[..length]), None, "{bytes:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_written_header_is_read_as_it_was(length in prop_oneof![0..300_u64, 65_000..66_000_u64, any::<u64>()],
                                              mask in any::<Option<[u8; 4]>>(), opcode in 0..16_u8, is_last: bool) {
            let header = FrameHeader { is_last, reserved: 5, opcode, mask, length, is_overlong: false };
            let mut bytes = Vec::new();
            header.encode(&mut bytes);
            prop_assert_eq!(FrameHeader::decode(&bytes), Some((header, bytes.len())));
        }

        #[test]
        fn a_payload_is_masked_whatever_the_pieces(payload: Vec<u8>, key: [u8; 4], size in 1..9_usize) {
            let (mut whole, mut pieces, mut at) = (payload.clone(), payload.clone(), 0);
            mask(&mut whole, key, 0);
            for piece in pieces.chunks_mut(size) {
                mask(piece, key, at);
                at += piece.len() as u64;
            }
            prop_assert_eq!(&whole, &pieces);
            mask(&mut whole, key, 0);
            prop_assert_eq!(whole, payload);
        }
    }
}
