//! What a worker has sent and its client has not taken yet. Some stays in memory; when others wait for the worker, the
//! rest goes to a file without a name, so that a slow client does not hold it. Other threads write and read the file:
//!
//! ```text
//!   Memory
//!   Unwritten ──next_batch──▶ Writing ──written──▶ File       back to Memory when the file takes no more
//! ```
//!
//! A client that catches up takes pieces in any of these states.

mod answer_file;
mod late_close;
mod store;
mod totals;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use crate::base::blocking::{self, NoThread};
use crate::base::pieces::PIECE;
use answer_file::AnswerFile;
use base::log;
use config::Spooling;

pub use answer_file::Batch;
pub use late_close::LateClose;
pub use store::Store;
pub use totals::Totals;

/// Bytes in memory above which the worker is no longer read, unless there is a file.
const HIGH_WATER: usize = 256 * 1024;
/// The same for an answer that may use a file: the blocks of the worker's memory must not wait for a slow client.
const SPILLED_HIGH_WATER: usize = 64 * 1024;
/// Bytes that wait for the disk above which the worker is no longer read.
const MOST_UNWRITTEN: usize = 256 * 1024;
/// What a piece takes in memory beside its bytes: many small ones weigh more than they say.
const PIECE_COST: usize = 64;

pub struct Spool {
    store: Rc<Store>,
    pieces: VecDeque<Piece>,
    /// Of the pieces that stay in memory, with what they cost.
    in_memory: usize,
    /// Of the pieces that are to be written or are being written, with what they cost.
    unwritten: usize,
    /// A batch is being written.
    is_writing: bool,
    file: Option<Arc<AnswerFile>>,
    /// Where the file will end when all batches are written.
    end: u64,
    /// The piece that another thread reads.
    reading: Option<Reading>,
    /// Others wait for the worker, or memory is short.
    spills: bool,
    /// The file takes no more: it has reached a limit, or cannot be written.
    file_is_full: bool,
}

enum Piece {
    Memory(Bytes),
    Unwritten(Bytes),
    /// Of the batch that is being written, and its place in the file.
    Writing(Bytes, u64),
    File {
        at: u64,
        length: u64,
    },
}

