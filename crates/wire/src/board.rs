//! A text in shared memory: one writer replaces it from time to time, any number of readers read it without
//! waiting.
//! A reader that meets a write in progress reads again.
//!
//! ```text
//!   version (8 bytes, odd while it is written) ── length (8 bytes) ── text
//! ```

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use crate::transport::in_memory;

/// Maximum length of the text in bytes.
pub const MAX_BYTES: usize = 1 << 20;
const HEAD: u64 = 16;
/// Attempts before [`read`] fails: a writer that was killed while writing leaves the version odd forever.
const TRIES: usize = 100;

/// Makes an empty board. Returns a descriptor for the writer and a read-only one for the readers.
pub fn create(name: &str) -> io::Result<(OwnedFd, OwnedFd)> {
    let writer = in_memory(name, &[0; HEAD as usize])?;
    let reader = File::open(format!("/proc/self/fd/{}", writer.as_raw_fd()))?;
    Ok((writer.into(), reader.into()))
}

/// The writing end; a board has one writer at a time.
#[derive(Debug)]
pub struct BoardWriter {
    file: File,
    version: u64,
}

impl BoardWriter {
    /// Takes over a board, which an earlier writer may have left in mid-write.
    pub fn new(file: OwnedFd) -> io::Result<BoardWriter> {
        let file = File::from(file);
        let version = number(&file, 0)?;
        Ok(BoardWriter { file, version: version.wrapping_add(version % 2) })
    }

    /// Replaces the text.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        if text.len() > MAX_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the list of slow requests is longer than its shared memory",
            ));
        }
        self.mark(1)?;
        self.file.write_all_at(&(text.len() as u64).to_le_bytes(), 8)?;
        self.file.write_all_at(text.as_bytes(), HEAD)?;
        self.mark(2)?;
        self.version = self.version.wrapping_add(2);
        Ok(())
    }

    fn mark(&self, step: u64) -> io::Result<()> {
        self.file.write_all_at(&self.version.wrapping_add(step).to_le_bytes(), 0)
    }
}

/// Returns the text; empty before the first [`BoardWriter::write`].
pub fn read(file: &File) -> io::Result<String> {
    for _ in 0..TRIES {
        let version = number(file, 0)?;
        let length = usize::try_from(number(file, 8)?).unwrap_or(usize::MAX);
        if version.is_multiple_of(2) && length <= MAX_BYTES {
            let mut text = vec![0; length];
            file.read_exact_at(&mut text, HEAD)?;
            if number(file, 0)? == version {
                return String::from_utf8(text).map_err(io::Error::other);
            }
        }
        std::thread::yield_now();
    }
    Err(io::Error::new(
        io::ErrorKind::WouldBlock,
        "the list of slow requests is written without a pause, or its writer died while writing",
    ))
}

fn number(file: &File, at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_reader_sees_whole_texts_only() {
        let (writer, reader) = create("board").expect("memory");
        let mut writer = BoardWriter::new(writer).expect("a board");
        let reader = File::from(reader);
        assert_eq!(read(&reader).expect("nothing yet"), "");
        assert!(reader.write_all_at(b"x", 0).is_err(), "who reads cannot write");
        let texts = ["a".repeat(100_000), "b".repeat(50_000)];
        writer.write(&texts[0]).expect("written");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..500).for_each(|turn| writer.write(&texts[turn % 2]).expect("written"));
                is_over.store(true, Ordering::Relaxed);
            });
            while !is_over.load(Ordering::Relaxed) {
                assert!(read(&reader).is_ok_and(|text| texts.contains(&text)) || !is_over.load(Ordering::Relaxed));
            }
        });
        assert_eq!(read(&reader).expect("whole"), texts[1]);
    }

    #[test]
    fn a_new_writer_repairs_a_board_left_in_mid_write() {
        let (writer, reader) = create("board").expect("memory");
        let again = writer.try_clone().expect("a descriptor");
        let first = BoardWriter::new(writer).expect("a board");
        first.mark(1).expect("begun");
        let reader = File::from(reader);
        assert!(read(&reader).is_err());
        let mut next = BoardWriter::new(again).expect("the same board");
        next.write("whole").expect("written");
        assert_eq!(read(&reader).expect("whole"), "whole");
        assert!(next.write(&"x".repeat(MAX_BYTES + 1)).is_err());
    }
}
