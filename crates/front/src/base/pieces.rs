//! Pieces of files in memory. Each thread reuses their buffers, so that memory need not be allocated and zeroed for
//! each piece.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut};
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use rustix::io::{ReadWriteFlags, preadv2};

/// Size of the pieces in which a file is read, in bytes.
pub const PIECE: usize = 64 * 1024;
/// Shorter pieces, in bytes, are allocated individually, which is fast.
const SMALL: usize = 4 * 1024;
/// Sizes of buffers; a piece gets the smallest that fits.
const SIZES: [usize; 4] = [PIECE / 8, PIECE / 4, PIECE / 2, PIECE];
/// Maximum number of spare buffers of each size for one thread.
const SPARE: usize = 16;

type Buffer = Box<[u8]>;

thread_local! {
    static BUFFERS: RefCell<[Vec<Buffer>; SIZES.len()]> = const { RefCell::new([const { Vec::new() }; SIZES.len()]) };
}

/// Index of the smallest size that fits; `None` for small pieces.
fn size_for(length: usize) -> Option<usize> {
    SIZES.iter().position(|size| length <= *size).filter(|_| length >= SMALL)
}

/// The first `length` bytes of a buffer. The buffer becomes a spare one of the thread that drops the piece.
struct Piece {
    buffer: Buffer,
    length: usize,
    /// Index in [`SIZES`].
    size: usize,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        // A thread that is ending has no spare buffers any more.
        let _ = BUFFERS.try_with(|buffers| {
            let mut buffers = buffers.borrow_mut();
            if let Some(spare) = buffers.get_mut(self.size).filter(|spare| spare.len() < SPARE) {
                spare.push(buffer);
            }
        });
    }
}

/// Reads `length` bytes (at most [`PIECE`]) of `file`; may block on the disk.
pub fn read(file: &File, from: u64, length: usize) -> io::Result<Bytes> {
    filled(length, |room| file.read_exact_at(room, from))
}

/// Reads like [`read`], but only from the page cache. [`ErrorKind::WouldBlock`]: some bytes are not there.
pub fn read_from_memory(file: &File, from: u64, length: usize) -> io::Result<Bytes> {
    filled(length, |room| {
        // A short read: some bytes are on disk only, or the file became shorter. `read` distinguishes them.
        match preadv2(file, &mut [IoSliceMut::new(room)], from, ReadWriteFlags::NOWAIT) {
            Ok(read) if read == length => Ok(()),
            _ => Err(ErrorKind::WouldBlock.into()),
        }
    })
}

fn filled(length: usize, fill: impl FnOnce(&mut [u8]) -> io::Result<()>) -> io::Result<Bytes> {
    let Some(size) = size_for(length) else {
        let mut bytes = vec![0; length];
        fill(&mut bytes)?;
        return Ok(bytes.into());
    };
    let spare = BUFFERS.with_borrow_mut(|buffers| buffers.get_mut(size)?.pop());
    let buffer = spare.unwrap_or_else(|| vec![0; SIZES.get(size).copied().unwrap_or(PIECE)].into());
    let mut piece = Piece { buffer, length, size };
    fill(piece.buffer.get_mut(..length).ok_or(ErrorKind::InvalidInput)?)?;
    Ok(Bytes::from_owner(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_reuse_memory_and_little_is_retained() {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(&[7; 2 * PIECE], 0).expect("written");
        let first = read(&file, 0, PIECE).expect("read");
        let place = first.as_ptr();
        assert_ne!(read(&file, 0, PIECE).expect("read").as_ptr(), place, "it is in use");
        drop(first);
        let again = read(&file, PIECE as u64 / 2, PIECE - 1).expect("read");
        assert_eq!((again.as_ptr(), again.len(), again.iter().all(|byte| *byte == 7)), (place, PIECE - 1, true));
        let many: Vec<Bytes> = (0..100).map(|_| read(&file, 0, 10_000).expect("read")).collect();
        drop(many);
        assert_eq!(BUFFERS.with_borrow(|buffers| buffers.each_ref().map(Vec::len)), [0, SPARE, 0, 1]);
    }

    #[test]
    fn a_file_that_has_become_shorter_is_an_error() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(10).expect("ten bytes");
        assert_eq!(read(&file, 0, 11).map_err(|error| error.kind()), Err(ErrorKind::UnexpectedEof));
        assert_eq!(read_from_memory(&file, 0, 11).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    }
}
