//! What a worker has sent and its client has not taken yet. Some stays in memory; when others wait for the worker, the
//! rest goes to a file without a name, so that a slow client does not hold it.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::rc::Rc;

use bytes::Bytes;

use crate::config::Spooling;
use crate::log;

/// Bytes in memory above which the worker is no longer read, unless there is a file.
const HIGH_WATER: usize = 256 * 1024;
/// Bytes in memory below which it is read again.
const LOW_WATER: usize = HIGH_WATER / 2;
/// What a piece takes in memory beside its bytes: many small ones weigh more than they say.
const PIECE_COST: usize = 64;
/// What is read of the file at once.
const PIECE: usize = 64 * 1024;

#[derive(Default)]
pub struct Spool {
    rules: Rc<Spooling>,
    pieces: VecDeque<Piece>,
    in_memory: usize,
    file: Option<File>,
    /// Where the file ends.
    end: u64,
    spills: bool,
}

enum Piece {
    Memory(Bytes),
    File { at: u64, length: u64 },
}

/// Where its files are.
pub fn folder(rules: &Spooling) -> PathBuf {
    rules.folder.clone().unwrap_or_else(std::env::temp_dir)
}

/// A new one, which nobody else can find.
pub fn file(rules: &Spooling) -> io::Result<File> {
    tempfile::tempfile_in(folder(rules))
}

/// Says so before an upload comes to it.
pub fn try_out(rules: &Spooling) {
    if let Err(error) = file(rules) {
        let folder = folder(rules);
        let then = "large uploads will be answered 507";
        log::error(
            "front",
            format_args!("cannot make files in {} (SpoolDirectory): {error}: {then}", folder.display()),
        );
    }
}

impl Spool {
    /// Nothing, for a response that may use a file as `rules` say.
    pub fn new(rules: Rc<Spooling>) -> Spool {
        Spool { rules, ..Spool::default() }
    }

    /// Keeps `bytes` behind the others.
    pub fn push(&mut self, bytes: Bytes) {
        if self.in_memory > HIGH_WATER && self.may_spill() {
            match self.write(&bytes) {
                Ok(()) => return,
                Err(error) => {
                    let folder = folder(&self.rules);
                    log::error("front", format_args!("cannot keep a response in {}: {error}", folder.display()));
                    self.spills = false;
                }
            }
        }
        self.in_memory += bytes.len() + PIECE_COST;
        self.pieces.push_back(Piece::Memory(bytes));
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(file(&self.rules)?),
        };
        file.write_all_at(bytes, self.end)?;
        let (at, added) = (self.end, bytes.len() as u64);
        self.end += added;
        match self.pieces.back_mut() {
            Some(Piece::File { length, .. }) => *length += added,
            _ => self.pieces.push_back(Piece::File { at, length: added }),
        }
        Ok(())
    }

    /// The oldest bytes; an error when the file cannot be read.
    pub fn pop(&mut self) -> io::Result<Option<Bytes>> {
        match self.pieces.front_mut() {
            Some(Piece::File { at, length }) if *length > 0 => {
                let mut bytes = vec![0; PIECE.min(usize::try_from(*length).unwrap_or(PIECE))];
                let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                file.read_exact_at(&mut bytes, *at)?;
                *at += bytes.len() as u64;
                *length -= bytes.len() as u64;
                if *length == 0 {
                    self.pieces.pop_front();
                }
                Ok(Some(bytes.into()))
            }
            Some(_) => Ok(self.pieces.pop_front().and_then(|piece| self.in_memory(piece))),
            None => Ok(None),
        }
    }

    fn in_memory(&mut self, piece: Piece) -> Option<Bytes> {
        let Piece::Memory(bytes) = piece else { return None };
        self.in_memory -= bytes.len() + PIECE_COST;
        Some(bytes)
    }

    /// From now on the file may be used.
    pub fn spill(&mut self) {
        self.spills = true;
    }

    fn may_spill(&self) -> bool {
        self.spills && self.end < self.rules.most
    }

    /// Whether the worker must wait.
    pub fn is_full(&self) -> bool {
        self.in_memory > HIGH_WATER && !self.may_spill()
    }

    /// Whether a worker that waits may go on.
    pub fn has_room(&self) -> bool {
        self.in_memory < LOW_WATER || !self.is_full()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What is there when it is in one piece in memory.
    pub fn only(&mut self) -> Option<Bytes> {
        match (self.pieces.len(), self.pieces.front()) {
            (0, _) => Some(Bytes::new()),
            (1, Some(Piece::Memory(_))) => self.pop().ok().flatten(),
            _ => None,
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        let length = |piece: &Piece| match piece {
            Piece::Memory(bytes) => bytes.len() as u64,
            Piece::File { length, .. } => *length,
        };
        self.pieces.iter().map(length).sum()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Spool::new(std::mem::take(&mut self.rules));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool() -> Spool {
        Spool::new(Rc::new(Spooling { folder: None, most: 1 << 30 }))
    }

    fn fill(spool: &mut Spool, count: u32) {
        (0..count).for_each(|number| spool.push(vec![number as u8; 1000].into()));
    }

    fn drain(spool: &mut Spool) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(bytes) = spool.pop().unwrap() {
            all.extend_from_slice(&bytes);
        }
        all
    }

    #[test]
    fn small_pieces_weigh_more_than_their_bytes() {
        let mut dust = spool();
        while !dust.is_full() {
            dust.push(Bytes::from_static(b"x"));
        }
        assert!(dust.pieces.len() <= HIGH_WATER / PIECE_COST, "{}", dust.pieces.len());
        drain(&mut dust);
        assert_eq!(dust.in_memory, 0);
    }

    #[test]
    fn a_full_spool_has_room_again_when_it_may_use_a_file() {
        let mut spool = spool();
        fill(&mut spool, 300);
        assert!(spool.is_full() && !spool.has_room());
        spool.spill();
        assert!(!spool.is_full() && spool.has_room());
    }

    #[test]
    fn bytes_come_out_in_order_whether_they_were_in_memory_or_in_the_file() {
        let mut spool = spool();
        spool.spill();
        fill(&mut spool, 400);
        let mut all = spool.pop().unwrap().unwrap().to_vec();
        fill(&mut spool, 3);
        assert!(spool.file.is_some());
        assert_eq!(spool.len(), 402_000);
        all.extend(drain(&mut spool));
        let numbers = (0..400u32).chain(0..3).map(|number| number as u8);
        assert!(all.iter().copied().eq(numbers.flat_map(|number| [number; 1000])));
        assert!(spool.is_empty());
    }
}
