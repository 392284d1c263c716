//! `multipart/form-data` (RFC 7578), parsed in pieces: [`Multipart::feed`] a piece, take [`MultipartEvent`]s until
//! there are none, repeat. The parser buffers at most a piece, a delimiter and a part's header.
//!
//! ```text
//!   Preamble ──delimiter──▶ Line ──CRLF──▶ Header ──blank line──▶ Body ──delimiter──▶ Line
//!                            └──── `--` ──▶ Epilogue
//! ```

use memchr::memmem::Finder;

use crate::MAX_FIELDS;

/// Maximum length of a part's header, in bytes.
pub const MAX_HEADER: usize = 16 * 1024;
/// Maximum length of a boundary, in bytes; RFC 2046 allows 70.
const MAX_BOUNDARY: usize = 200;
/// Maximum white space between a delimiter and its line end, in bytes.
const MAX_PADDING: usize = 100;

/// The next event of the parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultipartEvent<'a> {
    /// A part begins.
    Part(PartHeader),
    /// A piece of the part's data.
    Data(&'a [u8]),
    /// The part is complete.
    PartEnd,
    /// The last part is complete; the rest of the body is ignored.
    End,
    /// The body is not multipart/form-data; no further events follow.
    Bad(&'static str),
}

/// The parsed header of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartHeader {
    /// The field's name.
    pub name: Vec<u8>,
    /// The file's name; `None` for a plain field.
    pub filename: Option<Vec<u8>>,
    /// In the order received.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    Preamble,
    Line,
    Header,
    Body,
    Epilogue,
    Failed,
}

/// A parser of a body that arrives in pieces.
#[derive(Debug)]
pub struct Multipart {
    delimiter: Finder<'static>,
    buffer: Vec<u8>,
    /// Bytes of `buffer` before this offset were returned already.
    start: usize,
    state: ParserState,
    parts: usize,
}

impl Multipart {
    /// Makes a parser for a `Content-Type: multipart/form-data; boundary=…`. `None`: the header has no usable
    /// boundary.
    pub fn new(content_type: &[u8]) -> Option<Multipart> {
        let boundary = parameter(content_type, b"boundary")?;
        if boundary.is_empty() || boundary.len() > MAX_BOUNDARY {
            return None;
        }
        let delimiter = [b"\r\n--", &boundary[..]].concat();
        // The first delimiter needs no line end before it: this is that line end.
        let buffer = b"\r\n".to_vec();
        Some(Multipart {
            delimiter: Finder::new(&delimiter).into_owned(),
            buffer,
            start: 0,
            state: ParserState::Preamble,
            parts: 0,
        })
    }

    /// Adds the next piece of the body.
    pub fn feed(&mut self, piece: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        if !matches!(self.state, ParserState::Epilogue | ParserState::Failed) {
            self.buffer.extend_from_slice(piece);
        }
    }

    /// Whether the body, which has ended, is complete.
    pub fn is_whole(&self) -> bool {
        self.state == ParserState::Epilogue
    }