type Reading = Pin<Box<dyn Future<Output = Result<io::Result<Bytes>, NoThread>>>>;

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
        Spool {
            store,
            pieces: VecDeque::new(),
            in_memory: 0,
            unwritten: 0,
            is_writing: false,
            file: None,
            end: 0,
            reading: None,
            spills: false,
            file_is_full: false,
        }
    }

    /// Stores `bytes` behind the others. Call [`Spool::next_batch`] afterwards.
    pub fn push(&mut self, bytes: Bytes) {
        if !self.spills && self.store.is_short_of_memory() {
            self.spill();
        }
        let cost = bytes.len() + PIECE_COST;
        self.store.add_memory(cost);
        if self.in_memory > self.high_water() && self.reserve(bytes.len() as u64) {
            self.unwritten += cost;
            self.pieces.push_back(Piece::Unwritten(bytes));
        } else {
            self.in_memory += cost;
            self.pieces.push_back(Piece::Memory(bytes));
        }
    }

    /// False: the file does not take so many bytes more.
    fn reserve(&mut self, bytes: u64) -> bool {
        if !self.may_spill() {
            return false;
        }
        let file = self.file.get_or_insert_with(|| Arc::new(self.store.new_file()));
        self.file_is_full = !file.reserve(bytes);
        !self.file_is_full
    }

    /// What another thread is to write, to be followed by [`Spool::written`]. `None`: nothing, or the last batch is under way.
    pub fn next_batch(&mut self) -> Option<Batch> {
        if self.is_writing || self.unwritten == 0 {
            return None;
        }
        let mut batch = Batch::new(self.file.as_ref()?, self.end);
        for piece in &mut self.pieces {
            if let Piece::Unwritten(bytes) = piece {
                batch.add(bytes.clone());
                let (at, bytes) = (self.end, std::mem::take(bytes));
                self.end += bytes.len() as u64;
                *piece = Piece::Writing(bytes, at);
            }
        }
        self.is_writing = true;
        Some(batch)
    }

    /// What came of the last batch. When the file cannot be written, what waits for it stays in memory.
    pub fn written(&mut self, result: io::Result<()>) {
        self.is_writing = false;
        if let (Err(error), true) = (&result, self.file.is_some()) {
            self.file_is_full = true;
            let folder = folder(&self.store.rules);
            log::error("front", format_args!("cannot store an answer in {}: {error}", folder.display()));
        }
        for piece in std::mem::take(&mut self.pieces) {
            match piece {
                Piece::Writing(bytes, at) if result.is_ok() => {
                    self.free_unwritten(bytes.len());
                    self.push_stored(at, bytes.len() as u64);
                }
                Piece::Unwritten(bytes) | Piece::Writing(bytes, _) if result.is_err() => self.keep(bytes),
                Piece::File { at, length } => self.push_stored(at, length),
                piece => self.pieces.push_back(piece),
            }
        }
    }

    fn push_stored(&mut self, at: u64, added: u64) {
        match self.pieces.back_mut() {
            Some(Piece::File { at: before, length }) if *before + *length == at => *length += added,
            _ => self.pieces.push_back(Piece::File { at, length: added }),
        }
    }

    /// A piece that was to be written stays in memory.
    fn keep(&mut self, bytes: Bytes) {
        self.unwritten -= bytes.len() + PIECE_COST;
        self.in_memory += bytes.len() + PIECE_COST;
        self.file.iter().for_each(|file| file.free(bytes.len() as u64));
        self.pieces.push_back(Piece::Memory(bytes));
    }

    /// The oldest bytes, `None` when there are none. An error when the file cannot be read.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        let Some(Piece::File { at, length }) = self.pieces.front() else {
            return Poll::Ready(Ok(self.pieces.pop_front().and_then(|piece| self.taken(piece))));
        };
        let (at, length) = (*at, PIECE.min(usize::try_from(*length).unwrap_or(PIECE)));
        let bytes = ready!(self.poll_read(cx, at, length))?;
        if let Some(Piece::File { at, length }) = self.pieces.front_mut() {
            *at += bytes.len() as u64;
            *length -= bytes.len() as u64;
            if *length == 0 {
                self.pieces.pop_front();
            }
        }
        Poll::Ready(Ok(Some(bytes)))
    }

    /// What the kernel has in memory is read at once; for the rest another thread waits for the disk.
    fn poll_read(&mut self, cx: &mut Context<'_>, at: u64, length: usize) -> Poll<io::Result<Bytes>> {
        let file = self.file.as_ref().ok_or(ErrorKind::NotFound)?;
        if self.reading.is_none()
            && let Ok(bytes) = file.read_from_memory(at, length)
        {
            return Poll::Ready(Ok(bytes));
        }
        let reading = self.reading.get_or_insert_with(|| {
            let file = file.clone();
            Box::pin(blocking::store("read a stored answer", move || file.read(at, length)))
        });
        let read = ready!(reading.as_mut().poll(cx)).unwrap_or_else(|_| Err(ErrorKind::OutOfMemory.into()));
        self.reading = None;
        Poll::Ready(read.inspect_err(|error| {
            let folder = folder(&self.store.rules);
            log::error("front", format_args!("cannot read a stored answer in {}: {error}", folder.display()));
        }))
    }

    /// The bytes of a piece that was taken out.
    fn taken(&mut self, piece: Piece) -> Option<Bytes> {
        match piece {
            Piece::Memory(bytes) => {
                self.in_memory -= bytes.len() + PIECE_COST;
                self.store.free_memory(bytes.len() + PIECE_COST);
                Some(bytes)
            }
            Piece::Unwritten(bytes) => {
                self.free_unwritten(bytes.len());
                self.file.iter().for_each(|file| file.free(bytes.len() as u64));
                Some(bytes)
            }
            Piece::Writing(bytes, _) => {
                self.free_unwritten(bytes.len());
                Some(bytes)
            }
            Piece::File { .. } => None,
        }
    }

    fn free_unwritten(&mut self, bytes: usize) {
        self.unwritten -= bytes + PIECE_COST;
        self.store.free_memory(bytes + PIECE_COST);
    }

    /// From now on the file may be used. Most of what is in memory goes there, and its blocks back to the worker.
    pub fn spill(&mut self) {
        if std::mem::replace(&mut self.spills, true) {
            return;
        }
        for piece in std::mem::take(&mut self.pieces) {
            self.taken(piece).into_iter().for_each(|bytes| self.push(bytes));
        }
    }

    fn may_spill(&self) -> bool {
        self.spills && !self.file_is_full && self.store.rules.most > 0
    }

    fn high_water(&self) -> usize {
        if self.spills { SPILLED_HIGH_WATER } else { HIGH_WATER }
    }

    /// Whether the worker must wait: for the client, or for the disk.
    pub fn is_full(&self) -> bool {
        self.unwritten > MOST_UNWRITTEN || (self.in_memory > self.high_water() && !self.may_spill())
    }

    /// Whether the worker must wait although the file may be used.
    pub fn is_stuck(&self) -> bool {
        self.spills && self.is_full()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What is there when it is in one piece in memory.
    pub fn only(&mut self) -> Option<Bytes> {
        match (self.pieces.len(), self.pieces.front()) {
            (0, _) => Some(Bytes::new()),
            (1, Some(Piece::Memory(_))) => self.pieces.pop_front().and_then(|piece| self.taken(piece)),
            _ => None,
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        let length = |piece: &Piece| match piece {
            Piece::Memory(bytes) | Piece::Unwritten(bytes) | Piece::Writing(bytes, _) => bytes.len() as u64,
            Piece::File { length, .. } => *length,
        };
        self.pieces.iter().map(length).sum()
    }

    /// Forgets everything. A batch that is being written goes on for nobody.
    pub fn clear(&mut self) {
        *self = Spool::new(self.store.clone());
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.store.free_memory(self.in_memory + self.unwritten);
    }
}

#[cfg(test)]
mod tests;
