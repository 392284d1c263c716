//! The file of one answer, which other threads write and read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;

use super::totals::Totals;
use crate::base::{blocking, pieces};
use config::Spooling;

/// Made by its first write. `SpoolTotalLimit` counts it until it is closed.
pub struct AnswerFile {
    rules: Spooling,
    totals: Arc<Totals>,
    file: OnceLock<File>,
    /// Bytes that are counted.
    reserved: AtomicU64,
}

impl AnswerFile {
    /// No file yet.
    pub fn new(rules: &Spooling, totals: &Arc<Totals>) -> AnswerFile {
        AnswerFile { rules: rules.clone(), totals: totals.clone(), file: OnceLock::new(), reserved: AtomicU64::new(0) }
    }

    /// Counts `bytes` more, unless that exceeds `SpoolLimit` or `SpoolTotalLimit`.
    pub fn reserve(&self, bytes: u64) -> bool {
        let may = self.reserved.load(Relaxed).saturating_add(bytes) <= self.rules.most
            && self.totals.reserve_disk(bytes, self.rules.total);
        if may {
            self.reserved.fetch_add(bytes, Relaxed);
        }
        may
    }

    /// `bytes` that were counted will not be written.
    pub fn free(&self, bytes: u64) {
        self.reserved.fetch_sub(bytes, Relaxed);
        self.totals.free_disk(bytes);
    }

    /// The bytes from `at` on; `WouldBlock`: the kernel would have to fetch them.
    pub fn read_from_memory(&self, at: u64, length: usize) -> io::Result<Bytes> {
        pieces::read_from_memory(self.opened()?, at, length)
    }

    /// The same on a thread that may wait for the disk.
    pub fn read(&self, at: u64, length: usize) -> io::Result<Bytes> {
        pieces::read(self.opened()?, at, length)
    }

    fn opened(&self) -> io::Result<&File> {
        self.file.get().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if self.file.get().is_none() {
            // Only one batch of an answer is written at a time.
            let _ = self.file.set(super::file(&self.rules)?);
        }
        self.opened()?.write_all_at(bytes, at)
    }
}

impl Drop for AnswerFile {
    fn drop(&mut self) {
        let (totals, reserved) = (self.totals.clone(), *self.reserved.get_mut());
        match self.file.take() {
            None => totals.free_disk(reserved),
            Some(file) => blocking::drop_aside(Closing { file: Some(file), totals, reserved }),
        }
    }
}

/// Room is there again when the file has been closed.
struct Closing {
    file: Option<File>,
    totals: Arc<Totals>,
    reserved: u64,
}

impl Drop for Closing {
    fn drop(&mut self) {
        drop(self.file.take());
        self.totals.free_disk(self.reserved);
    }
}

/// Pieces of an answer that are written together.
pub struct Batch {
    /// Gone when nobody wants the answer any more.
    file: Weak<AnswerFile>,
    at: u64,
    pieces: Vec<Bytes>,
}

impl Batch {
    /// Nothing, to be written from `at` on.
    pub fn new(file: &Arc<AnswerFile>, at: u64) -> Batch {
        Batch { file: Arc::downgrade(file), at, pieces: Vec::new() }
    }

    /// Adds `bytes` behind the others.
    pub fn add(&mut self, bytes: Bytes) {
        self.pieces.push(bytes);
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }

    /// Writes all of it, on a thread that may wait for the disk.
    pub fn write(self) -> io::Result<()> {
        match self.file.upgrade() {
            Some(file) => file.write(&self.pieces.concat(), self.at),
            None => Ok(()),
        }
    }
}
