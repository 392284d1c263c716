//! Decodes chunks that a PSGI application has framed itself (Plack::Middleware::Chunked); the front frames the
//! body anew.

/// Longest size line of a chunk, in bytes.
const MAX_LINE_BYTES: usize = 1024;

/// A decoder of a chunked body (RFC 9112, 7.1), piece by piece. A body that is not chunked passes unchanged.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Unchunk {
    state: State,
    /// Bytes of the incomplete line.
    line: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Expects a size; the first one decides whether the body is chunked.
    #[default]
    First,
    Size,
    /// The next bytes of the chunk's data, of this number.
    Data(u64),
    /// Expects the line end behind a chunk.
    End,
    /// The last chunk has passed; trailers are dropped.
    Over,
    /// The body is not chunked.
    Plain,
}

impl Unchunk {
    /// Returns the content in a piece.
    pub fn content(&mut self, mut piece: &[u8]) -> Vec<u8> {
        let mut content = Vec::with_capacity(piece.len());
        while !piece.is_empty() {
            piece = match self.state {
                State::Over => return content,
                State::Plain => {
                    content.extend_from_slice(piece);
                    return content;
                }
                State::Data(left) => {
                    let length = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
                    let (data, rest) = piece.split_at(length);
                    content.extend_from_slice(data);
                    self.state = match left - length as u64 {
                        0 => State::End,
                        left => State::Data(left),
                    };
                    rest
                }
                State::First | State::Size | State::End => self.line(piece, &mut content),
            };
        }
        content
    }

    /// Returns the incomplete line at the end of the body if it is content: the body is not chunked.
    pub fn rest(&mut self) -> Vec<u8> {
        let line = std::mem::take(&mut self.line);
        if self.state == State::First { line } else { Vec::new() }
    }

    /// Continues a line; returns the bytes that follow it.
    fn line<'a>(&mut self, piece: &'a [u8], content: &mut Vec<u8>) -> &'a [u8] {
        let end = piece.iter().position(|byte| *byte == b'\n').map_or(piece.len(), |at| at + 1);
        let (line, rest) = piece.split_at(end);
        self.line.extend_from_slice(line);
        if !self.line.ends_with(b"\n") && self.line.len() <= MAX_LINE_BYTES && self.may_be_a_line() {
            return rest;
        }
        let line = std::mem::take(&mut self.line);
        self.state = match (self.state, size(&line)) {
            (State::End, _) if line.trim_ascii().is_empty() => State::Size,
            (State::First | State::Size, Some(0)) => State::Over,
            (State::First | State::Size, Some(size)) => State::Data(size),
            _ => {
                content.extend_from_slice(&line);
                State::Plain
            }
        };
        rest
    }

    /// Whether the incomplete line may still become a valid one. If not, it is content, which must not wait.
    fn may_be_a_line(&self) -> bool {
        match self.state {
            State::End => self.line == b"\r",
            _ => self.line.first().is_some_and(u8::is_ascii_hexdigit),
        }
    }
}

/// `1a;name=value`
fn size(line: &[u8]) -> Option<u64> {
    let line = line.strip_suffix(b"\n")?;
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a body in one piece, and byte by byte.
    fn check(body: &str, expected: &str) {
        let mut whole = Unchunk::default();
        let content = [whole.content(body.as_bytes()), whole.rest()].concat();
        assert_eq!(content, expected.as_bytes(), "{body:?}");
        let mut slow = Unchunk::default();
        let mut content: Vec<u8> = body.bytes().flat_map(|byte| slow.content(&[byte])).collect();
        content.extend(slow.rest());
        assert_eq!(content, expected.as_bytes(), "{body:?}, byte by byte");
    }

    #[test]
    fn chunks_are_taken_apart_and_other_bodies_pass() {
        check("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", "abc0123456789");
        check("3;x=y\r\nabc\r\n0\r\nTrailer: x\r\n\r\nmore", "abc");
        check("03\nabc\n0\n\n", "abc");
        check("<html>3\r\n", "<html>3\r\n");
        check("a page that begins with a digit\n", "a page that begins with a digit\n");
        check("3\r\nabcd\r\n", "abcd\r\n");
        check("ffffffffffffffffff\r\nx", "ffffffffffffffffff\r\nx");
        check("abc0123456789", "abc0123456789");
        check("", "");
    }
}
