//! The spool of a response: bytes that a worker has sent and the client has not read. A part stays in memory. When
//! requests wait for the worker, the rest goes to an unlinked file, so that a slow client does not hold the worker.
//! Other threads write and read the file:
//!
//! ```text
//!   Memory
//!   Unwritten ──next_batch──▶ Writing ──written──▶ File       back to Memory when the file takes no more
//! ```
//!
//! A client that catches up may take pieces in any of these states.

mod late_close;
mod response_file;
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
use base::log;
use config::Spooling;
use response_file::ResponseFile;

pub use late_close::LateClose;
pub use response_file::Batch;
pub use store::SpoolStore;
pub use totals::Totals;

/// Bytes in memory above which the worker is not read, unless a file may be used.
const HIGH_WATER: usize = 256 * 1024;
/// `HIGH_WATER` when a file may be used, in bytes. It is lower, so that a slow client holds few blocks of the worker's
/// memory.
const SPILLED_HIGH_WATER: usize = 64 * 1024;
/// Bytes waiting to be written above which the worker is not read.
const MAX_UNWRITTEN_BYTES: usize = 256 * 1024;
/// Bytes of overhead counted for each piece, so that many small pieces are not underestimated.
const PIECE_COST: usize = 64;

pub struct Spool {
    store: Rc<SpoolStore>,
    pieces: VecDeque<Piece>,
    /// Bytes of pieces that stay in memory, including `PIECE_COST`.
    in_memory: usize,
    /// Bytes of pieces that are to be written or being written, including `PIECE_COST`.
    unwritten: usize,
    /// Whether a batch is being written.
    is_writing: bool,
    file: Option<Arc<ResponseFile>>,
    /// Length of the file when all batches are written.
    end: u64,
    /// A read of the file on another thread.
    reading: Option<Reading>,
    /// The file may be used, because requests wait for the worker or memory is short.
    spills: bool,
    /// The file has reached a limit or cannot be written.
    file_is_full: bool,
}

enum Piece {
    Memory(Bytes),
    Unwritten(Bytes),
    /// Bytes of the batch being written, and their offset in the file.
    Writing(Bytes, u64),
    File {
        at: u64,
        length: u64,
    },
}

type Reading = Pin<Box<dyn Future<Output = Result<io::Result<Bytes>, NoThread>>>>;

/// The folder of spool files: `SpoolDirectory`, or the system's temporary folder.
pub fn folder(rules: &Spooling) -> PathBuf {
    rules.folder.clone().unwrap_or_else(std::env::temp_dir)
}

/// Creates an unlinked spool file.
pub fn file(rules: &Spooling) -> io::Result<File> {
    tempfile::tempfile_in(folder(rules))
}

/// Logs an error if spool files cannot be created, before an upload needs one.
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
    /// Creates an empty spool, which may use a file within the limits of `store`.
    pub fn new(store: Rc<SpoolStore>) -> Spool {
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

    /// Appends `bytes`. Call [`Spool::next_batch`] afterwards.
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

    /// Reserves `bytes` in the file. False: the file may not be used, or has reached a limit.
    fn reserve(&mut self, bytes: u64) -> bool {
        if !self.may_spill() {
            return false;
        }
        let file = self.file.get_or_insert_with(|| Arc::new(self.store.new_file()));
        self.file_is_full = !file.reserve(bytes);
        !self.file_is_full
    }

    /// The next batch for another thread to write, to be followed by [`Spool::written`]. `None` if there is none, or
    /// while a batch is being written.
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

    /// Handles the result of a batch. If the file cannot be written, the unwritten pieces stay in memory.
    pub fn written(&mut self, result: io::Result<()>) {
        self.is_writing = false;
        if let (Err(error), true) = (&result, self.file.is_some()) {
            self.file_is_full = true;
            let folder = folder(&self.store.rules);
            log::error("front", format_args!("cannot store a response in {}: {error}", folder.display()));
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

    /// Moves a piece that was to be written back to memory.
    fn keep(&mut self, bytes: Bytes) {
        self.unwritten -= bytes.len() + PIECE_COST;
        self.in_memory += bytes.len() + PIECE_COST;
        self.file.iter().for_each(|file| file.free(bytes.len() as u64));
        self.pieces.push_back(Piece::Memory(bytes));
    }

    /// The oldest bytes; `None` if the spool is empty. An error if the file cannot be read.
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

    /// Reads bytes in the page cache at once; for others, another thread waits for the disk.
    fn poll_read(&mut self, cx: &mut Context<'_>, at: u64, length: usize) -> Poll<io::Result<Bytes>> {
        let file = self.file.as_ref().ok_or(ErrorKind::NotFound)?;
        if self.reading.is_none()
            && let Ok(bytes) = file.read_from_memory(at, length)
        {
            return Poll::Ready(Ok(bytes));
        }
        let reading = self.reading.get_or_insert_with(|| {
            let file = file.clone();
            Box::pin(blocking::store("read a stored response", move || file.read(at, length)))
        });
        let read = ready!(reading.as_mut().poll(cx)).unwrap_or_else(|_| Err(ErrorKind::OutOfMemory.into()));
        self.reading = None;
        Poll::Ready(read.inspect_err(|error| {
            let folder = folder(&self.store.rules);
            log::error("front", format_args!("cannot read a stored response in {}: {error}", folder.display()));
        }))
    }

    /// Accounts for a removed piece, and returns its bytes.
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

    /// Allows the file. Most bytes in memory are moved there, which returns their blocks to the worker.
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

    /// Whether the worker must wait for the client or for the disk.
    pub fn is_full(&self) -> bool {
        self.unwritten > MAX_UNWRITTEN_BYTES || (self.in_memory > self.high_water() && !self.may_spill())
    }

    /// Whether the worker must wait although the file may be used.
    pub fn is_stuck(&self) -> bool {
        self.spills && self.is_full()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// All bytes, if they are one piece in memory.
    pub fn take_if_single_piece(&mut self) -> Option<Bytes> {
        match (self.pieces.len(), self.pieces.front()) {
            (0, _) => Some(Bytes::new()),
            (1, Some(Piece::Memory(_))) => self.pieces.pop_front().and_then(|piece| self.taken(piece)),
            _ => None,
        }
    }

    pub fn len(&self) -> u64 {
        let length = |piece: &Piece| match piece {
            Piece::Memory(bytes) | Piece::Unwritten(bytes) | Piece::Writing(bytes, _) => bytes.len() as u64,
            Piece::File { length, .. } => *length,
        };
        self.pieces.iter().map(length).sum()
    }

    /// Drops everything. A batch being written is completed without effect.
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