    /// The next event. `None`: feed the next piece.
    pub fn event(&mut self) -> Option<MultipartEvent<'_>> {
        loop {
            match self.state {
                ParserState::Preamble => self.skip_preamble()?,
                ParserState::Line => {
                    if let Some(event) = self.end_of_delimiter()? {
                        return Some(event);
                    }
                }
                ParserState::Header => return self.header(),
                ParserState::Body => return self.data(),
                ParserState::Epilogue | ParserState::Failed => return None,
            }
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    fn fail(&mut self, reason: &'static str) -> MultipartEvent<'static> {
        self.state = ParserState::Failed;
        self.start = self.buffer.len();
        MultipartEvent::Bad(reason)
    }

    fn skip_preamble(&mut self) -> Option<()> {
        let length = self.delimiter.needle().len();
        match self.delimiter.find(self.rest()) {
            Some(at) => {
                self.start += at + length;
                self.state = ParserState::Line;
                Some(())
            }
            None => {
                self.start = self.start.max((self.buffer.len() + 1).saturating_sub(length));
                None
            }
        }
    }

    /// Parses the text behind a delimiter: `--` after the last part, or the end of the line before a header.
    fn end_of_delimiter(&mut self) -> Option<Option<MultipartEvent<'static>>> {
        let rest = self.rest();
        if rest.starts_with(b"--") {
            self.state = ParserState::Epilogue;
            return Some(Some(MultipartEvent::End));
        }
        let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match &rest[padding..] {
            _ if padding > MAX_PADDING => Some(Some(self.fail("a boundary's line has other text"))),
            [b'\r', b'\n', ..] => {
                // A header may be empty: the delimiter's line end then also ends the header.
                self.start += padding;
                self.state = ParserState::Header;
                Some(None)
            }
            [] | [b'\r'] | [b'-'] => None,
            _ => Some(Some(self.fail("a boundary's line has other text"))),
        }
    }

    fn header(&mut self) -> Option<MultipartEvent<'static>> {
        let rest = self.rest();
        let found = memchr::memmem::find(rest, b"\r\n\r\n");
        // The end of the buffer may be the beginning of the blank line.
        if found.unwrap_or(rest.len().saturating_sub(3)) > MAX_HEADER {
            return Some(self.fail("a part's header is longer than 16 KiB"));
        }
        let length = found?;
        let part = PartHeader::of(&rest[..length]);
        self.parts += 1;
        if self.parts > MAX_FIELDS {
            return Some(self.fail("there are more than 10000 parts"));
        }
        let Some(part) = part else { return Some(self.fail("a part has no name")) };
        self.start += length + 4;
        self.state = ParserState::Body;
        Some(MultipartEvent::Part(part))
    }

    fn data(&mut self) -> Option<MultipartEvent<'_>> {
        let length = self.delimiter.needle().len();
        let from = self.start;
        match self.delimiter.find(self.rest()) {
            Some(0) => {
                self.start += length;
                self.state = ParserState::Line;
                Some(MultipartEvent::PartEnd)
            }
            Some(at) => {
                self.start += at;
                Some(MultipartEvent::Data(&self.buffer[from..from + at]))
            }
            None => {
                // The end of the buffer may be the beginning of a delimiter.
                let until = (self.buffer.len() + 1).saturating_sub(length);
                if until <= from {
                    return None;
                }
                self.start = until;
                Some(MultipartEvent::Data(&self.buffer[from..until]))
            }
        }
    }
}

impl PartHeader {
    /// Parses a part's header. `None`: there is no `Content-Disposition` that names the field.
    fn of(header: &[u8]) -> Option<PartHeader> {
        let mut headers = Vec::new();
        for line in header.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
            if let Some(colon) = memchr::memchr(b':', line) {
                headers.push((line[..colon].trim_ascii().to_vec(), line[colon + 1..].trim_ascii().to_vec()));
            } else if let (Some((_, value)), [b' ' | b'\t', ..]) = (headers.last_mut(), line) {
                value.extend_from_slice(line);
            }
        }
        let disposition = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(b"content-disposition"));
        let disposition = disposition.map(|(_, value)| value.clone())?;
        let name = parameter(&disposition, b"name")?;
        Some(PartHeader { name, filename: parameter(&disposition, b"filename"), headers })
    }
}

/// The value of `; name=value` or `; name="value"`. Browsers escape a quote as `%22` or `\"`, but send the
/// backslashes of a Windows path unescaped: a backslash escapes only a quote.
fn parameter(header: &[u8], wanted: &[u8]) -> Option<Vec<u8>> {
    let mut rest = header;
    while let Some(semicolon) = memchr::memchr2(b';', b',', rest) {
        rest = rest[semicolon + 1..].trim_ascii_start();
        let end = rest.iter().position(|byte| matches!(byte, b'=' | b';'))?;
        let (name, after) = rest.split_at(end);
        let Some(value) = after.strip_prefix(b"=") else { continue };
        let (value, after) = value_at(value.trim_ascii_start());
        if name.trim_ascii().eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
    None
}

/// The value at the start of `text`, and the text behind it.
fn value_at(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let Some(mut rest) = text.strip_prefix(b"\"") else {
        let end = memchr::memchr2(b';', b',', text).unwrap_or(text.len());
        return (text[..end].trim_ascii_end().to_vec(), &text[end..]);
    };
    let mut value = Vec::new();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'"', _) => break,
            (b'\\', [b'"', behind @ ..]) => {
                value.push(b'"');
                rest = behind;
            }
            _ => value.push(*first),
        }
    }
    (value, rest)
}

#[cfg(test)]
mod tests;
