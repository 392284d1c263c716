//! The chunked transfer coding (RFC 9112, section 7.1), read strictly: lines end with CR LF, sizes are plain
//! hexadecimal, extensions follow their grammar. Lenient parsers disagree on where a chunk ends, which allows request
//! smuggling.

use super::line::{Lines, TooLong};
use super::{HeadLimits, Violation, extension, field};

/// Maximum number of bytes of chunk extensions in one body. Extensions are ignored, so without a limit a client could
/// send them for ever.
const EXTENSIONS: usize = 4096;
/// Maximum number of bytes of trailer fields in one body.
const TRAILERS: usize = 8192;
/// Maximum number of digits of a chunk size: 16 hexadecimal digits are 64 bits. Without a limit, leading zeros could be
/// sent for ever.
const MAX_DIGITS: usize = 16;

/// State of a chunked body.
#[derive(Default)]
pub struct Chunked {
    part: ChunkPart,
    lines: Lines,
    extensions: usize,
    trailers: usize,
    trailer_bytes: usize,
}

#[derive(Default, PartialEq)]
enum ChunkPart {
    #[default]
    Size,
    Data(u64),
    /// The CR LF after a chunk's data.
    End,
    Trailers,
    Over,
}

impl Chunked {
    /// Whether the body's final empty line was read.
    pub fn is_over(&self) -> bool {
        self.part == ChunkPart::Over
    }

    /// Number of correct bytes from the beginning; `None` while a line is incomplete.
    pub fn look(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<Option<usize>, Violation> {
        if let ChunkPart::Data(left) = &mut self.part {
            let passed = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= passed as u64;
            if *left == 0 {
                self.part = ChunkPart::End;
            }
            return Ok(Some(passed));
        }
        let most = match self.part {
            ChunkPart::Size => MAX_DIGITS + EXTENSIONS,
            ChunkPart::Trailers => limits.field.min(TRAILERS),
            _ => 0,
        };
        let line = match self.lines.next(bytes, most) {
            Ok(None) => return Ok(None),
            Ok(Some(line)) => line?,
            Err(TooLong) => return Err(Violation::bad("a chunk size, extension or trailer without an end")),
        };
        let passed = std::mem::take(&mut self.lines).passed();
        self.part = match self.part {
            ChunkPart::Size => self.size(line)?,
            ChunkPart::End => ChunkPart::Size,
            _ if line.is_empty() => ChunkPart::Over,
            _ => self.trailer(line, limits)?,
        };
        Ok(Some(passed))
    }

    fn size(&mut self, line: &[u8]) -> Result<ChunkPart, Violation> {
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (digits, extensions) = line.split_at(digits);
        let size = std::str::from_utf8(digits).ok().filter(|digits| digits.len() <= MAX_DIGITS);
        let size = size.and_then(|digits| u64::from_str_radix(digits, 16).ok()).filter(|size| *size <= i64::MAX as u64);
        let size = size.ok_or(Violation::bad("a chunk size that is not a number"))?;
        self.extensions += extensions.len();
        if !matches!(extensions.first(), None | Some(b';')) {
            return Err(Violation::bad("a chunk size that is not a number"));
        }
        if !extension::are_in_order(extensions) {
            return Err(Violation::bad("an invalid chunk extension"));
        }
        if self.extensions > EXTENSIONS {
            return Err(Violation::bad("too many chunk extensions"));
        }
        Ok(if size == 0 { ChunkPart::Trailers } else { ChunkPart::Data(size) })
    }

    fn trailer(&mut self, line: &[u8], limits: &HeadLimits) -> Result<ChunkPart, Violation> {
        field::split(line)?;
        self.trailers += 1;
        self.trailer_bytes += line.len();
        match self.trailers > limits.fields || self.trailer_bytes > TRAILERS {
            true => Err(Violation::bad("too many trailers")),
            false => Ok(ChunkPart::Trailers),
        }
    }
}
