//! A text in shared memory that one process writes anew now and then, and others read when they like. They wait for nobody: whoever
//! reads while it is written reads again.
//!
//! ```text
//!   version (8 bytes, odd while it is written) ── length (8 bytes) ── text
//! ```

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use crate::transport::in_memory;

/// No text is longer.
pub const MOST: usize = 1 << 20;
const HEAD: u64 = 16;
/// A writer that has ended in the middle will not end it.
const TRIES: usize = 100;

/// An empty one: for who writes, and for who only reads.
pub fn create(name: &str) -> io::Result<(OwnedFd, OwnedFd)> {
    let writer = in_memory(name, &[0; HEAD as usize])?;
    let reader = File::open(format!("/proc/self/fd/{}", writer.as_raw_fd()))?;
    Ok((writer.into(), reader.into()))
}

/// Who writes; there is one at a time.
#[derive(Debug)]
pub struct Writer {
    file: File,
    version: u64,
}

impl Writer {
    /// On what another may have begun to write.
    pub fn new(file: OwnedFd) -> io::Result<Writer> {
        let file = File::from(file);
        let version = number(&file, 0)?;
        Ok(Writer { file, version: version.wrapping_add(version % 2) })
    }

    /// Writes another text in place of the last one.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        if text.len() > MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "longer than a board"));
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

/// The text; empty when nobody has written one yet.
pub fn read(file: &File) -> io::Result<String> {
    for _ in 0..TRIES {
        let version = number(file, 0)?;
        let length = usize::try_from(number(file, 8)?).unwrap_or(usize::MAX);
        if version.is_multiple_of(2) && length <= MOST {
            let mut text = vec![0; length];
            file.read_exact_at(&mut text, HEAD)?;
            if number(file, 0)? == version {
                return String::from_utf8(text).map_err(io::Error::other);
            }
        }
        std::thread::yield_now();
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, "it is written all the time, or was given up in the middle"))
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
        let mut writer = Writer::new(writer).expect("a board");
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
                // One that is written all the time may not be read.
                assert!(read(&reader).is_ok_and(|text| texts.contains(&text)) || !is_over.load(Ordering::Relaxed));
            }
        });
        assert_eq!(read(&reader).expect("whole"), texts[1]);
    }

    #[test]
    fn what_was_given_up_is_written_by_the_next() {
        let (writer, reader) = create("board").expect("memory");
        let again = writer.try_clone().expect("a descriptor");
        let first = Writer::new(writer).expect("a board");
        first.mark(1).expect("begun");
        let reader = File::from(reader);
        assert!(read(&reader).is_err());
        let mut next = Writer::new(again).expect("the same board");
        next.write("whole").expect("written");
        assert_eq!(read(&reader).expect("whole"), "whole");
        assert!(next.write(&"x".repeat(MOST + 1)).is_err());
    }
}
