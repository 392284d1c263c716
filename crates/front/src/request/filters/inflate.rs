//! INFLATE: undoes the content coding gzip, so that other filters can read the text.

use std::io::{self, BufRead, Read};

use bytes::{Buf, Bytes};
use flate2::bufread::MultiGzDecoder;

use crate::request::respond::body::{PIECE, TextTransform, TransformNeed};

/// Undoes gzip. The text may be a thousand times as long, but is made in pieces.
pub struct Inflater {
    decoder: MultiGzDecoder<Fed>,
    need: TransformNeed,
}

/// Compressed bytes that were not read yet.
#[derive(Default)]
struct Fed {
    piece: Bytes,
    has_ended: bool,
    /// Whether any byte arrived. An empty body is no gzip, and no error either.
    has_begun: bool,
}

impl Default for Inflater {
    fn default() -> Inflater {
        Inflater { decoder: MultiGzDecoder::new(Fed::default()), need: TransformNeed::Text }
    }
}

impl TextTransform for Inflater {
    fn name(&self) -> &'static str {
        "deflate"
    }

    fn feed(&mut self, piece: Bytes) {
        let fed = self.decoder.get_mut();
        fed.has_begun |= !piece.is_empty();
        fed.piece = piece;
        self.need = TransformNeed::Turn;
    }

    fn end(&mut self) {
        let fed = self.decoder.get_mut();
        fed.has_ended = true;
        self.need = if fed.has_begun { TransformNeed::Turn } else { TransformNeed::Nothing };
    }

    fn need(&self) -> TransformNeed {
        self.need
    }

    /// A piece takes about 0.2 ms.
    fn is_quick(&self) -> bool {
        true
    }

    fn run(&mut self) -> Result<Vec<u8>, String> {
        let mut text = vec![0; PIECE];
        let length = match self.decoder.read(&mut text) {
            Ok(length) => {
                if length == 0 {
                    self.need = TransformNeed::Nothing;
                }
                length
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.need = TransformNeed::Text;
                0
            }
            Err(error) => {
                return Err(format!(
                    "the response's body is not valid gzip, although its Content-Encoding is gzip: {error}; the response ends here"
                ));
            }
        };
        text.truncate(length);
        Ok(text)
    }
}

impl Read for Fed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(into)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Fed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.piece.is_empty() && !self.has_ended {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(&self.piece),
        }
    }

    fn consume(&mut self, length: usize) {
        self.piece.advance(length.min(self.piece.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    fn unpacked(pieces: &[&[u8]]) -> Result<Vec<u8>, String> {
        let (mut inflater, mut text, mut pieces) = (Inflater::default(), Vec::new(), pieces.iter());
        loop {
            match inflater.need() {
                TransformNeed::Text => match pieces.next() {
                    Some(piece) => inflater.feed(Bytes::copy_from_slice(piece)),
                    None => inflater.end(),
                },
                TransformNeed::Turn => text.extend(inflater.run()?),
                TransformNeed::Nothing => return Ok(text),
            }
        }
    }

    #[test]
    fn gzip_is_undone_however_it_is_cut() {
        let text = "a text, a text, ".repeat(20_000).into_bytes();
        let gzip = packed(&text);
        for size in [1, 7, 100, gzip.len()] {
            assert!(unpacked(&gzip.chunks(size).collect::<Vec<_>>()).as_ref() == Ok(&text), "{size}");
        }
        assert_eq!(unpacked(&[&gzip, &packed(b"more")]).map(|text| text.len()), Ok(text.len() + 4));
        assert_eq!(unpacked(&[]), Ok(vec![]));
    }

    #[test]
    fn broken_gzip_is_an_error() {
        let gzip = packed(&b"a text".repeat(100));
        for broken in [&gzip[..gzip.len() - 1], &gzip[..5], b"no gzip at all", &[&gzip[..], b"more"].concat()] {
            assert!(unpacked(&[broken]).is_err_and(|error| error.contains("not valid gzip")), "{broken:?}");
        }
    }
}
