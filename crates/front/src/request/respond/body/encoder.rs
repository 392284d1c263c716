//! A common interface to the compressors gzip, brotli and zstd.

use std::io::{self, Write};
use std::time::Duration;

use brotli::enc::StandardAlloc;
use brotli::enc::encode::{BrotliEncoderOperation as Operation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use config::response::compress::Coding;

/// The action after the bytes of an [`EncoderStep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncoderAction {
    /// More bytes follow.
    More,
    /// Flush, because the program pauses and its output should reach the client.
    Flush,
    /// The stream ends.
    Finish,
}

/// A unit of work for an [`Encoder`].
#[derive(Debug)]
pub struct EncoderStep {
    pub pieces: Vec<Bytes>,
    pub then: EncoderAction,
}

/// A compressor of one coding, with its state.
pub struct Encoder {
    codec: Codec,
    coding: Coding,
    level: u32,
    /// Bytes given since the last flush. Brotli and zstd may still hold them uncompressed.
    held: usize,
}

enum Codec {
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Brotli(Box<BrotliEncoderStateStruct<StandardAlloc>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, Vec<u8>>>),
}

/// Log2 of the window: 256 kB, as in httpd's mod_brotli. A larger window costs memory for each client and gains
/// nothing for pages.
const BROTLI_WINDOW: u32 = 18;
/// Log2 of the window: 1 MB. RFC 9659 lets clients refuse more than 8 MB.
const ZSTD_WINDOW: u32 = 20;

