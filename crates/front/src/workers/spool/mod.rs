//! What a worker has sent and its client has not taken yet. Some stays in memory; when others wait for the worker, the
//! rest goes to a file without a name, so that a slow client does not hold it.

mod store;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::rc::Rc;

use bytes::Bytes;

use base::log;
use config::Spooling;

pub use store::{Store, Totals};

/// Bytes in memory above which the worker is no longer read, unless there is a file. Below half of that it is read again.
const HIGH_WATER: usize = 256 * 1024;
/// The same for an answer that may use a file: the blocks of the worker's memory must not wait for a slow client.
const SPILLED_HIGH_WATER: usize = 64 * 1024;
/// What a piece takes in memory beside its bytes: many small ones weigh more than they say.
const PIECE_COST: usize = 64;
/// What is read of the file at once.
const PIECE: usize = 64 * 1024;

pub struct Spool {
    store: Rc<Store>,
    pieces: VecDeque<Piece>,
    in_memory: usize,
    file: Option<File>,
    /// Where the file ends.
    end: u64,
    /// Others wait for the worker, or memory is short.
    spills: bool,
    /// The file takes no more: it has reached a limit, or cannot be written.
    file_is_full: bool,
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
    /// Nothing, for a response that may use a file as `store` allows.
    pub fn new(store: Rc<Store>) -> Spool {
        Spool { store, pieces: VecDeque::new(), in_memory: 0, file: None, end: 0, spills: false, file_is_full: false }
    }

    /// Stores `bytes` behind the others.
    pub fn push(&mut self, bytes: Bytes) {
        if !self.spills && self.store.is_short_of_memory() {
            self.spill();
        }
        if self.in_memory <= self.high_water() || !self.write(&bytes) {
            self.add_memory(bytes.len() + PIECE_COST);
            self.pieces.push_back(Piece::Memory(bytes));
        }
    }

    /// False: the file does not take it.
    fn write(&mut self, bytes: &[u8]) -> bool {
        if !self.may_spill() {
            return false;
        }
        let added = bytes.len() as u64;
        if self.end.saturating_add(added) > self.store.rules.most || !self.store.reserve_disk(added) {
            self.file_is_full = true;
            return false;
        }
        if let Err(error) = self.append(bytes) {
            self.store.free_disk(added);
            self.file_is_full = true;
            let folder = folder(&self.store.rules);
            log::error("front", format_args!("cannot store an answer in {}: {error}", folder.display()));
            return false;
        }
        let at = self.end;
        self.end += added;
        match self.pieces.back_mut() {
            Some(Piece::File { length, .. }) => *length += added,
            _ => self.pieces.push_back(Piece::File { at, length: added }),
        }
        true
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(file(&self.store.rules)?),
        };
        file.write_all_at(bytes, self.end)
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
        self.free_memory(bytes.len() + PIECE_COST);
        Some(bytes)
    }

    fn add_memory(&mut self, bytes: usize) {
        self.in_memory += bytes;
        self.store.add_memory(bytes);
    }

    fn free_memory(&mut self, bytes: usize) {
        self.in_memory -= bytes;
        self.store.free_memory(bytes);
    }

    /// From now on the file may be used. Most of what is in memory goes there, and its blocks back to the worker.
    pub fn spill(&mut self) {
        if std::mem::replace(&mut self.spills, true) {
            return;
        }
        for piece in std::mem::take(&mut self.pieces) {
            self.in_memory(piece).into_iter().for_each(|bytes| self.push(bytes));
        }
    }

    fn may_spill(&self) -> bool {
        self.spills && !self.file_is_full && self.store.rules.most > 0
    }

    fn high_water(&self) -> usize {
        if self.spills { SPILLED_HIGH_WATER } else { HIGH_WATER }
    }

    /// Whether the worker must wait.
    pub fn is_full(&self) -> bool {
        self.in_memory > self.high_water() && !self.may_spill()
    }

    /// Whether the worker must wait although the file may be used.
    pub fn is_stuck(&self) -> bool {
        self.spills && self.is_full()
    }

    /// Whether a worker that waits may go on.
    pub fn has_room(&self) -> bool {
        self.in_memory < self.high_water() / 2 || !self.is_full()
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
        *self = Spool::new(self.store.clone());
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.store.free_memory(self.in_memory);
        self.store.free_disk(self.end);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn limited(most: u64, total: u64) -> Spool {
        Spool::new(Rc::new(Store::new(Spooling { folder: None, most, total }, Arc::default())))
    }

    fn spool() -> Spool {
        limited(1 << 30, 1 << 30)
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

    #[test]
    fn what_was_in_memory_goes_to_the_file_when_it_may_be_used() {
        let mut spool = spool();
        fill(&mut spool, 240);
        spool.spill();
        assert!(spool.in_memory <= SPILLED_HIGH_WATER + 1000 + PIECE_COST, "{}", spool.in_memory);
        let all = drain(&mut spool);
        assert!(all.into_iter().eq((0..240u32).flat_map(|number| [number as u8; 1000])));
    }

    #[test]
    fn a_file_that_takes_no_more_leaves_the_rest_in_memory_and_the_worker_waits() {
        for (most, total) in [(0, 1 << 30), (100_000, 1 << 30), (1 << 30, 100_000)] {
            let mut spool = limited(most, total);
            spool.spill();
            fill(&mut spool, 300);
            assert!(spool.is_stuck() && spool.end <= 100_000, "{most} {total}: {}", spool.end);
            assert_eq!(drain(&mut spool).len(), 300_000);
            assert!(!spool.is_stuck() && spool.has_room());
        }
    }

    #[test]
    fn what_goes_holds_nothing_any_more() {
        let mut spool = spool();
        let store = spool.store.clone();
        spool.spill();
        fill(&mut spool, 300);
        assert!(!store.reserve_disk(store.rules.total));
        spool.clear();
        assert!(store.reserve_disk(store.rules.total) && spool.in_memory == 0);
        store.free_disk(store.rules.total);
        fill(&mut spool, 300);
        drop(spool);
        assert!(store.reserve_disk(store.rules.total));
    }
}
