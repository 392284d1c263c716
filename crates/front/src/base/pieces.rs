//! Pieces of files in memory. They lie in buffers that each thread keeps for the next ones, so that memory is not taken from the
//! system, and zeroed, for each piece.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut};
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use rustix::io::{ReadWriteFlags, preadv2};

/// A file is read in pieces of this size.
pub const PIECE: usize = 64 * 1024;
/// Shorter pieces have memory of their own: that is given and taken quickly.
const SMALL: usize = 4 * 1024;
/// Sizes of buffers: a piece has the smallest that it fits, so that little is wasted.
const SIZES: [usize; 4] = [PIECE / 8, PIECE / 4, PIECE / 2, PIECE];
/// Buffers of each size that a thread keeps for later.
const SPARE: usize = 16;

type Buffer = Box<[u8]>;

thread_local! {
    static BUFFERS: RefCell<[Vec<Buffer>; SIZES.len()]> = const { RefCell::new([const { Vec::new() }; SIZES.len()]) };
}

/// A buffer of this size, and which one that is.
fn size_for(length: usize) -> Option<usize> {
    SIZES.iter().position(|size| length <= *size).filter(|_| length >= SMALL)
}

/// The first bytes of a buffer, which goes back to the thread that has sent them.
struct Piece {
    buffer: Buffer,
    length: usize,
    /// Which of [`SIZES`] the buffer has.
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
        // A thread that ends has none any more.
        let _ = BUFFERS.try_with(|buffers| {
            let mut buffers = buffers.borrow_mut();
            if let Some(spare) = buffers.get_mut(self.size).filter(|spare| spare.len() < SPARE) {
                spare.push(buffer);
            }
        });
    }
}

/// So many bytes (at most [`PIECE`]) of `file`, on a thread that may wait for the disk.
pub fn read(file: &File, from: u64, length: usize) -> io::Result<Bytes> {
    filled(length, |room| file.read_exact_at(room, from))
}

/// The same if the kernel has all of them in memory; otherwise [`ErrorKind::WouldBlock`].
pub fn read_from_memory(file: &File, from: u64, length: usize) -> io::Result<Bytes> {
    filled(length, |room| {
        // Fewer bytes than there should be: some must be fetched, or the file has become shorter. `read` tells which.
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
    fn pieces_use_the_same_memory_again_and_little_is_kept() {
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