impl Encoder {
    /// Creates an encoder. `length` is the total number of bytes, if known; zstd then uses smaller tables for short
    /// bodies.
    pub fn new(coding: Coding, level: u32, length: Option<u64>) -> io::Result<Encoder> {
        let codec = match coding {
            Coding::Gzip => Codec::Gzip(Box::new(GzEncoder::new(Vec::new(), Compression::new(level)))),
            Coding::Brotli => {
                let mut state = BrotliEncoderStateStruct::new(StandardAlloc::default());
                state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_QUALITY, level);
                state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, BROTLI_WINDOW);
                Codec::Brotli(Box::new(state))
            }
            Coding::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), level.cast_signed())?;
                match length {
                    Some(length) if length <= 1 << ZSTD_WINDOW => encoder.set_pledged_src_size(Some(length))?,
                    _ => encoder.window_log(ZSTD_WINDOW)?,
                }
                Codec::Zstd(Box::new(encoder))
            }
        };
        Ok(Encoder { codec, coding, level, held: 0 })
    }

    /// Runs a step, and returns the compressed bytes that are ready to send.
    pub fn run(&mut self, step: &EncoderStep) -> io::Result<Vec<u8>> {
        let given: usize = step.pieces.iter().map(Bytes::len).sum();
        self.held = if step.then == EncoderAction::More { self.held + given } else { 0 };
        match &mut self.codec {
            Codec::Gzip(encoder) => {
                write(&mut **encoder, step, GzEncoder::try_finish)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            Codec::Zstd(encoder) => {
                write(&mut **encoder, step, zstd::stream::write::Encoder::do_finish)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            Codec::Brotli(state) => {
                let mut out = Vec::new();
                for piece in &step.pieces {
                    brotli(state, Operation::BROTLI_OPERATION_PROCESS, piece, &mut out)?;
                }
                match step.then {
                    EncoderAction::More => {}
                    EncoderAction::Flush => brotli(state, Operation::BROTLI_OPERATION_FLUSH, &[], &mut out)?,
                    EncoderAction::Finish => brotli(state, Operation::BROTLI_OPERATION_FINISH, &[], &mut out)?,
                }
                Ok(out)
            }
        }
    }

    /// The estimated time to compress `bytes` bytes.
    pub fn cost_of(&self, bytes: u64) -> Duration {
        Duration::from_nanos(bytes * nanos_per_byte(self.coding, self.level))
    }

    /// The estimated time of a step, including bytes still held.
    pub fn cost(&self, step: &EncoderStep) -> Duration {
        let given: usize = step.pieces.iter().map(Bytes::len).sum();
        let held = if step.then == EncoderAction::More { 0 } else { self.held };
        self.cost_of((given + held) as u64)
    }
}

fn write<W: Write>(
    encoder: &mut W,
    step: &EncoderStep,
    finish: impl FnOnce(&mut W) -> io::Result<()>,
) -> io::Result<()> {
    step.pieces.iter().try_for_each(|piece| encoder.write_all(piece))?;
    match step.then {
        EncoderAction::More => Ok(()),
        EncoderAction::Flush => encoder.flush(),
        EncoderAction::Finish => finish(encoder),
    }
}

/// Calls brotli directly, because the crate's writer compresses its remaining bytes when dropped after the client has
/// left.
fn brotli(
    state: &mut BrotliEncoderStateStruct<StandardAlloc>,
    operation: Operation,
    input: &[u8],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let (mut left, mut at) = (input.len(), 0);
    loop {
        let begin = out.len();
        out.resize(begin + ROOM, 0);
        let (mut room, mut written) = (ROOM, 0);
        let fine = state.compress_stream(
            operation,
            &mut left,
            input,
            &mut at,
            &mut room,
            &mut out[begin..],
            &mut written,
            &mut None,
            &mut |_, _, _, _| (),
        );
        out.truncate(begin + written);
        if !fine {
            return Err(io::Error::other("brotli compression has failed"));
        }
        if left == 0 && !state.has_more_output() {
            return Ok(());
        }
    }
}

/// Output space in bytes for each call of brotli.
const ROOM: usize = 16 * 1024;

/// Measured cost in ns per byte for 100 kB of HTML, rounded up, on the machine of docs/operating/compression.md.
/// Other machines may differ by a factor of two, which suffices for choosing the thread.
fn nanos_per_byte(coding: Coding, level: u32) -> u64 {
    const GZIP: [u64; 10] = [3, 3, 4, 5, 6, 7, 9, 13, 16, 16];
    const BROTLI: [u64; 12] = [4, 5, 9, 11, 14, 17, 20, 40, 40, 140, 400, 1200];
    const ZSTD: [u64; 20] = [2, 2, 2, 3, 3, 6, 7, 9, 11, 12, 14, 36, 44, 58, 78, 85, 122, 160, 169, 300];
    let (table, beyond): (&[u64], u64) = match coding {
        Coding::Gzip => (&GZIP, 16),
        Coding::Brotli => (&BROTLI, 1200),
        Coding::Zstd => (&ZSTD, 300),
    };
    table.get(level as usize).copied().unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn unpacked(coding: Coding, packed: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        match coding {
            Coding::Gzip => flate2::read::GzDecoder::new(packed).read_to_end(&mut plain),
            Coding::Brotli => brotli::Decompressor::new(packed, 4096).read_to_end(&mut plain),
            Coding::Zstd => zstd::stream::read::Decoder::new(packed).and_then(|mut it| it.read_to_end(&mut plain)),
        }
        .expect("it is whole");
        plain
    }

    #[test]
    fn every_coding_and_level_gives_back_what_it_was_given() {
        let page: Vec<u8> = (0..40_000_u32).flat_map(|n| format!("<p>{}</p>", n * n % 1009).into_bytes()).collect();
        for (coding, levels) in [(Coding::Gzip, 1..=9), (Coding::Brotli, 0..=11), (Coding::Zstd, 1..=19)] {
            for level in levels {
                let page = if level > 9 { &page[..20_000] } else { &page[..] };
                for length in [None, Some(page.len() as u64)] {
                    let mut encoder = Encoder::new(coding, level, length).expect("an encoder");
                    let (first, second) = page.split_at(page.len() / 3);
                    let mut packed = Vec::new();
                    for (piece, then) in [(first, EncoderAction::More), (second, EncoderAction::Finish)] {
                        let pieces = vec![Bytes::copy_from_slice(piece)];
                        packed.extend(encoder.run(&EncoderStep { pieces, then }).expect("it compresses"));
                    }
                    assert!(unpacked(coding, &packed) == page, "{coding:?} {level}");
                    assert!(packed.len() * 2 < page.len(), "{coding:?} {level}: {} bytes", packed.len());
                }
            }
        }
    }

    #[test]
    fn flushed_bytes_can_be_decoded_before_the_rest_arrives() {
        for coding in Coding::ALL {
            let mut encoder = Encoder::new(coding, 5, None).expect("an encoder");
            let step = EncoderStep { pieces: vec![Bytes::from_static(b"first words")], then: EncoderAction::Flush };
            let packed = encoder.run(&step).expect("it compresses");
            let mut text = [0; 11];
            match coding {
                Coding::Gzip => flate2::read::GzDecoder::new(&packed[..]).read_exact(&mut text),
                Coding::Brotli => brotli::Decompressor::new(&packed[..], 4096).read_exact(&mut text),
                Coding::Zstd => {
                    zstd::stream::read::Decoder::new(&packed[..]).and_then(|mut it| it.read_exact(&mut text))
                }
            }
            .unwrap_or_else(|error| panic!("{coding:?}: {error}"));
            assert_eq!(&text, b"first words", "{coding:?}");
        }
    }
}
