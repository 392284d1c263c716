//! Pieces of files in memory. Large ones lie in buffers that each thread keeps for the next, so that a long file does not take
//! memory from the system, and have it zeroed, for each piece.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut};
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use rustix::io::{ReadWriteFlags, preadv2};

/// A file is read in pieces of this size.
pub const PIECE: usize = 64 * 1024;
/// Shorter pieces have memory of their own: in a buffer of a whole one they would waste more than they save.
const LARGE: usize = PIECE / 2;
/// Buffers that a thread keeps for later.
const SPARE: usize = 16;

thread_local! {
    static BUFFERS: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// The first bytes of a buffer, which goes back to the thread that has sent them.
struct Piece {
    buffer: Box<[u8]>,
    length: usize,
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
            if buffers.len() < SPARE {
                buffers.push(buffer);
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
    if length < LARGE {
        let mut bytes = vec![0; length];
        fill(&mut bytes)?;
        return Ok(bytes.into());
    }
    let spare = BUFFERS.with_borrow_mut(Vec::pop);
    let mut piece = Piece { buffer: spare.unwrap_or_else(|| vec![0; PIECE].into()), length };
    fill(piece.buffer.get_mut(..length).ok_or(ErrorKind::InvalidInput)?)?;
    Ok(Bytes::from_owner(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pieces_use_the_same_memory_again() {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(&[7; 2 * PIECE], 0).expect("written");
        let first = read(&file, 0, PIECE).expect("read");
        let place = first.as_ptr();
        assert_ne!(read(&file, 0, PIECE).expect("read").as_ptr(), place, "it is in use");
        drop(first);
        let again = read(&file, PIECE as u64 / 2, PIECE - 1).expect("read");
        assert_eq!((again.as_ptr(), again.len(), again.iter().all(|byte| *byte == 7)), (place, PIECE - 1, true));
        assert!(BUFFERS.with_borrow(Vec::len) <= SPARE);
    }

    #[test]
    fn a_file_that_has_become_shorter_is_an_error() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(10).expect("ten bytes");
        assert_eq!(read(&file, 0, 11).map_err(|error| error.kind()), Err(ErrorKind::UnexpectedEof));
        assert_eq!(read_from_memory(&file, 0, 11).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    }
}
