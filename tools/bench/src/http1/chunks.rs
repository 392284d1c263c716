//! Decoder of the chunked coding (RFC 9112, section 7.1), piece by piece.

/// State of the decoder.
#[derive(Debug, Default)]
pub struct Chunks {
    state: State,
    /// Bytes left of the current chunk.
    left: u64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    SizeBegins,
    Size,
    Extension,
    Data,
    AfterData,
    TrailerBegins,
    Trailer,
    Done,
}

/// Largest chunk length to which another digit may be added.
const MAX_BEFORE_DIGIT: u64 = u64::MAX >> 4;

impl Chunks {
    /// Whether the last chunk has been read.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Decodes from the beginning of `bytes`, and passes the next piece of the body to `data`. Returns the
    /// number of bytes consumed, at least one unless the input is empty or the body complete. `None`: invalid
    /// input.
    pub fn take(&mut self, bytes: &[u8], data: &mut dyn FnMut(&[u8])) -> Option<usize> {
        let (first, _) = bytes.split_first()?;
        if self.state == State::Data {
            return Some(self.take_data(bytes, data));
        }
        self.state = self.next(*first)?;
        Some(1)
    }

    fn take_data(&mut self, bytes: &[u8], data: &mut dyn FnMut(&[u8])) -> usize {
        let length = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        data(bytes.get(..length).unwrap_or_default());
        self.left -= length as u64;
        if self.left == 0 {
            self.state = State::AfterData;
        }
        length
    }

    fn next(&mut self, byte: u8) -> Option<State> {
        Some(match (self.state, byte) {
            (State::SizeBegins | State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (State::Size | State::Extension, b'\n') if self.left == 0 => State::TrailerBegins,
            (State::Size | State::Extension, b'\n') => State::Data,
            (State::Size, b';' | b' ' | b'\t' | b'\r') | (State::Extension, _) => State::Extension,
            (State::AfterData, b'\r') => State::AfterData,
            (State::AfterData, b'\n') => State::SizeBegins,
            (State::TrailerBegins, b'\r') => State::TrailerBegins,
            (State::TrailerBegins, b'\n') => State::Done,
            (State::Trailer, b'\n') => State::TrailerBegins,
            (State::TrailerBegins | State::Trailer, _) => State::Trailer,
            _ => return None,
        })
    }

    fn digit(&mut self, byte: u8) -> Option<State> {
        let digit = char::from(byte).to_digit(16)?;
        self.left = (self.left <= MAX_BEFORE_DIGIT).then_some(self.left << 4 | u64::from(digit))?;
        Some(State::Size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Option<(Vec<u8>, bool)> {
        let (mut chunks, mut body) = (Chunks::default(), Vec::new());
        for piece in pieces {
            let mut rest = *piece;
            while !rest.is_empty() && !chunks.is_done() {
                let taken = chunks.take(rest, &mut |data| body.extend_from_slice(data))?;
                rest = &rest[taken..];
            }
        }
        Some((body, chunks.is_done()))
    }

    #[test]
    fn a_chunked_body_is_decoded_alike_in_any_pieces() {
        let coded = b"5\r\nhello\r\n09; name=value\r\n 1234\r\n89\r\n0\r\nTrailer: x\r\n\r\n";
        for cut in 0..coded.len() {
            let (head, tail) = coded.split_at(cut);
            assert_eq!(decode(&[head, tail]), Some((b"hello 1234\r\n89".to_vec(), true)), "{cut}");
            assert_eq!(decode(&[head]).map(|(_, done)| done), Some(false), "{cut}");
        }
    }

    #[test]
    fn invalid_chunks_are_refused() {
        for wrong in ["x", "\r\n", "5\r\nhelloX", "-1\r\n", "11111111111111111\r\n"] {
            assert_eq!(decode(&[wrong.as_bytes()]), None, "{wrong:?}");
        }
    }
}
